import pLimit from 'p-limit'

/**
 * Grace period before a container without an answer is unknown, in ms. Less than the timeout of one call, so that one
 * call that times out is enough; a broken connection is not.
 */
const grace = 2_500
/** First and max pause before it is asked again, in ms; doubled with each further failure (backoff). */
const [firstPause, maxPause] = [1_000, 30_000]
/** Max parallel retries, beside all other look-ups. */
const maxParallelRetries = 4

export interface UnresponsiveContainersParts {
  /** Inspects it once more; must not reject, and must have a timeout of its own. */
  readonly retry: (id: string) => Promise<void>
  /** Called when a container becomes unknown; must not throw. */
  readonly onUnknown: (id: string) => void
}

interface Failure {
  /** Time of the first call without an answer; by `performance.now()`. */
  readonly since: number
  readonly attempts: number
  readonly isUnknown: boolean
  readonly timer: NodeJS.Timeout
}

/**
 * Containers about which an engine that answers pings does not answer, as when a container's lock is never released
 * (moby#41427). Each is unknown by itself and inspected again with backoff, in slots of its own (bulkhead), so that it
 * delays no other look-up.
 */
export class UnresponsiveContainers {
  readonly #parts: UnresponsiveContainersParts
  readonly #failures = new Map<string, Failure>()
  readonly #limit = pLimit(maxParallelRetries)
  #isStopped = false

  constructor(parts: UnresponsiveContainersParts) {
    this.#parts = parts
  }

  /** Whether only the retries ask about it. */
  has(id: string): boolean {
    return this.#failures.has(id)
  }

  isUnknown(id: string): boolean {
    return this.#failures.get(id)?.isUnknown ?? false
  }

  /** A call about it was not answered. @param askedAt by `performance.now()` */
  failed(id: string, askedAt: number): void {
    if (this.#isStopped) return
    const before = this.#failures.get(id)
    clearTimeout(before?.timer)
    const since = Math.min(before?.since ?? askedAt, askedAt)
    const attempts = (before?.attempts ?? 0) + 1
    const isUnknown = performance.now() - since >= grace
    const timer = setTimeout(() => this.#retry(id), Math.min(firstPause * 2 ** (attempts - 1), maxPause)).unref()
    this.#failures.set(id, { since, attempts, isUnknown, timer })
    if (isUnknown && !before?.isUnknown) this.#parts.onUnknown(id)
  }

  /** The engine answered about it, or its record was deleted. */
  answered(id: string): void {
    clearTimeout(this.#failures.get(id)?.timer)
    this.#failures.delete(id)
  }

  /** The engine is down as a whole: its recovery inspects everything. */
  clear(): void {
    for (const id of this.#failures.keys()) this.answered(id)
  }

  /** Ends all retries. */
  stop(): void {
    this.#isStopped = true
    this.clear()
  }

  #retry(id: string): void {
    // It may have been answered about while it waited for its slot.
    void this.#limit(async () => (this.has(id) ? this.#parts.retry(id) : undefined))
  }
}
