/**
 * Per-key coalescer: one run at a time for each key; callers during a run share the next one, because the present
 * one may have begun before what they want to see. So a hundred askers cause two looks.
 */
export class Coalescer<T = void> {
  readonly #task: (id: string) => Promise<T>
  readonly #running = new Map<string, Promise<T>>()
  readonly #waiting = new Map<string, Waiting<T>>()

  /** @param run must end within a limit of its own */
  constructor(run: (id: string) => Promise<T>) {
    this.#task = run
  }

  /** Resolves (or rejects) with a look that began after this call. */
  async run(id: string): Promise<T> {
    const running = this.#running.get(id)
    if (!running) return this.#start(id)
    const waiting = this.#waiting.get(id)
    if (waiting) return waiting.promise
    const next: Waiting<T> = { promise: running, isServed: false }
    const begin = () => this.#startWaiting(id, next, running)
    next.promise = running.then(begin, begin)
    this.#waiting.set(id, next)
    return next.promise
  }

  /** Resolves with the look that is under way or about to begin, or with one that begins now. */
  async join(id: string): Promise<T> {
    return this.#waiting.get(id)?.promise ?? this.#running.get(id) ?? this.#start(id)
  }

  /** Called within a look that begins anew: what it finds is also for all who wait for the next one. */
  renew(id: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    waiting.isServed = true
    this.#waiting.delete(id)
  }

  /** What is under way or about to be; resolves at once when nothing is. */
  async settled(id: string): Promise<void> {
    await (this.#waiting.get(id)?.promise ?? this.#running.get(id))
  }

  async #startWaiting(id: string, waiting: Waiting<T>, before: Promise<T>): Promise<T> {
    if (waiting.isServed) return before
    this.#waiting.delete(id)
    // Between the end of the one before and now somebody may have begun, later than those who wait here.
    return this.#running.get(id) ?? this.#start(id)
  }

  async #start(id: string): Promise<T> {
    const run = this.#task(id)
    this.#running.set(id, run)
    try {
      return await run
    } finally {
      if (this.#running.get(id) === run) this.#running.delete(id)
    }
  }
}

/** Those who wait for the next look. */
interface Waiting<T> {
  promise: Promise<T>
  /** Whether the look under way began anew since they asked. */
  isServed: boolean
}
