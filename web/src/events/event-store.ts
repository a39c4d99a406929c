import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import {
  followStream,
  abortableDelay,
  type Bookmark,
  type ServerEvent,
  type StreamReader,
} from '#/events/event-stream.ts'
import { isOver, without } from '#/launch/launch-state.ts'
import { initialEventState, reduceEvents, withoutContainerType, type EventState } from '#/events/event-reducer.ts'

/** How long an app is waited for before nobody speaks of it any more, in ms: some never listen. */
const appTimeout = 60_000
/** How long what was told last is believed after the stream broke off, in ms. */
const staleAfter = 5_000
/** How long until a stream that was refused is asked for again, in ms: a block is lifted one day, and nothing else says so. */
export const refusedRetryDelay = 30_000

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
  /** Asks for the stream. @throws {ApiError} when it was refused */
  open(lastId: string | undefined, signal: AbortSignal): Promise<Response>
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
    const reader = {
      open: (lastId: string | undefined, either: AbortSignal) => this.#open(lastId, either),
      onOpen: () => this.#onOpen(),
      onEvents: (events: readonly ServerEvent[]) => this.#onEvents(events),
      onLost: () => this.#onLost(),
    }
    // A page that is hidden is told nothing; what it knows it is told the rest of when it comes back.
    signal.addEventListener('abort', () => this.#set({ isLive: false }), { once: true })
    void this.#followForever(reader, signal)
  }

  async #followForever(reader: StreamReader, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await followStream(reader, signal, this.#bookmark).catch((error: unknown) => {
        const isAccountBlocked = error instanceof ApiError && error.refusal === 'userBlocked'
        this.#set({ isRefused: true, isAccountBlocked })
        this.#onLost()
      })
      if (!signal.aborted) await abortableDelay(refusedRetryDelay, signal)
    }
  }

  async #open(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const answer = await this.#parts.open(lastId, signal)
    const there = Date.parse(answer.headers.get('date') ?? '')
    // The header has whole seconds, so that half of one is the best guess of the rest.
    if (!Number.isNaN(there) && !signal.aborted) this.#set({ clockAhead: there + 500 - Date.now() })
    return answer
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
