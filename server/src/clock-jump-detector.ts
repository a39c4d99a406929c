import type { Logger } from 'pino'
import { withTimeout } from './concurrency/try-or-log.ts'

/** How far the clock may be from where it should be, in ms, before it counts as moved: less is what time servers correct. */
const tolerance = 60_000
/** Between two looks when nobody asks for the time, in ms. */
const checkInterval = 1_000
/** How long whoever asks for the time waits until what is stored is read as the moved clock asks for, in ms. */
const handlerTimeout = 5_000

/** The clock was moved: by an administrator, by a time server, or because the machine slept. */
export interface ClockJump {
  /** ms; negative when it was set back. */
  readonly by: number
  /** What the clock said, or would have said, when it was moved; by a clock that was set back nothing later has happened. */
  readonly before: Date
  /** What it says now. */
  readonly now: Date
}

/** What makes everything follow a jump. Each step is called again until it resolves. */
export interface ClockSteps {
  /** Short; when it resolves everything is as it has to be for who asks. */
  begin(): Promise<void>
  /** What may take its time, and nobody waits for. */
  finish(): Promise<void>
}

export interface ClockJumpHandler {
  /** Called once for each jump, before anything else happens. */
  handle(jump: ClockJump): ClockSteps
}

/**
 * Detects jumps of the system clock by comparing it with a monotonic clock (`performance.now`, which counts from our
 * start). Everything that is stored is by the first: it means the same after a restart and to people.
 */
export class ClockJumpDetector {
  readonly #handler: ClockJumpHandler
  readonly #log: Pick<Logger, 'warn'>
  #offset = Date.now() - performance.now()
  /** What is still to follow earlier jumps. */
  readonly #steps: { readonly steps: ClockSteps; hasBegun: boolean }[] = []
  #handling: Promise<void> | undefined
  /** Resolves when all jumps that are known have begun to be followed, or that failed. */
  #beginning: PromiseWithResolvers<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(handler: ClockJumpHandler, log: Pick<Logger, 'warn'>) {
    this.#handler = handler
    this.#log = log
  }

  /**
   * Begins to watch. @param latest when the last thing happened that is known of; when that lies in the future, the clock
   * was set back while we were not there
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

  /** The time, once everything is read by the moved clock; at most five seconds later when it cannot be. */
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

  /** In order; one that fails is repeated at the next look. Never rejects. */
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
      this.#log.warn({ err: error }, 'following the clock failed; it is tried again')
    }
  }
}
