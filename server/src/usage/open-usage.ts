import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { Homes } from '#/homes/open-homes.ts'
import { settledDay, type IsSettled } from '#/machine/settled-dates.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import type { Database } from '#/store/database.ts'
import { deleteOldUsage } from '#/store/usage-sums.ts'
import { HomeUsage, UsageMeasurement } from './usage-measurement.ts'
import { UsageRecorder, UsageWriter } from './usage-recorder.ts'
import { dayBefore, monthBefore, UsageReport } from './usage-report.ts'

export type { UsageReportRow } from './usage-report.ts'

export interface UsageParts extends Pick<Foundation, 'database' | 'runtime' | 'log'> {
  readonly config: {
    readonly timeZone: string
    readonly keepUsageDays: number
    readonly keepUsageMonths: number
    readonly measureUsage: number
  }
  readonly containers: Containers
  readonly homes: Homes
  /** For tests, in ms. */
  readonly pace?: { readonly overdue?: number }
}

/**
 * The room of usage: records sums of use, unless none are kept; measures CPU time, memory and homes where that is
 * configured; and reports them.
 */
export class Usage {
  readonly isRecorded: boolean
  readonly isMeasured: boolean
  readonly report: UsageReport
  readonly task: Task
  readonly #recorder: UsageRecorder
  readonly #writer: UsageWriter
  readonly #measurement: UsageMeasurement
  readonly #homes: HomeUsage
  readonly #closeDiskUse: () => void

  constructor({ config, database, runtime, containers, homes, log, pace }: UsageParts) {
    const { timeZone, keepUsageDays: keepDays, keepUsageMonths: keepMonths } = config
    const { routeSync, activity, templates, rules } = containers
    const { directory } = rules
    const { diskUse } = homes
    this.isRecorded = keepDays > 0 || keepMonths > 0
    const interval = this.isRecorded ? config.measureUsage * 1_000 : 0
    this.isMeasured = interval > 0 && runtime.capabilities.reportsUsage
    this.report = new UsageReport(database.db, { timeZone, keepDays, keepMonths })
    this.task = usageRetention(database, timeZone, keepDays, keepMonths, settledDay(pace?.overdue))
    const recorder = new UsageRecorder({ routeSync, activity, templates, timeZone })
    const writer = new UsageWriter({ database, recorder, directory, log })
    this.#recorder = recorder
    this.#writer = writer
    this.#measurement = new UsageMeasurement({ runtime, routeSync, recorder, timeZone, interval, log })
    this.#homes = new HomeUsage({ runtime, diskUse, recorder, writer, timeZone, isWanted: interval > 0, log })
    this.#closeDiskUse = () => diskUse.close()
  }

  /** Bytes that a container took when it was measured last, by the engine's id; undefined where none is. */
  memoryOf(containerId: string): number | undefined {
    return this.#measurement.memoryOf(containerId)
  }

  start(): void {
    if (!this.isRecorded) return
    this.#recorder.start()
    this.#writer.start()
    this.#measurement.start()
    this.#homes.start()
  }

  /** Writes what is not written yet. It closes `DiskUse` first: a measurement of homes takes minutes. */
  async close(): Promise<void> {
    this.#recorder.stop()
    this.#closeDiskUse()
    await Promise.all([this.#measurement.stop(), this.#homes.stop()])
    if (this.isRecorded) await this.#writer.stop()
  }
}

/** Deletes sums whose retention is over: once a day, in as many runs as it takes. */
export function usageRetention(
  { db }: Database,
  timeZone: string,
  keepDays: number,
  keepMonths: number,
  isSettled: IsSettled,
): Task {
  let doneOn: string | undefined
  return {
    name: 'usage',
    async run(now) {
      const today = zonedDate(now.getTime(), timeZone)
      if (doneOn === today || !isSettled(now)) return {}
      const areDaysDone = await deleteOldUsage(db, 'day', dayBefore(today, keepDays - 1))
      const areMonthsDone = await deleteOldUsage(db, 'month', monthBefore(today, keepMonths - 1))
      if (areDaysDone && areMonthsDone) doneOn = today
      return {}
    },
  }
}
