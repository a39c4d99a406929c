/**
 * Per-key coalescer: one run at a time for each key; calls during a run share the next one, because the present one may
 * have begun before the change that they need to see. So a hundred calls cause two runs.
 */
export class Coalescer<T = void> {
  readonly #task: (id: string) => Promise<T>
  readonly #running = new Map<string, Promise<T>>()
  readonly #waiting = new Map<string, Waiting<T>>()

  /** @param run must have a timeout of its own */
  constructor(run: (id: string) => Promise<T>) {
    this.#task = run
  }

  /** Resolves (or rejects) with a run that began after this call. */
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

  /** Resolves with the run in progress or pending, or with one that begins now. */
  async join(id: string): Promise<T> {
    return this.#waiting.get(id)?.promise ?? this.#running.get(id) ?? this.#start(id)
  }

  /** Called within a run that starts over: its result is also for the calls that wait for the next one. */
  renew(id: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    waiting.isServed = true
    this.#waiting.delete(id)
  }

  /** Resolves when the run in progress or pending ends; at once when there is none. */
  async settled(id: string): Promise<void> {
    await (this.#waiting.get(id)?.promise ?? this.#running.get(id))
  }

  async #startWaiting(id: string, waiting: Waiting<T>, before: Promise<T>): Promise<T> {
    if (waiting.isServed) return before
    this.#waiting.delete(id)
    // Between the end of the run before and now another may have begun, later than the waiting calls.
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

/** Calls that wait for the next run. */
interface Waiting<T> {
  promise: Promise<T>
  /** Whether the run in progress started over since they were made. */
  isServed: boolean
}
