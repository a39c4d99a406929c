import path from 'node:path'
import { auditAsCsv, auditAsJsonLines, type AuditEntry } from '@berth/api/schemas/audit.ts'
import type { Client } from '@berth/api/client.ts'
import { Option, type Command } from 'commander'
import { CommandFailed, WrongUsage } from '#/cli/command-failure.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { writeNewFile } from '#/cli/write-file.ts'
import { formatInstant } from '#/cli/output/words.ts'

/** Entries asked for at a time. */
const page = '500'

interface Filter {
  readonly actor?: string
  readonly action?: string
  readonly target?: string
  readonly since?: Date
  readonly until?: Date
}

/** `berth audit ...`: who did what to whom. */
export function addAudit(program: Command, run: Run): void {
  const audit = program.command('audit').description('the audit log: list, export and verify it')
  addList(audit, run)
  addExport(audit, run)
  addVerify(audit, run)
}

function withFilter(command: Command): Command {
  return command
    .option('--actor <who>', 'id or e-mail address of whoever did it; "operator root" is a command line')
    .option('--action <action>', 'what was done, e.g. user.block; user. stands for all that begin so')
    .option('--target <target>', 'to what it was done, e.g. user:12 or container:7')
    .option(
      '--since <when>',
      'not before this day or instant, e.g. 2026-11-21 or 2026-11-21T14:00Z',
      readInstant('--since'),
    )
    .option('--until <when>', 'before this day or instant', readInstant('--until'))
}

function readInstant(option: string): (text: string) => Date {
  return (text) => {
    const at = new Date(text)
    if (Number.isNaN(at.getTime()))
      throw new WrongUsage(`${option}: "${text}" is no day or instant such as 2026-11-21.`)
    return at
  }
}

function addList(audit: Command, run: Run): void {
  const list = withFilter(audit.command('list').description('list what was done, the newest first'))
    .option('--limit <count>', 'so many entries at most', readCount, 100)
    .action((options: Filter & { limit: number }) =>
      run((context) => withApi(context, (api) => listEntries(context, api, options))),
    )
  addHelp(list, {
    effect: 'Only reads. With --json each entry is one line of JSON, with all its details.',
    examples: [
      ['audit list --since 2026-11-21', 'what was done since that day'],
      ['audit list --action user. --actor boss@example.org', 'what one administrator did to accounts'],
    ],
  })
}

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text)
  throw new WrongUsage(`--limit: "${text}" is no number of entries.`)
}

async function listEntries(
  { terminal }: CommandContext,
  api: Client,
  options: Filter & { limit: number },
): Promise<void> {
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
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const { entries, next_cursor } = await api.listAudit({
      query: { limit: page, ...filter, ...(cursor ? { cursor } : {}) },
    })
    yield entries
    cursor = next_cursor ?? undefined
    isLast = next_cursor === null
  }
}

interface ExportOptions extends Filter {
  readonly format: 'jsonl' | 'csv'
  readonly out?: string
}

function addExport(audit: Command, run: Run): void {
  const command = withFilter(
    audit.command('export').description('write the whole log, for keeping or for a spreadsheet'),
  )
    .addOption(new Option('--format <format>', 'lines of JSON, or CSV').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--out <file>', 'write here instead of to the output; the file must not exist yet')
    .action((options: ExportOptions) =>
      run((context) => withApi(context, (api) => exportEntries(context, api, options))),
    )
  addHelp(command, {
    effect: 'Only reads. The newest entries come first. Nothing secret is in the log: it can be handed on.',
    examples: [
      ['audit export --format csv --out audit.csv', 'for a spreadsheet'],
      ['audit export --since 2026-11-01 --until 2026-12-01 | gzip > november.jsonl.gz', 'a month, for keeping'],
    ],
  })
}

async function exportEntries(context: CommandContext, api: Client, options: ExportOptions): Promise<void> {
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
}

interface VerifyOptions {
  readonly entries?: string
  readonly head?: string
}

function addVerify(audit: Command, run: Run): void {
  const verify = audit
    .command('verify')
    .description('find out whether a line of the log was changed, taken out or put in')
    .option('--entries <count>', 'with --head: what an earlier verify said, which the log must still have')
    .option('--head <hash>', 'with --entries: the hash that it said')
    .action((options: VerifyOptions) => run((context) => withApi(context, (api) => verifyLog(context, api, options))))
  addHelp(verify, {
    effect:
      'Only reads; exit code 1 when something is wrong. Keep the number of entries and the head that it prints somewhere ' +
      'else: who can write to the store could make the whole log anew, but not one that has the same head.',
    examples: [
      ['audit verify', 'every line is as it was written'],
      ['audit verify --entries 120 --head 9f86d081...', 'and it goes on from what was noted down earlier'],
    ],
  })
}

async function verifyLog({ terminal }: CommandContext, api: Client, query: VerifyOptions): Promise<void> {
  const verdict = await api.verifyAudit({ query: { ...query } })
  terminal.json(verdict)
  const { entries, head, first_broken: broken } = verdict
  if (broken) throw new CommandFailed(`Entry ${broken.id} of the audit log is ${wordsFor[broken.what]}.`)
  terminal.print(`The audit log is whole: ${entries} entries, head ${head}.`)
}

const wordsFor = {
  changed: 'not as it was written',
  missing: 'missing',
  inserted: 'not by Berth: somebody put it in',
} as const
