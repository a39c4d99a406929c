import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { followEvents, type OpenStream } from '#/events/event-connection.ts'
import type { Bookmark, ServerEvent } from '#/events/event-stream.ts'
import { isOver, without } from '#/launch/launch-state.ts'
import { initialEventState, reduceEvents, withoutContainerType, type EventState } from '#/events/event-reducer.ts'

/** How long an app is waited for before nobody speaks of it any more, in ms: some never listen. */
const appTimeout = 60_000
/** How long what was told last is believed after the stream broke off, in ms. */
const staleAfter = 5_000
/** What is known from the stream of events. */
export interface EventStoreState {
  readonly events: EventState
  /** Whether it is there now; without it everything works by asking. */
  readonly isLive: boolean
  /** Whether it was refused: to who is blocked, for example, and it cannot say that any more. */
  readonly isRefused: boolean
  /** Whether that is because the account is blocked. The list of containers says it of those with a record alone. */
  readonly isAccountBlocked: boolean
  /** How far the server's clock is ahead of this one, in ms, to about a second. */
  readonly clockAhead: number
}

export interface EventStoreParts {
  readonly open: OpenStream
  /** Does something while the page is visible. @returns what stops it */
  whileVisible(work: (signal: AbortSignal) => void): () => void
}

type Listener = () => void
type EventsListener = (events: readonly ServerEvent[]) => void

/**
 * The one stream of events of this document, open while anybody listens and the page is visible, however many show
 * something of it: browsers open six connections to a host, and a person may have twenty streams.
 */
export class EventStore {
  readonly #parts: EventStoreParts
  readonly #listeners = new Set<Listener>()
  readonly #eventsListeners = new Set<EventsListener>()
  readonly #bookmark: Bookmark = {}
  #state: EventStoreState = {
    events: initialEventState,
    isLive: false,
    isRefused: false,
    isAccountBlocked: false,
    clockAhead: 0,
  }
  #stop: (() => void) | undefined
  #staleTimer: ReturnType<typeof setTimeout> | undefined

  constructor(parts: EventStoreParts) {
    this.#parts = parts
  }

  readonly get = (): EventStoreState => this.#state

  /** @param listener is called when what is heard has changed @returns what ends it */
  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    this.#stop ??= this.#parts.whileVisible((signal) => this.#start(signal))
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
      clearTimeout(this.#staleTimer)
      this.#staleTimer = undefined
    }
  }

  /** Events as they come, to who listens already. @returns what ends it */
  onEvents(listener: EventsListener): () => void {
    this.#eventsListeners.add(listener)
    return () => this.#eventsListeners.delete(listener)
  }

  /** How an earlier launch ended is no matter any more: another one begins. */
  forgetEnd(type: string): void {
    const event = this.#state.events.launches.get(type)?.event
    if (event && (isOver(event) || event.stage === 'waiting')) this.#forget(event)
  }

  /** It was kept: the server says so, too, a moment later. */
  forgetIdle(type: string): void {
    const { events } = this.#state
    this.#set({ events: { ...events, idles: withoutContainerType(events.idles, type) } })
  }

  #start(signal: AbortSignal): void {
    // A hidden page receives nothing; the server resends what it missed when it is visible again.
    signal.addEventListener('abort', () => this.#set({ isLive: false }), { once: true })
    void followEvents(
      this.#parts.open,
      {
        onOpen: () => this.#onOpen(),
        onEvents: (events) => this.#onEvents(events),
        onLost: () => this.#onLost(),
        onRefused: (isAccountBlocked) => this.#set({ isRefused: true, isAccountBlocked }),
        onClock: (clockAhead) => this.#set({ clockAhead }),
      },
      this.#bookmark,
      signal,
    )
  }

  #onOpen(): void {
    clearTimeout(this.#staleTimer)
    this.#staleTimer = undefined
    this.#set({ isLive: true, isRefused: false, isAccountBlocked: false })
  }

  #onEvents(events: readonly ServerEvent[]): void {
    this.#set({ events: reduceEvents(this.#state.events, events) })
    for (const event of appsWaitedFor(events)) setTimeout(() => this.#forget(event), appTimeout)
    for (const listener of this.#eventsListeners) listener(events)
  }

  #onLost(): void {
    this.#set({ isLive: false })
    this.#staleTimer ??= setTimeout(() => {
      this.#set({ events: { ...initialEventState, takeover: this.#state.events.takeover } })
      // So that the next connection says how things are, and not only what has changed since.
      this.#bookmark.lastId = undefined
    }, staleAfter)
  }

  #forget(event: LaunchEvent): void {
    const { events } = this.#state
    this.#set({ events: { ...events, launches: without(events.launches, event) } })
  }

  #set(change: Partial<EventStoreState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

const appsWaitedFor = (events: readonly ServerEvent[]) =>
  events
    .filter(({ name }) => name === 'launch')
    .map(({ data }) => data as LaunchEvent)
    .filter(({ stage }) => stage === 'waiting')
