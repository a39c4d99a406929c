import { randomBytes } from 'node:crypto'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { sinceOf, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteStatus } from '#/containers/routes/route-changes.ts'
import type { StreamRegistry, StreamOwner } from './stream-registry.ts'

/** Tells the present state of something of a user's as events; must not throw. */
export interface UserEventSource {
  current(userId: number): readonly UserEvent[]
}

export interface UserEventSubscriptionsParts {
  readonly events: UserEvents
  readonly streams: StreamRegistry
  /** The present state of the user's containers as events. Computed and sent in one step; must not throw. */
  readonly snapshotOf: UserEventSource['current']
  /** A page of the user listens from now on, for the first time or again; must not throw. */
  readonly onListener: (userId: number) => void
}

/**
 * Subscriptions of pages to `UserEvents`. A page that reconnects receives the events that it missed, while they are
 * kept; otherwise, like a new page, a snapshot of the present state.
 */
export class UserEventSubscriptions {
  readonly #parts: UserEventSubscriptionsParts
  readonly #sources: UserEventSource[] = []

  constructor(parts: UserEventSubscriptionsParts) {
    this.#parts = parts
  }

  /** @param source begins a page behind those that came before it */
  addSource(source: UserEventSource): void {
    this.#sources.push(source)
  }

  /**
   * Sends the listener the missed events or a snapshot, and then each event as it is published.
   * @param lastId of the last event that the page received
   * @returns ends the subscription
   * @throws {Refusal} 429, 503 as `StreamRegistry.open`; then nothing was sent
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
    const events = [
      { name: 'snapshot', data: {} },
      ...this.#parts.snapshotOf(userId),
      ...this.#sources.flatMap((source) => source.current(userId)),
    ]
    const id = this.#parts.events.position(userId)
    return events.map((event, at) => (at === events.length - 1 ? { ...event, id } : event))
  }
}

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

/**
 * The event of a container's status for its owner: since when it runs, when and why Berth stopped it, or the cause when
 * its program has ended or never ran.
 */
export function containerEvent(type: string, status: RouteStatus, known?: ContainerState): UserEvent {
  const cause = known && causeOf(status, known)
  const since = known && sinceOf(known, status)
  return { name: 'container', data: { type, status, ...(cause && { message: cause }), ...since } }
}

/** From the last inspect, not from the launch: it is known after a restart of Berth, too. */
function causeOf(status: RouteStatus, { seen, failure }: ContainerState): LocalizedMessage | undefined {
  if (status === 'evicted')
    return message(seen && seen !== 'gone' && seen.isLayerFull ? 'launches.evictedAtLimit' : 'launches.evicted')
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

/** An event for the open pages of a user. */
export interface UserEvent {
  /** Name of the event; `containerEvents` of the endpoint table has its data. */
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * The event as it is sent. A client that sends the id later receives the events after it; without an id there is
 * nothing to resume yet.
 */
export interface SentEvent extends UserEvent {
  readonly id?: string
}

/** Bounds of the buffer: events of one user, milliseconds, and bytes of all users together. */
export interface Bounds {
  readonly events: number
  readonly time: number
  readonly bytes: number
}

/** A page that reconnects later than that receives a snapshot of the present state instead. */
const defaultBounds: Bounds = { events: 100, time: 10 * 60_000, bytes: 4 * 1024 * 1024 }

/** Memory of an event beside its text, about, in bytes. */
const overhead = 200

interface Kept {
  readonly event: SentEvent
  readonly at: number
  readonly size: number
}

/** Kept events of one user. Events are numbered from 1; those that are kept end with the last. */
interface UserBuffer {
  /**
   * Prefix of every id. Random, so that an id from before a restart, or from before the events were dropped, differs
   * from ours although its number is the same.
   */
  readonly epoch: string
  readonly kept: Kept[]
  last: number
  touchedAt: number
}

/**
 * Replay buffer of recent events: a page that lost its connection receives what it missed. Only for users with a page
 * open lately: no other page can reconnect, and launches by programs need no replay.
 */
export class EventReplayBuffer {
  readonly #bounds: Bounds
  readonly #now: () => number
  /** In order of the last event. */
  readonly #buffers = new Map<number, UserBuffer>()
  #bytes = 0

  /** @param now monotonic clock, in ms */
  constructor(bounds = defaultBounds, now = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** Keeps an event. @param hasListener whether the user has a page open @returns the event with its id */
  add(userId: number, event: UserEvent, hasListener: boolean): SentEvent {
    const buffer = hasListener ? this.#touch(userId) : this.#buffers.get(userId)
    if (!buffer) return event
    const sent = { ...event, id: `${buffer.epoch}-${++buffer.last}` }
    const size = event.name.length + JSON.stringify(event.data).length + overhead
    buffer.kept.push({ event: sent, at: this.#now(), size })
    this.#bytes += size
    this.#evict(this.#touch(userId))
    return sent
  }

  /** Events of a user after that id, in order; undefined when the id is unknown, or a later event was dropped. */
  since(userId: number, id: string): SentEvent[] | undefined {
    const buffer = this.#buffers.get(userId)
    const [, epoch, number] = /^(\w+)-(\d{1,15})$/.exec(id) ?? []
    if (!buffer || epoch !== buffer.epoch) return undefined
    this.#evict(this.#touch(userId))
    const missed = buffer.last - Number(number)
    if (missed < 0 || missed > buffer.kept.length) return undefined
    return buffer.kept.slice(buffer.kept.length - missed).map(({ event }) => event)
  }

  /** Id after which the user has no event yet; from now on their events are kept. */
  position(userId: number): string {
    const { epoch, last } = this.#touch(userId)
    return `${epoch}-${last}`
  }

  /** Moves the user to the end of the order. */
  #touch(userId: number): UserBuffer {
    const buffer = this.#buffers.get(userId) ?? { epoch: newEpoch(), kept: [], last: 0, touchedAt: 0 }
    buffer.touchedAt = this.#now()
    this.#buffers.delete(userId)
    this.#buffers.set(userId, buffer)
    return buffer
  }

  /** Drops events of this user that are too old or too many, and users without an event for long. */
  #evict(buffer: UserBuffer): void {
    const { events, time, bytes } = this.#bounds
    const since = this.#now() - time
    while (buffer.kept.length > events || (buffer.kept[0]?.at ?? Infinity) < since) this.#drop(buffer)
    for (const [userId, oldest] of this.#buffers) {
      if (oldest === buffer || (oldest.touchedAt >= since && this.#bytes <= bytes)) return
      while (oldest.kept.length > 0) this.#drop(oldest)
      this.#buffers.delete(userId)
    }
  }

  #drop({ kept }: UserBuffer): void {
    this.#bytes -= kept.shift()?.size ?? 0
  }
}

const newEpoch = () => randomBytes(6).toString('hex')
