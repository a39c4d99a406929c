import type { Logger } from 'pino'
import { withTimeout } from './try-or-log.ts'

/** Max deviation of the wall clock, in ms, that is no jump: time servers correct less than this. */
const tolerance = 60_000
/** Interval of checks when no request reads the time, in ms. */
const checkInterval = 1_000
/** Timeout of a request that waits until stored instants are adjusted to a jump, in ms. */
const handlerTimeout = 5_000

/** The wall clock was set by an administrator or a time server, or the machine was suspended. */
export interface ClockJump {
  /** ms; negative when it was set back. */
  readonly by: number
  /** What the clock showed, or would have shown, at the jump; after a jump back no stored instant is later. */
  readonly before: Date
  /** What it shows now. */
  readonly now: Date
}

/** Adjusts the system to a jump. Each step is repeated until it resolves. */
export interface ClockSteps {
  /** Short; when it resolves, requests read adjusted instants. */
  begin(): Promise<void>
  /** May take long; no request waits for it. */
  finish(): Promise<void>
}

export interface ClockJumpHandler {
  /** Called once for each jump, before anything else happens. */
  handle(jump: ClockJump): ClockSteps
}

/**
 * Detects jumps of the system clock by comparing it with the monotonic clock (`performance.now`, which counts from the
 * process's start). Stored instants are wall-clock times: they keep their meaning after a restart, and for people.
 */
export class ClockJumpDetector {
  readonly #handler: ClockJumpHandler
  readonly #log: Pick<Logger, 'warn'>
  #offset = Date.now() - performance.now()
  /** Steps of earlier jumps that are not done. */
  readonly #steps: { readonly steps: ClockSteps; hasBegun: boolean }[] = []
  #handling: Promise<void> | undefined
  /** Resolves when `begin` of all known jumps has succeeded or failed. */
  #beginning: PromiseWithResolvers<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(handler: ClockJumpHandler, log: Pick<Logger, 'warn'>) {
    this.#handler = handler
    this.#log = log
  }

  /**
   * Starts the detection. @param latest stored instant; when it lies in the future, the clock was set back while Berth
   * did not run
   */
  async start(latest: Date | null): Promise<void> {
    const ahead = (latest?.getTime() ?? 0) - Date.now()
    if (ahead > tolerance) this.#notice(-ahead)
    this.#timer = setInterval(() => this.#check(), checkInterval)
    this.#timer.unref()
    await this.#handling
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The time, once stored instants are adjusted; after five seconds at most when that fails. */
  async now(): Promise<Date> {
    this.#check()
    if (this.#beginning) await withTimeout(handlerTimeout, this.#beginning.promise)
    return new Date()
  }

  #check(): void {
    const by = Date.now() - performance.now() - this.#offset
    if (Math.abs(by) > tolerance) this.#notice(by)
    else if (this.#steps.length > 0) this.#continue()
  }

  #notice(by: number): void {
    this.#offset = Date.now() - performance.now()
    const now = new Date()
    const jump = { by, before: new Date(now.getTime() - by), now }
    const seconds = Math.round(Math.abs(by) / 1_000)
    this.#log.warn(
      jump,
      `the clock was ${by < 0 ? `set back by ${seconds} s` : `moved forward by ${seconds} s, or stood`}`,
    )
    this.#steps.push({ steps: this.#handler.handle(jump), hasBegun: false })
    this.#continue()
  }

  #continue(): void {
    if (!this.#steps.every(({ hasBegun }) => hasBegun)) this.#beginning ??= Promise.withResolvers()
    this.#handling ??= this.#takeSteps().finally(() => {
      this.#handling = undefined
      this.#endWait()
    })
  }

  #endWait(): void {
    this.#beginning?.resolve()
    this.#beginning = undefined
  }

  /** In order; a failed step is repeated with the next check. Never rejects. */
  async #takeSteps(): Promise<void> {
    try {
      for (let step = this.#steps[0]; step; step = this.#steps[0]) {
        if (!step.hasBegun) await step.steps.begin()
        step.hasBegun = true
        if (this.#steps.every(({ hasBegun }) => hasBegun)) this.#endWait()
        await step.steps.finish()
        this.#steps.shift()
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'adjusting to a clock jump failed; it is retried')
    }
  }
}
