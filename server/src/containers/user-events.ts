import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteStatus } from '#/containers/routes/route-changes.ts'
import { EventReplayBuffer, type SentEvent, type UserEvent } from './event-replay-buffer.ts'
import type { OpenStreams, StreamOwner } from './open-streams.ts'

export interface UserEventSubscriptionsParts {
  readonly events: UserEvents
  readonly streams: OpenStreams
  /** The present state of the user's containers as events. Computed and sent in one step; must not throw. */
  readonly snapshotOf: (userId: number) => readonly UserEvent[]
  /** A page of the user listens from now on, for the first time or again; must not throw. */
  readonly onListener: (userId: number) => void
}

/**
 * Subscriptions of pages to `UserEvents`. A page that reconnects receives the events that it missed, while they are
 * kept; otherwise, like a new page, a snapshot of the present state.
 */
export class UserEventSubscriptions {
  readonly #parts: UserEventSubscriptionsParts

  constructor(parts: UserEventSubscriptionsParts) {
    this.#parts = parts
  }

  /**
   * Sends the listener the missed events or a snapshot, and then each event as it is published.
   * @param lastId of the last event that the page received
   * @returns ends the subscription
   * @throws {Refusal} 429, 503 as `OpenStreams.open`; then nothing was sent
   */
  subscribe(owner: StreamOwner, listener: UserEventListener, lastId?: string): () => void {
    const { userId } = owner
    const { events, streams, onListener } = this.#parts
    const close = streams.open('events', owner, () => {
      events.removeListener(userId, listener)
      listener.onEnd()
    })
    const missed = lastId === undefined ? undefined : events.since(userId, lastId)
    listener.onEvents(missed ?? this.#snapshot(userId))
    events.addListener(userId, listener)
    onListener(userId)
    return () => {
      close()
      events.removeListener(userId, listener)
    }
  }

  /** Only the last event has an id: a page that loses the connection before it receives the whole snapshot again. */
  #snapshot(userId: number): SentEvent[] {
    const events = [{ name: 'snapshot', data: {} }, ...this.#parts.snapshotOf(userId)]
    const id = this.#parts.events.position(userId)
    return events.map((event, at) => (at === events.length - 1 ? { ...event, id } : event))
  }
}

export type { UserEvent, SentEvent } from './event-replay-buffer.ts'

/** Receiver of one user's events; must not throw. */
interface UserEventListener {
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

/** The event of a container's status for its owner, with the cause when its program has ended or never ran. */
export function containerEvent(type: string, status: RouteStatus, known?: ContainerState): UserEvent {
  const why = known && whyOf(status, known)
  return { name: 'container', data: why === undefined ? { type, status } : { type, status, message: why } }
}

/** From the last inspect, not from the launch: it is known after a restart of Berth, too. */
function whyOf(status: RouteStatus, { seen, failure }: ContainerState): LocalizedMessage | undefined {
  if (status === 'evicted') return message('launches.evicted')
  if (status === 'node-lost') return message('launches.nodeLost')
  if (status === 'no-image') return message('launches.noImage')
  if (status === 'failed') return message('launches.failed')
  if (status === 'out-of-memory') return message('launches.outOfMemory')
  if (status !== 'crashed') return undefined
  const exitCode = (seen && seen !== 'gone' ? seen.exitCode : null) ?? failure?.exitCode ?? null
  if (exitCode === null) return message('launches.ended')
  const isCommandMissing = exitCode === 126 || exitCode === 127
  return message(isCommandMissing ? 'launches.commandMissing' : 'launches.endedWith', { exitCode })
}
