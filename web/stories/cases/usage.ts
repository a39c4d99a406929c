import { namedTypes } from '../admin-list-fixtures.ts'
import type { UsageResponse, UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { ada } from '../user-fixtures.ts'
import { never, Refused, unreachable, type Story } from '../story.ts'

const boot = { is_admin: true }

/** Of periods that are not over. */
const homeHoursOf: Readonly<Record<string, number>> = { '2026-11-21': 150, '2026-11': 8_000 }

/** A row of which `share` of the hours are in use; values are round numbers that differ. */
function row(key: string, name: string | null, running: number, share: number, isMeasured = true): UsageRow {
  // Some 17 GiB of homes: until nine in the morning of the last day, and over whole months.
  const homeHours = homeHoursOf[key] ?? (/^\d{4}-\d{2}$/.test(key) ? 12_000 : 400)
  const unused = running * (1 - share)
  const measured = isMeasured ? 1 : 0
  return {
    key,
    name,
    running_hours: running,
    paused_hours: running / 10,
    used_hours: running * share,
    core_hours: running * 2,
    memory_gib_hours: running * 4,
    measured_hours: running * measured,
    cpu_hours: running * 0.3 * measured,
    memory_used_gib_hours: running * 1.1 * measured,
    home_gib_hours: (homeHours + running / 8) * measured,
    gpu_hours: 0,
    idle_stop_would_save: {
      '5': unused * 0.8,
      '15': unused * 0.65,
      '30': unused * 0.5,
      '60': unused * 0.4,
      '120': unused * 0.3,
      '240': unused * 0.2,
    },
  }
}

const two = (value: number) => String(value).padStart(2, '0')
/** Ten days of October and 21 of November; fewer at weekends, and none on a day when Berth did not run. */
const days: readonly string[] = [
  ...Array.from({ length: 9 }, (_, at) => `2026-10-${two(at + 23)}`),
  ...Array.from({ length: 21 }, (_, at) => `2026-11-${two(at + 1)}`),
].filter((day) => day !== '2026-11-05')
const isWeekend = (day: string) => new Date(day).getUTCDay() % 6 === 0
const dayRows = (isMeasured: boolean) =>
  days.map((day, at) => row(day, null, isWeekend(day) ? 14 : 120 + ((at * 37) % 60), 0.42, isMeasured))
const monthRows = Array.from({ length: 14 }, (_, at) => {
  const [year, month] = [2025 + Math.floor((at + 9) / 12), ((at + 9) % 12) + 1]
  return row(`${year}-${two(month)}`, null, month === 8 ? 310 : 2_400 + at * 110, 0.38)
})

const groups = ['Algorithms', 'Introduction to numerical methods for engineers', 'Physics 7b', null]
const users = ['grace@example.org', 'a.very.long.address.of.a.person@department.example.org', 'linus@example.org', null]
const rowsBy = (isMeasured: boolean) => ({
  type: [row('dev', null, 2_310, 0.45, isMeasured), row('jupyter', null, 1_104, 0.3, isMeasured)],
  group: groups.map((name, at) => row(String(at + 1), name, 900 / (at + 1), 0.5, isMeasured)),
  user: users.map((name, at) => row(String(at + 12), name, 120 / (at + 1), 0.6, isMeasured)),
})

/** What the server would say to a question of the page. */
const answering =
  ({ isMeasured = true, ...more }: Partial<UsageResponse> & { isMeasured?: boolean } = {}) =>
  ({ url }: Request): UsageResponse => {
    const query = new URL(url).searchParams
    const by = query.get('by') as 'type' | 'group' | 'user' | null
    const isMonth = query.get('unit') === 'month'
    const periods = isMonth ? monthRows : dayRows(isMeasured)
    return {
      is_recorded: true,
      is_measured: isMeasured,
      kept: { days: 30, months: 24 },
      subject: null,
      time_zone: 'UTC',
      from: isMonth ? '2024-12' : '2026-10-23',
      until: isMonth ? '2026-11' : '2026-11-21',
      rows: by === null ? periods : rowsBy(isMeasured)[by],
      next_cursor: by === 'user' && query.get('cursor') === null ? '50' : null,
      ...more,
    }
  }

const nothing = answering({ rows: [] })

/** The page about use. */
export const usageStories: readonly Story[] = [
  usage('days', '', answering()),
  usage('months', '?unit=month&stop=240', answering()),
  usage('users', '?by=user', answering()),
  usage('groups', '?by=group', answering()),
  usage('values', '', answering(), ['As a table']),
  usage('not-measured', '', answering({ isMeasured: false })),
  usage(
    'of-user',
    '?user=grace@example.org',
    answering({ subject: { kind: 'user', id: 12, name: 'grace@example.org' } }),
  ),
  usage(
    'of-group',
    '?group=2&type=dev&by=user',
    answering({ subject: { kind: 'group', id: 2, name: groups[1] ?? '' } }),
  ),
  usage('no-such-user', '?user=unknown@example.org', new Refused(404, 'There is no such user.')),
  usage('saved', '', answering(), ['Save these rows as CSV']),
  usage('none', '', nothing),
  usage('not-recorded', '', answering({ rows: [], is_recorded: false, kept: { days: 0, months: 0 } })),
  usage('loading', '', never),
  usage('unreachable', '', unreachable),
]

function usage(state: string, query: string, answer: NonNullable<Story['answers']>['usage'], press?: string[]): Story {
  return {
    name: `usage/${state}`,
    path: `/admin/usage${query}`,
    boot,
    answers: { me: ada, listContainers: namedTypes, ...(answer !== undefined && { usage: answer }) },
    ...(press && { press }),
  }
}
