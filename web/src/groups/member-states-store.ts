import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { Subscribers } from '#/events/event-store.ts'
import { followEvents, type OpenStream, type ServerEvent } from '#/events/event-stream.ts'

/** What the stream of a group has reported. */
export interface MemberStates {
  /** By id as a user. */
  readonly states: ReadonlyMap<number, MemberState>
  /**
   * Whether the stream is open now; undefined while it is opened first, because a page that says so then says it at
   * each visit.
   */
  readonly isLive: boolean | undefined
}

/** How long a stream may take to open before the page counts as not live, in ms. */
export const maxOpening = 3_000

interface MemberStatesStoreParts {
  readonly open: OpenStream
  /** Runs the work while the page is visible. @returns stops it */
  whileVisible(work: (signal: AbortSignal) => void): () => void
  /** Members, roles or the group have changed. */
  onChanged(): void
}

/**
 * The one stream of a page of a group, open while it is visible and shown. A lost connection begins with all states
 * anew.
 */
export class MemberStatesStore {
  readonly #parts: MemberStatesStoreParts
  readonly #subscribers: Subscribers
  #state: MemberStates = { states: new Map(), isLive: undefined }

  constructor(parts: MemberStatesStoreParts) {
    this.#parts = parts
    this.#subscribers = new Subscribers(() => parts.whileVisible((signal) => this.#start(signal)))
  }

  readonly get = (): MemberStates => this.#state

  /** @param listener is called when the state has changed @returns unsubscribes */
  readonly subscribe = (listener: () => void): (() => void) => this.#subscribers.add(listener)

  #start(signal: AbortSignal): void {
    const late = setTimeout(() => this.#set({ isLive: false }), maxOpening)
    const setLive = (isLive: boolean | undefined) => {
      clearTimeout(late)
      this.#set({ isLive })
    }
    signal.addEventListener('abort', () => setLive(undefined), { once: true })
    const listener = {
      onOpen: () => setLive(true),
      onEvents: (events: readonly ServerEvent[]) => this.#onEvents(events),
      onLost: () => setLive(false),
      onRefused: () => undefined,
      onClock: () => undefined,
    }
    void followEvents(this.#parts.open, listener, {}, signal)
  }

  #onEvents(events: readonly ServerEvent[]): void {
    this.#set({ states: reduceStates(this.#state.states, events) })
    if (events.some(({ name }) => name === 'changed')) this.#parts.onChanged()
  }

  #set(change: Partial<MemberStates>): void {
    this.#state = { ...this.#state, ...change }
    this.#subscribers.notify()
  }
}

/** Members whose state did not change keep the same object, so that their rows are not rendered again. */
export function reduceStates(
  before: MemberStates['states'],
  events: readonly ServerEvent[],
): ReadonlyMap<number, MemberState> {
  const states = new Map(before)
  for (const { name, data } of events) {
    if (name === 'snapshot') states.clear()
    if (name === 'members')
      for (const each of (data as { members: MemberState[] }).members) states.set(each.user_id, each)
  }
  return states
}
