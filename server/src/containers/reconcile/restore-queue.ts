import { containerKey, type ContainerRef } from '#/store/user-containers.ts'

/** The end of a program, a short time after it was restored. */
export interface EarlyEnd {
  readonly containerId: string
  /** Whether memory of the host was short then: what the OOM killer has freed hides it later. */
  readonly wasMemoryShort: Promise<boolean>
}

/** A container that is to be restored, and its attempts so far. */
export interface Restoration {
  readonly owned: ContainerRef
  readonly key: string
  /** Attempts after which the program ended by itself. */
  crashes: number
  /** Attempts in a row that failed for another cause that concerns this container alone. */
  troubles: number
  /** No attempt before then; by `performance.now()`. */
  dueAt: number
  /** When the last attempt began; likewise. */
  triedAt: number
  isUnderWay: boolean
  /** How the last attempt, which succeeded at first, ended; its cause is not known yet. */
  end: EarlyEnd | undefined
}

/** Priority queue of containers to restore: first those that users have requested since, in that order. */
export class RestoreQueue {
  readonly #asked = new Map<string, Restoration>()
  readonly #others = new Map<string, Restoration>()
  readonly #keys = new Set<string>()

  /** `containerKey` of all. */
  get keys(): ReadonlySet<string> {
    return this.#keys
  }

  /** Appends it; does nothing when it is queued already. */
  add({ userId, type }: ContainerRef): void {
    const owned = { userId, type }
    const first = { crashes: 0, troubles: 0, dueAt: 0, triedAt: 0, isUnderWay: false, end: undefined }
    this.addAgain({ owned, key: containerKey(owned), ...first })
  }

  /** Adds what was removed, with the attempts that it had before. */
  addAgain(restoration: Restoration): void {
    const { key } = restoration
    if (this.#keys.has(key)) return
    this.#keys.add(key)
    restoration.isUnderWay = false
    this.#others.set(key, restoration)
  }

  /** A user requests it: moves it behind those that were requested before. */
  promote(owned: ContainerRef): void {
    const restoration = this.#others.get(containerKey(owned))
    if (!restoration) return
    this.#others.delete(restoration.key)
    this.#asked.set(restoration.key, restoration)
  }

  /** The first one that is due and not in progress; it is in progress then, until `retryAfter` or `remove`. */
  take(): Restoration | undefined {
    for (const restoration of this.#due()) return begun(restoration)
    return undefined
  }

  /** Takes the one whose last attempt began first, of all but these. */
  takeOther(than: ReadonlySet<Restoration>): Restoration | undefined {
    let other: Restoration | undefined
    for (const restoration of this.#due())
      if (!than.has(restoration) && restoration.triedAt < (other?.triedAt ?? Infinity)) other = restoration
    return other && begun(other)
  }

  /** Delays a restoration, which keeps its position. @param pause ms before the next attempt */
  retryAfter(restoration: Restoration, pause: number): void {
    restoration.isUnderWay = false
    restoration.dueAt = performance.now() + pause
  }

  remove({ key }: Restoration): void {
    this.#keys.delete(key)
    this.#asked.delete(key)
    this.#others.delete(key)
  }

  *all(): Generator<Restoration> {
    yield* this.#asked.values()
    yield* this.#others.values()
  }
  *#due(): Generator<Restoration> {
    const now = performance.now()
    for (const restoration of this.all()) if (!restoration.isUnderWay && restoration.dueAt <= now) yield restoration
  }
}

function begun(restoration: Restoration): Restoration {
  restoration.isUnderWay = true
  restoration.triedAt = performance.now()
  return restoration
}

/** Pauses before the next attempt, in ms; each is doubled from the first to the last. */
export interface RestorePauses {
  /** The server refused: no capacity, or engine or store do not answer. */
  readonly server: readonly [first: number, last: number]
  /** This container cannot be started. */
  readonly container: readonly [first: number, last: number]
  /** Interval in which the queue is polled. */
  readonly poll: number
}

export const defaultPauses: RestorePauses = { server: [1_000, 15_000], container: [2_000, 300_000], poll: 250 }

/** Exponential backoff. @param attempts from 1 on @returns ms */
export const backoff = ([first, last]: readonly [number, number], attempts: number) =>
  Math.min(last, first * 2 ** Math.min(attempts - 1, 20))

/**
 * Shared backoff of all restorations after a refusal. A refusal usually concerns all containers, so that nothing is started
 * until the pause is over. But some refusals, such as no disk space for a new container, do not: in each pause another
 * container is tried as a probe, the one with the oldest attempt first, and more of them while they succeed.
 */
export class RestoreBackoff {
  readonly #pauses: RestorePauses['server']
  readonly #maxProbes: number
  /** Pauses in a row. */
  #refusals = 0
  /** When the present pause ends, by `performance.now()`. */
  #pausedUntil = 0
  /** Refused in the present pause. */
  readonly #refusedNow = new Set<Restoration>()
  /** Probes left in the present pause. */
  #probes = 0

  constructor(pauses: RestorePauses['server'], maxProbes: number) {
    this.#pauses = pauses
    this.#maxProbes = maxProbes
  }

  /** Whether the last attempt was refused. */
  get isActive(): boolean {
    return this.#refusals > 0
  }

  /** The next restoration to attempt now; undefined when there is none. */
  next(queue: RestoreQueue): Restoration | undefined {
    if (performance.now() >= this.#pausedUntil) return queue.take()
    if (this.#probes === 0) return undefined
    const next = queue.takeOther(this.#refusedNow)
    if (next) this.#probes--
    return next
  }

  /** The attempt was refused: begins a pause, unless it was a probe in one. */
  noteRefusal(restoration: Restoration): void {
    const now = performance.now()
    if (now >= this.#pausedUntil) {
      this.#pausedUntil = now + backoff(this.#pauses, ++this.#refusals)
      this.#refusedNow.clear()
      this.#probes = 1
    }
    this.#refusedNow.add(restoration)
  }

  /** The attempt was not refused: the pause is shortened, and more probes are allowed. */
  noteProgress(): void {
    this.#refusals = 0
    this.#pausedUntil = Math.min(this.#pausedUntil, performance.now() + this.#pauses[0])
    this.#probes = Math.min(this.#maxProbes, this.#probes + 2)
  }
}

/** How long the end of a restored program counts as one of its start, in ms. */
const probationTime = 60_000
/** How long an entry is kept, in ms: an end is told apart from one by the engine only after a grace period. */
const keptFor = probationTime + 120_000

interface Entry {
  readonly restoration: Restoration
  /** By `performance.now()`. */
  readonly since: number
  /** The last end, and whether memory of the host was short then. */
  end: { readonly at: number; readonly wasMemoryShort: Promise<boolean> } | undefined
}

/**
 * Containers that were restored a short time ago. A start counts as soon as the program runs; where many start at once, the host's
 * OOM killer ends some of them seconds later.
 */
export class Probation {
  /** By `containerKey`, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #isMemoryShort: () => Promise<boolean>

  /** @param isMemoryShort must not reject */
  constructor(isMemoryShort: () => Promise<boolean>) {
    this.#isMemoryShort = isMemoryShort
  }

  begin(restoration: Restoration): void {
    this.#dropOld()
    this.#entries.delete(restoration.key)
    this.#entries.set(restoration.key, { restoration, since: performance.now(), end: undefined })
  }

  /** A program ended, whatever the cause. */
  noteEnd(owned: ContainerRef): void {
    this.#dropOld()
    const entry = this.#entries.get(containerKey(owned))
    if (entry) entry.end = { at: performance.now(), wasMemoryShort: this.#isMemoryShort() }
  }

  /**
   * Ends the probation of a container whose program ended by itself.
   * @returns its restoration with that end; undefined when it was not on probation then
   */
  takeEnded(owned: ContainerRef, containerId: string): Restoration | undefined {
    this.#dropOld()
    const entry = this.#entries.get(containerKey(owned))
    if (!entry) return undefined
    const { restoration, since } = entry
    this.#entries.delete(restoration.key)
    // The time of an end whose event was missed, or came before the start was known, is not known: it counts.
    if (entry.end && entry.end.at - since > probationTime) return undefined
    restoration.end = { containerId, wasMemoryShort: entry.end?.wasMemoryShort ?? this.#isMemoryShort() }
    return restoration
  }

  #dropOld(): void {
    const oldest = performance.now() - keptFor
    for (const [key, { since }] of this.#entries) {
      if (since > oldest) return
      this.#entries.delete(key)
    }
  }
}
