import { randomBytes } from 'node:crypto'

/** One thing that a person's open pages are told. */
export interface UserEvent {
  /** Name of the event; `containerEvents` of the API's table has its data. */
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

/** As it is sent. Who names the id later is told what came after it; without one there is nothing to come back to yet. */
export interface SentEvent extends UserEvent {
  readonly id?: string
}

/** What is remembered: events of one person, milliseconds, and bytes of all people together. */
export interface Bounds {
  readonly events: number
  readonly time: number
  readonly bytes: number
}

/** A page that comes back later than that is better served by how things are now. */
const defaultBounds: Bounds = { events: 100, time: 10 * 60_000, bytes: 4 * 1024 * 1024 }

/** What an event takes beside its text, about, in bytes. */
const overhead = 200

interface Kept {
  readonly event: SentEvent
  readonly at: number
  readonly size: number
}

/** What is remembered of one person. Events are numbered from 1 on; those that are kept end with the last. */
interface Person {
  /**
   * Begins every id. Another one each time, so that an id from before a restart, or from before all was forgotten, is
   * told from ours although its number is the same.
   */
  readonly epoch: string
  readonly kept: Kept[]
  last: number
  touchedAt: number
}

/**
 * What people's pages were told lately, so that one that lost its connection is told what it missed. Only of people who
 * have listened: nobody else can come back, and a thousand launches by programs are not worth remembering.
 */
export class EventReplayBuffer {
  readonly #bounds: Bounds
  readonly #now: () => number
  /** In the order in which something happened last. */
  readonly #people = new Map<number, Person>()
  #bytes = 0

  /** @param now in ms, never set back */
  constructor(bounds = defaultBounds, now = () => performance.now()) {
    this.#bounds = bounds
    this.#now = now
  }

  /** Remembers what is told to somebody. @param hasListener whether they listen now @returns it with its id */
  add(userId: number, event: UserEvent, hasListener: boolean): SentEvent {
    const person = hasListener ? this.#touch(userId) : this.#people.get(userId)
    if (!person) return event
    const sent = { ...event, id: `${person.epoch}-${++person.last}` }
    const size = event.name.length + JSON.stringify(event.data).length + overhead
    person.kept.push({ event: sent, at: this.#now(), size })
    this.#bytes += size
    this.#evict(this.#touch(userId))
    return sent
  }

  /** What somebody was told after that id, in order; undefined when the id is none of theirs, or something after it is forgotten. */
  since(userId: number, id: string): SentEvent[] | undefined {
    const person = this.#people.get(userId)
    const [, epoch, number] = /^(\w+)-(\d{1,15})$/.exec(id) ?? []
    if (!person || epoch !== person.epoch) return undefined
    this.#evict(this.#touch(userId))
    const missed = person.last - Number(number)
    if (missed < 0 || missed > person.kept.length) return undefined
    return person.kept.slice(person.kept.length - missed).map(({ event }) => event)
  }

  /** The id after which nothing was told to somebody yet; from now on they are remembered. */
  position(userId: number): string {
    const { epoch, last } = this.#touch(userId)
    return `${epoch}-${last}`
  }

  /** Makes it the last in order. */
  #touch(userId: number): Person {
    const person = this.#people.get(userId) ?? { epoch: newEpoch(), kept: [], last: 0, touchedAt: 0 }
    person.touchedAt = this.#now()
    this.#people.delete(userId)
    this.#people.set(userId, person)
    return person
  }

  /** Of this person what is too old or too much, and whole people whom nothing was told for long. */
  #evict(person: Person): void {
    const { events, time, bytes } = this.#bounds
    const since = this.#now() - time
    while (person.kept.length > events || (person.kept[0]?.at ?? Infinity) < since) this.#drop(person)
    for (const [userId, oldest] of this.#people) {
      if (oldest === person || (oldest.touchedAt >= since && this.#bytes <= bytes)) return
      while (oldest.kept.length > 0) this.#drop(oldest)
      this.#people.delete(userId)
    }
  }

  #drop({ kept }: Person): void {
    this.#bytes -= kept.shift()?.size ?? 0
  }
}

const newEpoch = () => randomBytes(6).toString('hex')
