import { containerKey, type ContainerRef } from '../container-key.ts'

/** A program that ends within this time after its start has not worked, whatever it says; in ms. */
const minRunTime = 10_000
/** Bad starts in a row after which the next one has to wait: an accident, and another try. */
const freeRestarts = 2
/** How long it waits then, in ms; doubled with each further one. */
const [firstPause, maxPause] = [5_000, 300_000]
/** How long bad starts are remembered after the last pause is over, in ms. */
const rememberFor = 3_600_000
/** Max containers that are remembered; the one that was started first goes when there are more. */
const defaultMax = 10_000

interface History {
  /** Undefined when its end is known. */
  startedAt: number | undefined
  badStarts: number
  /** Nothing that nobody asked for by hand starts it before. */
  notBefore: number
}

/**
 * Keeps apps that end right after every start from being started without end: an open page asks for its app every few
 * seconds, and each start costs everybody. Whoever launches by hand is not held up.
 *
 * A bounded map in order of the last start, from which entries expire that decide nothing any more: once a program has run
 * for ten seconds its end is no bad start. So it holds what was started lately, however many run.
 */
export class CrashLoops {
  readonly #now: () => number
  readonly #max: number
  readonly #histories = new Map<string, History>()

  /** @param now in ms, never set back @param max containers that are remembered */
  constructor(now = () => performance.now(), max = defaultMax) {
    this.#now = now
    this.#max = max
  }

  /** How many containers are remembered. */
  get size(): number {
    return this.#histories.size
  }

  /** Whether it may be started without anybody asking for it by hand. */
  mayStart(owned: ContainerRef): boolean {
    return this.#now() >= (this.#histories.get(containerKey(owned))?.notBefore ?? 0)
  }

  started(owned: ContainerRef): void {
    const [key, now] = [containerKey(owned), this.#now()]
    const known = this.#histories.get(key)
    const history = known && !isExpired(known, now) ? known : { startedAt: undefined, badStarts: 0, notBefore: 0 }
    history.startedAt = now
    // Deleted first, so that the map stays in order of the last start.
    this.#histories.delete(key)
    this.#histories.set(key, history)
    this.#evict(now)
  }

  /** It ended, and nobody of ours stopped it. */
  ended(owned: ContainerRef): void {
    const history = this.#histories.get(containerKey(owned))
    if (history?.startedAt === undefined) return
    const now = this.#now()
    if (now - history.startedAt >= minRunTime) return this.forget(owned)
    history.startedAt = undefined
    history.badStarts++
    const pause = Math.min(maxPause, firstPause * 2 ** (history.badStarts - freeRestarts - 1))
    if (history.badStarts > freeRestarts) history.notBefore = now + pause
  }

  forget(owned: ContainerRef): void {
    this.#histories.delete(containerKey(owned))
  }

  /** From the oldest start on, until one still counts: each entry is looked at about once, however many there are. */
  #evict(now: number): void {
    for (const [key, history] of this.#histories) {
      if (!isExpired(history, now) && this.#histories.size <= this.#max) return
      this.#histories.delete(key)
    }
  }
}

/** Whether it decides nothing any more, however its program ends from now on. */
function isExpired({ startedAt, notBefore }: History, now: number): boolean {
  return startedAt === undefined ? now >= notBefore + rememberFor : now - startedAt >= minRunTime
}
