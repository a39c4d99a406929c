import type { UsageRow } from '@berth/api/schemas/administration/usage.ts'
import type { Handlers } from './handler-types.ts'
import { readLimit } from './request-parameters.ts'
import type { UsageReport, UsageReportRow } from '#/usage/usage-report.ts'
import { savedBy, type IdleMinutes } from '#/usage/usage-samples.ts'

export interface UsageParts {
  readonly report: UsageReport
  readonly isRecorded: boolean
  readonly isMeasured: boolean
}

export function usageHandlers({ report, isRecorded, isMeasured }: UsageParts): Pick<Handlers, 'usage'> {
  return {
    usage: async ({ query, now }) => {
      const { unit = 'day', by = 'period', from, until, type, group, user, sort = 'running', limit, cursor } = query
      const page = await report.read(
        {
          unit,
          by,
          from,
          until,
          type,
          groupId: numberOf(group),
          user,
          limit: readLimit(limit, 100),
          sort,
          after: Number(cursor ?? 0),
        },
        now,
      )
      return {
        is_recorded: isRecorded,
        is_measured: isMeasured,
        kept: { days: report.settings.keepDays, months: report.settings.keepMonths },
        subject: page.subject,
        time_zone: report.settings.timeZone,
        from: page.from,
        until: page.until,
        rows: page.rows.map(toRow),
        next_cursor: page.next === null ? null : String(page.next),
      }
    },
  }
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

/** Three digits are seconds. */
const hours = (seconds: number) => Math.round((seconds / 3_600) * 1_000) / 1_000

function toRow({ key, name, sums }: UsageReportRow): UsageRow {
  const saved = (minutes: IdleMinutes) => hours(savedBy(minutes, sums))
  return {
    key: String(key),
    name,
    running_hours: hours(sums.running_s),
    paused_hours: hours(sums.paused_s),
    used_hours: hours(sums.used_s),
    core_hours: hours(sums.core_s),
    memory_gib_hours: hours(sums.memory_mib_s / 1_024),
    measured_hours: hours(sums.measured_s),
    cpu_hours: hours(sums.cpu_used_ms / 1_000),
    memory_used_gib_hours: hours(sums.memory_used_mib_s / 1_024),
    home_gib_hours: hours(sums.home_mib_s / 1_024),
    idle_stop_would_save: {
      '5': saved(5),
      '15': saved(15),
      '30': saved(30),
      '60': saved(60),
      '120': saved(120),
      '240': saved(240),
    },
  }
}
