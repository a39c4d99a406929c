import { randomBytes } from 'node:crypto'

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
