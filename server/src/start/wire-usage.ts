import type { Task } from '#/containers/reconcile/reconciler.ts'
import { settledDay, type IsSettled } from '#/machine/settled-dates.ts'
import { deleteOldUsage } from '#/store/usage-sums.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import { HomeUsage, UsageMeasurement } from '#/usage/usage-measurement.ts'
import { UsageRecorder, UsageWriter } from '#/usage/usage-recorder.ts'
import { dayBefore, monthBefore, UsageReport } from '#/usage/usage-report.ts'
import type { AppParts } from './app-parts.ts'
import type { GroupRules } from './wire-groups.ts'
import type { Containers } from './wire-containers.ts'

/** Records sums of use, unless none are kept; measures CPU time, memory and homes where that is configured; and reports them. */
export function wireUsage(
  { config, database, runtime, pace, log }: AppParts,
  { routeSync, activity, diskUse }: Containers,
  { directory }: GroupRules,
) {
  const { timeZone, keepUsageDays: keepDays, keepUsageMonths: keepMonths, templates } = config
  const isRecorded = keepDays > 0 || keepMonths > 0
  const recorder = new UsageRecorder({ routeSync, activity, templates, timeZone })
  const writer = new UsageWriter({ database, recorder, directory, log })
  const interval = isRecorded ? config.measureUsage * 1_000 : 0
  const measurement = new UsageMeasurement({ runtime, routeSync, recorder, timeZone, interval, log })
  const homes = new HomeUsage({ runtime, diskUse, recorder, writer, timeZone, isWanted: interval > 0, log })
  return {
    isRecorded,
    isMeasured: interval > 0 && runtime.capabilities.reportsUsage,
    report: new UsageReport(database.db, { timeZone, keepDays, keepMonths }),
    task: usageRetention(database, timeZone, keepDays, keepMonths, settledDay(pace?.overdue)),
    writer,
    recorder,
    start: () => {
      if (!isRecorded) return
      recorder.start()
      writer.start()
      measurement.start()
      homes.start()
    },
    /** Closes `DiskUse` first: a measurement of homes takes minutes. */
    stop: async () => {
      recorder.stop()
      diskUse.close()
      await Promise.all([measurement.stop(), homes.stop()])
      if (isRecorded) await writer.stop()
    },
  }
}

/** Deletes sums whose retention is over: once a day, in as many runs as it takes. */
export function usageRetention(
  { db }: AppParts['database'],
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

export type Usage = ReturnType<typeof wireUsage>
