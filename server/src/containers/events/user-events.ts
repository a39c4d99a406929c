import type { OpenStreams, StreamOwner } from './open-streams.ts'
import { EventReplayBuffer, type UserEvent, type SentEvent } from './event-replay-buffer.ts'

export type { UserEvent, SentEvent } from './event-replay-buffer.ts'

/** Whoever listens; must not throw. */
export interface UserEventListener {
  /** In order. More than one at once only at the beginning. */
  onEvents(events: readonly SentEvent[]): void
  /** Nothing more will come: signed out, blocked, or Berth stops. */
  onEnd(): void
}

/**
 * Brings what happens to somebody's containers to their open pages. One that comes back is told what it missed, as long
 * as that is remembered; otherwise, as one that is new, how things are now. No page ever has to guess.
 */
export class UserEvents {
  readonly #streams: OpenStreams
  readonly #snapshotOf: (userId: number) => readonly UserEvent[]
  readonly #onListener: (userId: number) => void
  readonly #replayBuffer = new EventReplayBuffer()
  readonly #listeners = new Map<number, Set<UserEventListener>>()

  /**
   * @param snapshotOf how things are with somebody, in events that say so. Asked and sent in one step, so that nothing can
   * happen in between; must not throw
   * @param onListener somebody listens from now on, whether anew or again; must not throw
   */
  constructor(
    streams: OpenStreams,
    snapshotOf: (userId: number) => readonly UserEvent[],
    onListener: (userId: number) => void,
  ) {
    this.#streams = streams
    this.#snapshotOf = snapshotOf
    this.#onListener = onListener
  }

  /**
   * Tells the listener what is missed, and from then on all that comes.
   * @param lastId of the event that was heard last
   * @returns what ends it
   * @throws {Refusal} 429, 503 as `OpenStreams.open`; then nothing was told
   */
  subscribe(owner: StreamOwner, listener: UserEventListener, lastId?: string): () => void {
    const { userId } = owner
    const close = this.#streams.open('events', owner, () => {
      this.#remove(userId, listener)
      listener.onEnd()
    })
    const missed = lastId === undefined ? undefined : this.#replayBuffer.since(userId, lastId)
    listener.onEvents(missed ?? this.#snapshot(userId))
    this.#listeners.set(userId, (this.#listeners.get(userId) ?? new Set()).add(listener))
    this.#onListener(userId)
    return () => {
      close()
      this.#remove(userId, listener)
    }
  }

  /** Whether somebody has a page open. */
  hasListener(userId: number): boolean {
    return this.#listeners.has(userId)
  }

  publish(userId: number, event: UserEvent): void {
    const listeners = this.#listeners.get(userId)
    const sent = this.#replayBuffer.add(userId, event, this.hasListener(userId))
    for (const listener of listeners ?? []) listener.onEvents([sent])
  }

  /** Only its end has an id: who loses the connection in the middle is told all of it again. */
  #snapshot(userId: number): SentEvent[] {
    const events = [{ name: 'snapshot', data: {} }, ...this.#snapshotOf(userId)]
    const id = this.#replayBuffer.position(userId)
    return events.map((event, at) => (at === events.length - 1 ? { ...event, id } : event))
  }

  #remove(userId: number, listener: UserEventListener): void {
    const listeners = this.#listeners.get(userId)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(userId)
  }
}
