import type { Logger } from 'pino'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { DiskUse } from '#/homes/disk-use.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { mebibyte, noUsage } from './usage-samples.ts'
import type { UsageWriter } from './usage-writer.ts'

/** From the begin of one measurement to that of the next, in ms: every file of every home is looked at. */
const homeInterval = 3_600_000
/** Pause after a measurement, as a multiple of its duration. */
const restFactor = 9
/** Homes between two writes: there may be 100,000 of them. */
const chunkSize = 1_000

export interface HomeUsageParts {
  readonly runtime: Pick<Runtime, 'capabilities'>
  readonly diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'sizes'>
  readonly recorder: Pick<UsageRecorder, 'add'>
  readonly writer: Pick<UsageWriter, 'write'>
  /** Time zone of the days. */
  readonly timeZone: string
  readonly isWanted: boolean
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Sums up the sizes of homes, measured once an hour. Homes of containers that do not run count, too; those of accounts
 * that are gone do not.
 */
export class HomeUsage {
  readonly #parts: HomeUsageParts
  readonly #task: PeriodicTask<void>
  #countedAt: number | undefined

  constructor(parts: HomeUsageParts) {
    this.#parts = parts
    this.#task = new PeriodicTask(
      () => this.pass(),
      (took) => Math.max(homeInterval - took, took * restFactor),
    )
  }

  /** Measures at intervals; never, where it is not wanted or the engine cannot. */
  start(): void {
    const { isWanted, runtime } = this.#parts
    if (isWanted && runtime.capabilities.measuresHomes) this.#task.start()
  }

  /** Resolves when the pass in progress has ended: soon, when `DiskUse` was closed before, which cancels a measurement. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /**
   * Measures, and counts the time since the last pass, two intervals at most, with the present sizes. The first pass
   * begins the time and measures nothing: there is no time yet that sizes could count for. Never throws; after a failure
   * the next pass counts that time, too.
   */
  async pass(): Promise<void> {
    const { diskUse, log } = this.#parts
    const before = this.#countedAt
    if (before === undefined) {
      this.#countedAt = performance.now()
      return
    }
    const isMeasured = await tryOrLog(log, 'measuring homes for sums of use', async () => {
      // Where a limit is set, they are measured every ten minutes already.
      if (!diskUse.isWanted) await diskUse.measure()
      return true
    })
    if (!isMeasured || this.#task.isStopped) return
    const now = performance.now()
    this.#countedAt = now
    await this.#count(Math.min(now - before, 2 * homeInterval) / 1_000)
  }

  async #count(seconds: number): Promise<void> {
    const { diskUse, recorder, writer, timeZone } = this.#parts
    const day = zonedDate(Date.now(), timeZone)
    let counted = 0
    for (const { userId, type, bytes } of diskUse.sizes()) {
      const size = Math.round((bytes / mebibyte) * seconds)
      recorder.add({ day, userId, type, sums: { ...noUsage, home_mib_s: size } })
      if (++counted % chunkSize === 0) await writer.write()
      if (this.#task.isStopped) return
    }
  }
}
