import { usageAsCsv, type UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { Option } from '@commander-js/extra-typings'
import { pagesOf, defineCommand } from '#/command.ts'
import { findGroup, findUser } from '#/find-users.ts'

/** `berth usage`. */
export const usage = defineCommand({
  description: 'show hours running and in use, cores and memory, and what an idle stop would have saved',
  usage: (command) =>
    command
      .addOption(
        new Option('--by <what>', 'rows').choices(['period', 'type', 'group', 'user'] as const).default('period'),
      )
      .addOption(new Option('--unit <unit>', 'sums by day or month').choices(['day', 'month'] as const).default('day'))
      .option('--from <period>', 'first day (2026-11-01) or month (2026-11)')
      .option('--until <period>', 'last day or month, included')
      .option('--type <type>', 'of this container type')
      .option('--group <group>', 'of members of this group: name or id')
      .option('--user <user>', 'of this user: e-mail address or id')
      .option('--csv', 'print CSV'),
  effect:
    'Read-only. CORE H and GIB H are what the templates allow; CPU H, USED GIB H and HOMES GIB H are measured, where ' +
    'MEASURE_USAGE is set. Days are those of the time zone TZ. Use of the last five minutes may be missing.',
  examples: [
    ['usage', 'each of the last 30 days'],
    ['usage --by user --unit month --csv', 'users of this month, for a spreadsheet'],
    ['usage --by type --from 2026-11-01 --until 2026-11-30', 'container types in November'],
  ],
  api: async ({ terminal }, api, options) => {
    const { csv, group, user, ...rest } = options
    const query = {
      ...rest,
      // A spreadsheet sorts by itself, and 100,000 users are read page by page.
      ...(csv ? { sort: 'key' as const } : {}),
      ...(group === undefined ? {} : { group: String((await findGroup(api, group)).id) }),
      ...(user === undefined ? {} : { user: String((await findUser(api, user)).id) }),
    }
    if (csv) await terminal.write(usageAsCsv([]))
    let saved = 0
    let running = 0
    for await (const { rows, is_recorded } of pagesOf((page) => api.usage({ query: { ...query, ...page } }))) {
      for (const row of rows) {
        saved += row.idle_stop_would_save['30']
        running += row.running_hours
        if (!csv) terminal.json(row)
      }
      if (csv) await terminal.write(usageAsCsv(rows, false))
      else if (rows.length > 0) terminal.table(headings, rows.map(cellsOf))
      await terminal.drained()
      if (!is_recorded) terminal.note('No use is recorded: KEEP_USAGE_DAYS and KEEP_USAGE_MONTHS are 0.')
    }
    if (running === 0) terminal.note('Nothing ran.')
    else
      terminal.note(
        `An idle stop after 30 minutes would have saved ${saved.toFixed(1)} of ${running.toFixed(1)} hours (${Math.round((100 * saved) / running)} %).`,
      )
  },
})

const headings = [
  'KEY',
  'NAME',
  'RUNNING H',
  'PAUSED H',
  'IN USE H',
  'CORE H',
  'CPU H',
  'GIB H',
  'USED GIB H',
  'HOMES GIB H',
  'IDLE > 30 MIN H',
  'GPU H',
]

const cellsOf = (row: UsageRow) => [
  row.key,
  row.name ?? '',
  ...[
    row.running_hours,
    row.paused_hours,
    row.used_hours,
    row.core_hours,
    row.cpu_hours,
    row.memory_gib_hours,
    row.memory_used_gib_hours,
    row.home_gib_hours,
    row.idle_stop_would_save['30'],
    row.gpu_hours,
  ].map((hours) => hours.toFixed(2)),
]
