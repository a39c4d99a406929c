import type { UsageRow } from '@berth/api/schemas/administration/usage.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readLimit } from '#/http/handlers/parameters.ts'
import type { UsageReport, UsageReportRow } from '#/usage/usage-report.ts'
import { savedBy, type IdleMinutes } from '#/usage/usage-samples.ts'

export interface UsageParts {
  readonly report: UsageReport
  readonly isRecorded: boolean
}

export function usageHandlers({ report, isRecorded }: UsageParts): Pick<Handlers, 'usage'> {
  return {
    usage: async ({ query, now }) => {
      const { unit = 'day', by = 'period', from, until, type, group, user, limit, cursor } = query
      const page = await report.read(
        {
          unit,
          by,
          from,
          until,
          type,
          groupId: numberOf(group),
          userId: numberOf(user),
          limit: readLimit(limit, 100),
          offset: Number(cursor ?? 0),
        },
        now,
      )
      return {
        is_recorded: isRecorded,
        time_zone: report.settings.timeZone,
        from: page.from,
        until: page.until,
        rows: page.rows.map(toRow),
        next_cursor: page.nextOffset === null ? null : String(page.nextOffset),
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
