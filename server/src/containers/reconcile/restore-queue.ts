import { containerKey, type ContainerRef } from '#/store/container-key.ts'

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

  /** As `add`, with the attempts that it had before it was removed. */
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

  /** As `take`: of all but these the one whose last attempt began first. */
  takeOther(than: ReadonlySet<Restoration>): Restoration | undefined {
    let other: Restoration | undefined
    for (const restoration of this.#due())
      if (!than.has(restoration) && restoration.triedAt < (other?.triedAt ?? Infinity)) other = restoration
    return other && begun(other)
  }

  /** It keeps its position. @param pause ms before the next attempt */
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
