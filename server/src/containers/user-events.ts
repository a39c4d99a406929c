import { EventReplayBuffer, type UserEvent, type SentEvent } from './event-replay-buffer.ts'

export type { UserEvent, SentEvent } from './event-replay-buffer.ts'

/** Receiver of one user's events; must not throw. */
export interface UserEventListener {
  /** In order. More than one event at once only at the beginning. */
  onEvents(events: readonly SentEvent[]): void
  /** No further events: signed out, blocked, or Berth stops. */
  onEnd(): void
}

/** Observer of all users, e.g. for the managers of a group. Its methods must not throw. */
export interface UserEventObserver {
  onEvent(userId: number, event: UserEvent): void
  /** The user has opened the first page, or closed the last one. */
  onPresence(userId: number): void
}

/**
 * Event broadcaster (publish/subscribe): delivers the events of a user's containers to the open pages of that user.
 * Recent events are kept, so that a page that reconnects receives what it missed.
 */
export class UserEvents {
  readonly #replayBuffer = new EventReplayBuffer()
  readonly #listeners = new Map<number, Set<UserEventListener>>()
  readonly #observers = new Set<UserEventObserver>()

  publish(userId: number, event: UserEvent): void {
    const listeners = this.#listeners.get(userId)
    const sent = this.#replayBuffer.add(userId, event, this.hasListener(userId))
    for (const listener of listeners ?? []) listener.onEvents([sent])
    for (const observer of this.#observers) observer.onEvent(userId, event)
  }

  /** @returns ends it */
  observe(observer: UserEventObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  /** Whether the user has a page open. */
  hasListener(userId: number): boolean {
    return this.#listeners.has(userId)
  }

  addListener(userId: number, listener: UserEventListener): void {
    const isFirst = !this.hasListener(userId)
    this.#listeners.set(userId, (this.#listeners.get(userId) ?? new Set()).add(listener))
    if (isFirst) this.#notePresence(userId)
  }

  removeListener(userId: number, listener: UserEventListener): void {
    const listeners = this.#listeners.get(userId)
    listeners?.delete(listener)
    if (listeners?.size !== 0) return
    this.#listeners.delete(userId)
    this.#notePresence(userId)
  }

  /** Events after the one with this id, in order; undefined when the id is unknown, or a later event is no longer kept. */
  since(userId: number, id: string): SentEvent[] | undefined {
    return this.#replayBuffer.since(userId, id)
  }

  /** Id of the latest event of the user; later events are kept from now on. */
  position(userId: number): string {
    return this.#replayBuffer.position(userId)
  }

  #notePresence(userId: number): void {
    for (const observer of this.#observers) observer.onPresence(userId)
  }
}
