import pLimit from 'p-limit'

/**
 * How long a container may be without an answer before it is unknown, in ms. Less than one call's timeout, so that one that
 * was not answered in time is enough; a connection that broke is not.
 */
const grace = 2_500
/** Before it is asked again, in ms; doubled with each further failure. */
const [firstPause, maxPause] = [1_000, 30_000]
/** Retries under way at the same time, beside all other look-ups. */
const maxParallelRetries = 4

export interface UnresponsiveContainersParts {
  /** Looks at it once more; must not reject, and must end within a limit of its own. */
  readonly retry: (id: string) => Promise<void>
  /** Called when a container becomes unknown; must not throw. */
  readonly onUnknown: (id: string) => void
}

interface Failure {
  /** When the first question was asked that was not answered; by `performance.now()`. */
  readonly since: number
  readonly attempts: number
  readonly isUnknown: boolean
  readonly timer: NodeJS.Timeout
}

/**
 * Containers that an engine which answers pings does not answer about, as when one's lock is held for ever (moby#41427).
 * Each is unknown by itself and asked again with backoff, in slots of its own, so that it keeps no other look-up waiting.
 */
export class UnresponsiveContainers {
  readonly #parts: UnresponsiveContainersParts
  readonly #failures = new Map<string, Failure>()
  readonly #limit = pLimit(maxParallelRetries)
  #isStopped = false

  constructor(parts: UnresponsiveContainersParts) {
    this.#parts = parts
  }

  /** Whether it is left to the retries. */
  has(id: string): boolean {
    return this.#failures.has(id)
  }

  isUnknown(id: string): boolean {
    return this.#failures.get(id)?.isUnknown ?? false
  }

  /** A question about it was not answered. @param askedAt by `performance.now()` */
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

  /** It was answered about, or there is no record of it any more. */
  answered(id: string): void {
    clearTimeout(this.#failures.get(id)?.timer)
    this.#failures.delete(id)
  }

  /** The engine answers nothing at all: whatever it is asked when it is back says more. */
  clear(): void {
    for (const id of this.#failures.keys()) this.answered(id)
  }

  /** Nothing is asked again. */
  stop(): void {
    this.#isStopped = true
    this.clear()
  }

  #retry(id: string): void {
    // It may have been answered about while it waited for its slot.
    void this.#limit(async () => (this.has(id) ? this.#parts.retry(id) : undefined))
  }
}
