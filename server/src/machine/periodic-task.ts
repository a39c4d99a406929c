/**
 * Runs work again and again, one run at a time, with a pause after each that depends on how long it took. Unlike an
 * interval it never runs twice at once, and a stop waits for the run in progress.
 */
export class PeriodicTask<T> {
  readonly #work: () => Promise<T>
  readonly #pauseAfter: (took: number, result: T) => number
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  /**
   * @param work never throws: what a failure means, and whether it is logged, only the work knows
   * @param pauseAfter pause until the next run, in ms, after one that took so many ms
   */
  constructor(work: () => Promise<T>, pauseAfter: (took: number, result: T) => number) {
    this.#work = work
    this.#pauseAfter = pauseAfter
  }

  /** Whether `stop` was called: a long run looks at it between its steps. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /**
   * Runs now and after each pause; without effect when it does already, or was stopped. The process may end in a pause.
   */
  start(): void {
    if (!this.#isStopped) this.#running ??= this.#run()
  }

  /** No run begins from now on; resolves when the one in progress has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const began = performance.now()
    const result = await this.#work()
    if (this.#isStopped) return
    const pause = this.#pauseAfter(performance.now() - began, result)
    this.#timer = setTimeout(() => (this.#running = this.#run()), pause).unref()
  }
}
