import type { Logger } from 'pino'
import type { DiskUse } from '#/containers/disk/disk-use.ts'

/** Between two measurements, and at most before another attempt after one that failed, in ms. */
const [defaultInterval, retryAfter] = [600_000, 60_000]
/** A measurement that takes long reads much, and may do so for a tenth of the time only. */
const restFactor = 9

/**
 * Has homes measured now and then, as long as anybody needs the numbers. Apart from the reconciler, whose tasks follow one
 * after the other: this one may take minutes.
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

  /** Measures now and from now on; never, when no limit is set. */
  start(): void {
    if (this.#diskUse.isWanted) this.#running = this.#run()
  }

  /** Ends what is under way; resolves when it has ended. */
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
      // Said once: an engine that cannot measure at all would say it every minute.
      if (!this.#isStopped && !this.#isFailing)
        this.#log.warn({ err: error }, 'homes could not be measured; it is tried again and again')
      this.#isFailing = true
      return false
    }
  }
}
