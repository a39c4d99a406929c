import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { isOver, without } from '#/launch/launch-state.ts'
import { initialEventState, reduceEvents, withoutContainerType, type EventState } from './event-reducer.ts'
import { followEvents, type Bookmark, type OpenStream, type ServerEvent } from './event-stream.ts'

/** How long the stage `waiting` is kept, in ms: some apps never answer. */
const appTimeout = 60_000
/** How long the last state stays valid after the connection was lost, in ms. */
const staleAfter = 5_000
/**
 * How much later than an event components render it, in ms, together with those that came meanwhile: a page that opens
 * a container at an event does not render it, which takes 10 ms of CPU time.
 */
export const renderDelay = 150
/**
 * The same for stages that the engine works on, in ms: longer than most launches take. The page says that it launches
 * already.
 */
export const passingDelay = 400
/** The state of the event stream, and what it has reported. */
export interface EventStoreState {
  readonly events: EventState
  /** Whether the stream is open now; pages work without it, by polling. */
  readonly isLive: boolean
  /** Whether the server refuses the stream, to a blocked user for example. */
  readonly isRefused: boolean
  /**
   * Whether that is because the account is blocked. The list of containers shows a block only for containers with a
   * record.
   */
  readonly isAccountBlocked: boolean
  /** How far the server's clock is ahead of this one, in ms, to about a second. */
  readonly clockAhead: number
}

interface EventStoreParts {
  readonly open: OpenStream
  /** Runs the work while the page is visible. @returns stops it */
  whileVisible(work: (signal: AbortSignal) => void): () => void
}

type EventsListener = (events: readonly ServerEvent[]) => void

/**
 * The one event stream of this document, open while there is a subscriber and the page is visible: browsers open six
 * connections to a host, and a user may have 20 streams.
 */
export class EventStore {
  readonly #parts: EventStoreParts
  readonly #subscribers: Subscribers<readonly ServerEvent[]>
  readonly #eventsListeners = new Set<EventsListener>()
  #unrendered: ServerEvent[] = []
  readonly #bookmark: Bookmark = {}
  #state: EventStoreState = {
    events: initialEventState,
    isLive: false,
    isRefused: false,
    isAccountBlocked: false,
    clockAhead: 0,
  }
  #staleTimer: ReturnType<typeof setTimeout> | undefined

  constructor(parts: EventStoreParts) {
    this.#parts = parts
    this.#subscribers = new Subscribers(() => {
      const stop = parts.whileVisible((signal) => this.#start(signal))
      return () => {
        stop()
        clearTimeout(this.#staleTimer)
        this.#staleTimer = undefined
      }
    })
  }

  readonly get = (): EventStoreState => this.#state

  /**
   * @param listener is called when components are to render the state, with the events that have come since the last
   * time
   * @returns unsubscribes
   */
  readonly subscribe = (listener: EventsListener): (() => void) => this.#subscribers.add(listener)

  /**
   * Calls the listener with events as they arrive, before the state changes and components render; does not open the
   * stream.
   * @returns unsubscribes
   */
  onEvents(listener: EventsListener): () => void {
    this.#eventsListeners.add(listener)
    return () => this.#eventsListeners.delete(listener)
  }

  /** Forgets how the earlier launch of this type ended, because another one begins. */
  forgetEnd(type: string): void {
    const event = this.#state.events.launches.get(type)?.event
    if (event && (isOver(event) || event.stage === 'waiting')) this.#forget(event)
  }

  /** Removes the warning of a container that was kept; the server's event follows a moment later. */
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
    for (const listener of this.#eventsListeners) listener(events)
    this.#state = { ...this.#state, events: reduceEvents(this.#state.events, events) }
    this.#unrendered.push(...events)
    setTimeout(() => this.#render(), events.every(isPassing) ? passingDelay : renderDelay)
    for (const { name, data } of events)
      if (name === 'launch' && (data as LaunchEvent).stage === 'waiting')
        setTimeout(() => this.#forget(data as LaunchEvent), appTimeout)
  }

  #onLost(): void {
    this.#set({ isLive: false })
    this.#staleTimer ??= setTimeout(() => {
      this.#set({ events: { ...initialEventState, takeover: this.#state.events.takeover } })
      // The next connection then begins with a snapshot instead of the changes since the last event.
      this.#bookmark.lastId = undefined
    }, staleAfter)
  }

  #forget(event: LaunchEvent): void {
    const { events } = this.#state
    this.#set({ events: { ...events, launches: without(events.launches, event) } })
  }

  #set(change: Partial<EventStoreState>): void {
    this.#state = { ...this.#state, ...change }
    this.#render()
  }

  /** All that has come: what listeners keep is never older than the state. */
  #render(): void {
    const events = this.#unrendered
    this.#unrendered = []
    this.#subscribers.notify(events)
  }
}

const isPassing = ({ data }: ServerEvent) => {
  const { stage } = data as Partial<LaunchEvent>
  return stage === 'creating' || stage === 'starting'
}

/**
 * Listeners of a store, and the work that runs while there is at least one.
 * @typeParam News what they are told
 */
export class Subscribers<News = void> {
  readonly #listeners = new Set<(news: News) => void>()
  readonly #begin: () => () => void
  #stop: (() => void) | undefined

  /** @param begin starts the work for the first listener @returns stops it after the last one */
  constructor(begin: () => () => void) {
    this.#begin = begin
  }

  /** @param listener is called by `notify` @returns unsubscribes */
  add(listener: (news: News) => void): () => void {
    this.#listeners.add(listener)
    this.#stop ??= this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  notify(news: News): void {
    for (const listener of this.#listeners) listener(news)
  }
}

/** The part of the document that this module uses. */
type Visible = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>

/**
 * Runs work while the page is visible: a hidden page shows nothing, and browsers open only six connections to a host.
 * @param work its signal aborts when the page is hidden, or when it is stopped
 * @returns stops it
 */
export function whileVisible(work: (signal: AbortSignal) => void, page: Visible = document): () => void {
  let current: AbortController | undefined

  const stop = () => {
    current?.abort()
    current = undefined
  }
  const update = () => {
    if (page.visibilityState !== 'visible') return stop()
    if (current) return
    current = new AbortController()
    work(current.signal)
  }

  page.addEventListener('visibilitychange', update)
  update()
  return () => {
    page.removeEventListener('visibilitychange', update)
    stop()
  }
}
