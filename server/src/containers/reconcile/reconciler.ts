import type { Logger } from 'pino'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { runForNoRequest } from '#/machine/log-context.ts'
import { RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'

/**
 * A periodic duty of the reconciler that brings the real state to the desired one. It depends on no hint about changes,
 * is idempotent, and does not retry by itself: it throws when anything is left to do, and the reconciler calls it
 * again.
 * @returns what it did, for logs and operators
 */
export interface Task {
  readonly name: string
  run(now: Date): Promise<Record<string, number>>
}

/** Thrown by a task that did a part of its work, with the causes of the rest. */
export class Unfinished extends Error {
  readonly reasons: readonly unknown[]
  /** What is left to do must not wait for long, such as the stop of a blocked container. */
  readonly isUrgent: boolean

  constructor(reasons: readonly unknown[], { isUrgent = false } = {}) {
    super(`${reasons.length} things are left to do`, { cause: reasons[0] })
    this.name = 'Unfinished'
    this.reasons = reasons
    this.isUrgent = isUrgent
  }
}

/** Report of the last run, for operators. */
export interface ReconcilerReport {
  /** When the last run ended; null before the first did. */
  readonly lastRun: Date | null
  /** When the last run without a failure ended. */
  readonly lastSuccess: Date | null
  /** ms */
  readonly duration: number | null
  /** Whether the engine answered in the last run, apart from calls about single containers. */
  readonly isEngineAnswering: boolean
  /** Failures of the last run, without anything secret. */
  readonly failures: readonly LocalizedMessage[]
  /** Since this process began. */
  readonly failuresInAll: number
  /** Runs since this process began, by whether every task finished. */
  readonly runs: { readonly done: number; readonly failed: number }
}

/** Pause after the first run in which a task failed, in ms; doubled with each further one, up to the usual pause. */
const firstRetry = 1_000
/**
 * Max pause while something urgent is left to do, in ms, or so many times what the last run took, so that an engine which never does
 * it costs a large installation a sixth of a core: an engine that fails at one container says nothing once it would not.
 */
const [urgentRetry, urgentShare] = [2_000, 5]
/** Max failures in the report; each has its cause in the log. */
const maxFailures = 20

/**
 * Brings store and engine together again (eventual consistency): runs tasks at the start, when activated, soon after a
 * failure, and at intervals; one run at a time.
 */
export class Reconciler {
  #tasks: readonly Task[] = []
  readonly #interval: number
  readonly #log: Logger
  #onRun: () => void = () => undefined
  #now = async () => new Date()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isWanted = false
  #isStarted = false
  #isStopped = false
  #failedRuns = 0
  /** Names of tasks that have something urgent left to do. */
  #urgent: ReadonlySet<string> = new Set()
  #report: ReconcilerReport = {
    lastRun: null,
    lastSuccess: null,
    duration: null,
    isEngineAnswering: false,
    failures: [],
    failuresInAll: 0,
    runs: { done: 0, failed: 0 },
  }

  /** @param interval max pause between two runs, in ms */
  constructor(interval: number, log: Logger) {
    this.#interval = interval
    this.#log = log
  }

  /**
   * Begins the first run. @param onRun called before each run; must not throw @param now the time, once stored instants
   * are adjusted to it; must have a timeout of its own, and must not reject
   */
  start(tasks: readonly Task[], onRun = this.#onRun, now = this.#now): void {
    this.#tasks = tasks
    this.#onRun = onRun
    this.#now = now
    this.#isStarted = true
    this.activate()
  }

  /**
   * Requests a run soon; before `start` the request is only noted. Any number of requests during a run lead to one more run.
   */
  activate(): void {
    this.#isWanted = true
    if (this.#isStarted && !this.#isStopped) this.#running ??= runForNoRequest(() => this.#runWhileWanted())
  }

  /** Whether a requested run has not begun. */
  get isWanted(): boolean {
    return this.#isWanted
  }

  report(): ReconcilerReport {
    return this.#report
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
    if (this.#failedRuns === 0) return this.#interval
    const retry = Math.min(this.#interval, firstRetry * 2 ** (this.#failedRuns - 1))
    if (this.#urgent.size === 0) return retry
    return Math.min(retry, Math.max(urgentRetry, urgentShare * (this.#report.duration ?? 0)))
  }

  /** A task that failed as a whole knows nothing new of what was urgent. The return of an engine that is away requests a run by itself. */
  #isUrgent({ task, isUrgent, isOfTask, reason }: Failure): boolean {
    return isUrgent || (isOfTask && this.#urgent.has(task) && !isEngineUnreachable(reason))
  }

  /** @returns whether every task finished; a failed task does not keep the others from running */
  async #runAll(): Promise<boolean> {
    const began = performance.now()
    const failures: Failure[] = []
    this.#onRun()
    for (const task of this.#tasks) failures.push(...(await this.#runOne(task)))
    const [lastRun, isDone] = [new Date(), failures.length === 0]
    this.#urgent = new Set(failures.filter((failure) => this.#isUrgent(failure)).map(({ task }) => task))
    const { done, failed } = this.#report.runs
    this.#report = {
      lastRun,
      lastSuccess: isDone ? lastRun : this.#report.lastSuccess,
      duration: performance.now() - began,
      isEngineAnswering: !failures.some(({ isOfTask, reason }) => isOfTask && isEngineUnreachable(reason)),
      failures: failures.slice(0, maxFailures).map(sentenceOf),
      failuresInAll: this.#report.failuresInAll + failures.length,
      runs: { done: done + Number(isDone), failed: failed + Number(!isDone) },
    }
    return isDone
  }

  /** @returns its failures */
  async #runOne(task: Task): Promise<Failure[]> {
    try {
      const report = await task.run(await this.#now())
      const isIdle = Object.values(report).every((count) => count === 0)
      if (!isIdle) this.#log.info({ task: task.name, ...report }, 'reconciled')
      return []
    } catch (error) {
      this.#log.warn({ err: error, task: task.name }, 'a reconciler task failed; it is retried')
      const isOfTask = !(error instanceof Unfinished)
      const { reasons, isUrgent } = isOfTask ? { reasons: [error], isUrgent: false } : error
      return reasons.map((reason) => ({ task: task.name, isOfTask, isUrgent, reason }))
    }
  }
}

interface Failure {
  readonly task: string
  /** Whether the task failed as a whole, and not at one of many items. */
  readonly isOfTask: boolean
  readonly isUrgent: boolean
  readonly reason: unknown
}

const isEngineUnreachable = (reason: unknown): boolean =>
  reason instanceof RuntimeError
    ? reason.kind === 'unreachable'
    : reason instanceof Error && isEngineUnreachable(reason.cause)

const words: Partial<Record<RuntimeErrorKind, LocalizedMessage>> = {
  unreachable: message('warnings.engineUnreachable'),
  missing: message('warnings.noContainer'),
  conflict: message('warnings.nameTaken'),
  image: message('warnings.noImage'),
  lost: message('warnings.nodeLost'),
}

/** Only a runtime's description of its operation, in English, is known to contain neither paths nor addresses. */
function sentenceOf({ task, reason }: Failure): LocalizedMessage {
  const what =
    reason instanceof RuntimeError
      ? message('warnings.engineFailed', {
          doing: reason.message,
          why: words[reason.kind] ?? message('warnings.engineCannot'),
        })
      : message('warnings.seeLog')
  return message('warnings.leftToDo', { task, what })
}
