import type { Logger } from 'pino'

/**
 * Something that makes the world as the store says it should be. It takes no hint about what changed, may be repeated
 * at any time, and does not retry by itself: it throws when anything is left to do, and the reconciler calls it again.
 * @returns what it did, for logs and operators
 */
export interface Task {
  readonly name: string
  run(now: Date): Promise<Record<string, number>>
}

/** Pause after the first run in which a task failed, in ms; doubled with each further one, up to the usual pause. */
const firstRetry = 1_000

/** Runs tasks at start, when activated, soon again after a failure, and at least every so often; one run at a time. */
export class Reconciler {
  readonly #tasks: readonly Task[]
  readonly #every: number
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #failedRuns = 0

  /** @param every longest pause between two runs, in ms */
  constructor(tasks: readonly Task[], every: number, log: Logger) {
    this.#tasks = tasks
    this.#every = every
    this.#log = log
  }

  /** Asks for a run soon. Asking many times while one is under way leads to one more run, not to many. */
  activate(): void {
    this.#isWanted = true
    if (!this.#isStopped) this.#running ??= this.#runWhileWanted()
  }

  /** No run begins afterwards; resolves when the present one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #runWhileWanted(): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false
      const isDone = await this.#runAll()
      this.#failedRuns = isDone ? 0 : this.#failedRuns + 1
    }
    this.#running = undefined
    if (this.#isStopped) return
    this.#timer = setTimeout(() => this.activate(), this.#pause())
    this.#timer.unref()
  }

  #pause(): number {
    return this.#failedRuns === 0 ? this.#every : Math.min(this.#every, firstRetry * 2 ** (this.#failedRuns - 1))
  }

  /** @returns whether every task did all it had to; one that failed does not keep the others from running */
  async #runAll(): Promise<boolean> {
    const outcomes: boolean[] = []
    for (const task of this.#tasks) outcomes.push(await this.#runOne(task))
    return outcomes.every(Boolean)
  }

  async #runOne(task: Task): Promise<boolean> {
    try {
      const report = await task.run(new Date())
      const isIdle = Object.values(report).every((count) => count === 0)
      if (!isIdle) this.#log.info({ task: task.name, ...report }, 'reconciled')
      return true
    } catch (error) {
      this.#log.warn({ err: error, task: task.name }, 'a reconciler task failed; it is tried again')
      return false
    }
  }
}
