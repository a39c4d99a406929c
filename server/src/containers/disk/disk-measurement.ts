import type { Logger } from 'pino'
import type { DiskUse } from '#/containers/disk/disk-use.ts'

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
  readonly #interval: number
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false
  #isFailing = false

  /** @param interval between two measurements, in ms */
  constructor(
    diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'close'>,
    log: Pick<Logger, 'warn'>,
    interval: number = defaultInterval,
  ) {
    this.#diskUse = diskUse
    this.#log = log
    this.#interval = interval
  }

  /** Measures now and at intervals, unless it does already; never, when no limit is set. To be called when one is. */
  start(): void {
    if (this.#diskUse.isWanted && !this.#isStopped) this.#running ??= this.#run()
  }

  /** Cancels a measurement in progress; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#diskUse.close()
    await this.#running
  }

  /** Never throws. */
  async #run(): Promise<void> {
    const began = performance.now()
    const isDone = await this.#measure()
    if (this.#isStopped) return
    const took = performance.now() - began
    const pause = Math.max(isDone ? this.#interval : Math.min(this.#interval, retryAfter), took * restFactor)
    this.#timer = setTimeout(() => (this.#running = this.#run()), pause).unref()
  }

  async #measure(): Promise<boolean> {
    try {
      await this.#diskUse.measure()
      this.#isFailing = false
      return true
    } catch (error) {
      // Logged once: an engine that cannot measure at all would repeat it every minute.
      if (!this.#isStopped && !this.#isFailing)
        this.#log.warn({ err: error }, 'homes could not be measured; the measurement is retried at intervals')
      this.#isFailing = true
      return false
    }
  }
}
