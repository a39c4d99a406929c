import { containerKey, type ContainerRef } from '#/store/user-containers.ts'

/** A program that ends within this time after its start counts as failed, whatever its exit code; in ms. */
const minRunTime = 10_000
/** Failed starts in a row without a pause before the next one. */
const freeRestarts = 2
/** First and max pause after that, in ms; the pause doubles with each further failed start (exponential backoff). */
const [firstPause, maxPause] = [5_000, 300_000]
/** Failed starts are remembered for this time after the last pause, in ms. */
const rememberFor = 3_600_000
/** Max containers that are remembered; above it the one with the oldest start is dropped. */
const defaultMax = 10_000

interface History {
  /** Undefined when its end is known. */
  startedAt: number | undefined
  badStarts: number
  /** No automatic start before this time. */
  notBefore: number
}

/**
 * Crash loop detection with exponential backoff: an app that ends right after every start is not restarted at once each
 * time an open page requests it. A launch that a user asks for is never delayed.
 *
 * A bounded map in order of the last start. An entry expires when it no longer affects a decision: after ten seconds of
 * run time an end is no failed start. So the map holds recent starts, however many containers run.
 */
export class CrashLoops {
  readonly #now: () => number
  readonly #max: number
  readonly #histories = new Map<string, History>()

  /** @param now monotonic clock, in ms @param max containers that are remembered */
  constructor(now = () => performance.now(), max = defaultMax) {
    this.#now = now
    this.#max = max
  }

  /** Number of containers that are remembered. */
  get size(): number {
    return this.#histories.size
  }

  /** Whether it may be started automatically now. */
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

  /** Its program ended, and Berth did not stop it. */
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

  /** Drops expired entries, from the oldest start on, until one still counts: each entry is visited about once. */
  #evict(now: number): void {
    for (const [key, history] of this.#histories) {
      if (!isExpired(history, now) && this.#histories.size <= this.#max) return
      this.#histories.delete(key)
    }
  }
}

/** Whether it affects no decision any more, however its program ends from now on. */
function isExpired({ startedAt, notBefore }: History, now: number): boolean {
  return startedAt === undefined ? now >= notBefore + rememberFor : now - startedAt >= minRunTime
}
