import path from 'node:path'
import { auditAsCsv, auditAsJsonLines, type AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { Option } from '@commander-js/extra-typings'
import type { Client } from '@berth/api/client.ts'
import { pagesOf, defineCommand, type CommandGroup, type Usage } from '#/command.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { formatInstant, writeNewFile } from '#/terminal.ts'

interface Filter {
  readonly actor?: string
  readonly action?: string
  readonly target?: string
  readonly since?: Date
  readonly until?: Date
}

/** `berth audit ...`: reads and verifies the audit log. */
export const auditCommands: CommandGroup = {
  description: 'the audit log: list, export and verify it',
  commands: () => ({ list, export: exportLog, verify }),
}

function withFilter(command: Usage) {
  return command
    .option('--actor <who>', 'id or e-mail address of the actor; "operator root" is the command line')
    .option('--action <action>', 'action, e.g. user.block; user. matches all that start with it')
    .option('--target <target>', 'target, e.g. user:12 or container:7')
    .option('--since <when>', 'from this day or time on, e.g. 2026-11-21 or 2026-11-21T14:00Z', readInstant('--since'))
    .option('--until <when>', 'before this day or time', readInstant('--until'))
}

/** ISO 8601 alone: `Date` takes 11.12.2026 for the 12th of November, and a single number for a month. */
function readInstant(option: string): (text: string) => Date {
  return (text) => {
    const at = new Date(text)
    if (!/^\d{4}-\d{2}-\d{2}(?:$|T)/.test(text) || Number.isNaN(at.getTime()))
      throw new WrongUsage(`${option}: "${text}" is no day or instant such as 2026-11-21.`)
    return at
  }
}

const list = defineCommand({
  description: 'list entries, newest first',
  usage: (command) => withFilter(command).option('--limit <count>', 'max entries', readCount, 100),
  effect: 'Read-only. With --json each entry is one line of JSON with all details.',
  examples: [
    ['audit list --since 2026-11-21', 'entries since that day'],
    ['audit list --action user. --actor boss@example.org', 'actions of one administrator on accounts'],
  ],
  api: async ({ terminal }, api, options) => {
    let left = options.limit
    for await (const entries of entriesOf(api, options)) {
      const shown = entries.slice(0, left)
      for (const entry of shown) terminal.json(entry)
      if (shown.length > 0) terminal.table(headings, shown.map(rowOf))
      await terminal.drained()
      left -= shown.length
      if (left === 0) return
    }
    if (left === options.limit) terminal.note('Nothing.')
  },
})

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text)
  throw new WrongUsage(`--limit: "${text}" is no number of entries.`)
}

const headings = ['ID', 'AT', 'ACTOR', 'ACTION', 'TARGET', 'REASON']

const rowOf = ({ id, at, actor, action, target, detail }: AuditEntry) => [
  String(id),
  formatInstant(at),
  actor.email,
  action,
  target,
  typeof detail.reason === 'string' ? detail.reason : '',
]

/** Newest first. */
async function* entriesOf(api: Client, { actor, action, target, since, until }: Filter): AsyncGenerator<AuditEntry[]> {
  const filter = {
    ...(actor ? { actor } : {}),
    ...(action ? { action } : {}),
    ...(target ? { target } : {}),
    ...(since ? { since: since.toISOString() } : {}),
    ...(until ? { until: until.toISOString() } : {}),
  }
  for await (const { entries } of pagesOf((page) => api.listAudit({ query: { ...page, ...filter } }))) yield entries
}

const exportLog = defineCommand({
  description: 'export the log',
  usage: (command) =>
    withFilter(command)
      .addOption(
        new Option('--format <format>', 'JSON lines or CSV').choices(['jsonl', 'csv'] as const).default('jsonl'),
      )
      .option('--out <file>', 'write to this file, which must not exist, instead of stdout'),
  effect: 'Read-only. Newest entries first. The log contains no tokens or links, but e-mail and IP addresses.',
  examples: [
    ['audit export --format csv --out audit.csv', 'for a spreadsheet'],
    ['audit export --since 2026-11-01 --until 2026-12-01 | gzip > november.jsonl.gz', 'a month, to archive'],
  ],
  api: async (context, api, options) => {
    const { terminal, folder, signal } = context
    let written = 0
    const pages = async function* () {
      if (options.format === 'csv') yield auditAsCsv([])
      for await (const entries of entriesOf(api, options)) {
        signal.throwIfAborted()
        yield options.format === 'csv' ? auditAsCsv(entries, false) : auditAsJsonLines(entries)
        written += entries.length
        terminal.progress(`${written} entries written`)
      }
    }
    if (options.out === undefined) for await (const text of pages()) await terminal.write(text)
    else await writeNewFile(path.resolve(folder, options.out), options.out, pages, signal)
    terminal.endProgress()
    if (options.out !== undefined) terminal.note(`${written} entries are in ${options.out}.`)
  },
})

const verify = defineCommand({
  description: 'check that no entry was changed, removed or inserted',
  usage: (command) =>
    command
      .option('--entries <count>', 'with --head: number of entries of an earlier verify')
      .option('--head <hash>', 'with --entries: hash of an earlier verify'),
  effect:
    'Read-only; exit code 1 if an entry is wrong. Store the printed number of entries and head ' +
    'elsewhere: the owner of the database could rewrite the whole log, but not with the same head.',
  examples: [
    ['audit verify', 'check the whole log'],
    ['audit verify --entries 120 --head 9f86d081...', 'and that it continues an earlier head'],
  ],
  api: async ({ terminal }, api, query) => {
    const verdict = await api.verifyAudit({ query: { ...query } })
    terminal.json(verdict)
    const { entries, head, first_broken: broken } = verdict
    if (broken) throw new CommandFailed(`Entry ${broken.id} of the audit log is ${wordsFor[broken.what]}.`)
    terminal.print(`The audit log is whole: ${entries} entries, head ${head}.`)
  },
})

const wordsFor = {
  changed: 'not as it was written',
  missing: 'missing',
  inserted: 'not written by Berth',
} as const
