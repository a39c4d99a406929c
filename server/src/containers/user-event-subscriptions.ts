import type { OpenStreams, StreamOwner } from './open-streams.ts'
import type { SentEvent, UserEvent, UserEventListener, UserEvents } from './user-events.ts'

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
