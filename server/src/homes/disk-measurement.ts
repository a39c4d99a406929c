import type { Logger } from 'pino'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import type { DiskUse } from './disk-use.ts'

/** Interval of measurements, and max delay after one that failed, in ms. */
const [defaultInterval, retryAfter] = [600_000, 60_000]
/** Pause after a measurement, as a multiple of its duration: measuring takes at most a tenth of the time. */
const restFactor = 9

/**
 * Measures homes at intervals, while a limit needs the numbers. Separate from the reconciler, whose tasks run one after
 * the other: a measurement may take minutes.
 */
export class DiskMeasurement {
  readonly #diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'close'>
  readonly #log: Pick<Logger, 'warn'>
  readonly #task: PeriodicTask<boolean>
  #isFailing = false

  /** @param interval between two measurements, in ms */
  constructor(
    diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'close'>,
    log: Pick<Logger, 'warn'>,
    interval: number = defaultInterval,
  ) {
    this.#diskUse = diskUse
    this.#log = log
    this.#task = new PeriodicTask(
      () => this.#measure(),
      (took, isDone) => Math.max(isDone ? interval : Math.min(interval, retryAfter), took * restFactor),
    )
  }

  /** Measures now and at intervals, unless it does already; never, when no limit is set. To be called when one is. */
  start(): void {
    if (this.#diskUse.isWanted) this.#task.start()
  }

  /** Cancels a measurement in progress; resolves when it has ended. */
  async stop(): Promise<void> {
    const ended = this.#task.stop()
    this.#diskUse.close()
    await ended
  }

  /** Never throws. @returns whether it succeeded */
  async #measure(): Promise<boolean> {
    try {
      await this.#diskUse.measure()
      this.#isFailing = false
      return true
    } catch (error) {
      // Logged once: an engine that cannot measure at all would repeat it every minute.
      if (!this.#task.isStopped && !this.#isFailing)
        this.#log.warn({ err: error }, 'homes could not be measured; the measurement is retried at intervals')
      this.#isFailing = true
      return false
    }
  }
}
