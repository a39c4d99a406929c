import { setTimeout as sleep } from 'node:timers/promises'
import type { Group } from '@berth/api/schemas/groups.ts'
import type { PreviewedMember, TermEnd, TermEndResponse, TermEndSums } from '@berth/api/schemas/groups/term-end.ts'
import type { Client } from '@berth/api/client.ts'
import { instantOption, pagesOf, printPages, defineCommand } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { findService } from '#/find-service.ts'
import { formatCount, formatInstant } from '#/terminal.ts'
import { formatBytes } from '@berth/texts/localized-message.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { findGroup } from '#/find-users.ts'

interface TermEndCommandOptions {
  readonly keepUntil?: string
  readonly removeAt?: string
  readonly keepAccounts?: true
  readonly preview?: true
  readonly cancel?: true
  readonly retry?: true
  readonly forget?: string
  readonly wait?: true
  readonly yes?: true
}

const day = 86_400_000

/** Between two looks, in ms. */
const interval = 1_000

/** `berth groups end-term`. */
export const endTermCommand = defineCommand({
  description: 'end the term of a group: archive homes, mail links, remove containers, homes and accounts',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .option(
        '--keep-until <instant>',
        'begin; archives are kept until then, e.g. 2027-10-31T00:00:00Z',
        instantOption('--keep-until'),
      )
      .option(
        '--remove-at <instant>',
        'nothing is removed before, and until then it can be cancelled',
        instantOption('--remove-at'),
      )
      .option('--keep-accounts', 'remove no account')
      .option('--preview', 'list what it will do, and change nothing')
      .option('--cancel', 'cancel it before its removal')
      .option('--retry', 'go on where it failed')
      .option('--forget <address>', 'delete the archives of one member before their date, with the address')
      .option('--wait', 'wait until it is done; fails when a member is left')
      .option('--yes', 'do not ask for confirmation'),
  effect:
    'Without an option it says how far the end of term is. --keep-until begins it: the group ends at once, and the ' +
    'service does the rest in the background, also after a restart. Managers, administrators and blocked users stay ' +
    'as they are. Asks for confirmation; without a terminal it needs --yes.',
  examples: [
    ['groups end-term "Physics 7b" --preview', 'who and what would be removed'],
    [
      'groups end-term "Physics 7b" --remove-at 2027-08-07T00:00:00Z --keep-until 2027-10-31T00:00:00Z --yes',
      'archives and mails now, removes in a week',
    ],
    ['groups end-term "Physics 7b" --cancel', 'deletes the archives; nothing was removed'],
  ],
  api: async (context, api, target, options) => {
    const { keepUntil, removeAt, preview, cancel, retry, forget, wait, yes = false } = options
    if ([keepUntil, preview, cancel, retry, forget].filter((each) => each !== undefined).length > 1)
      throw new WrongUsage('Say one of --keep-until, --preview, --cancel, --retry and --forget.')
    if (removeAt !== undefined && keepUntil === undefined) throw new WrongUsage('--remove-at needs --keep-until.')
    // The service removes at once what is to be removed before now. The beginning of today may be meant, in any time zone.
    if (removeAt !== undefined && Date.parse(removeAt) < Date.now() - day)
      throw new WrongUsage(
        `--remove-at ${removeAt} is over. Without it the removal begins when all is archived and mailed.`,
      )
    const group = await findGroup(api, target)
    const params = { id: String(group.id) }
    if (preview) return showPreview(context, api, group, options)
    if (forget !== undefined) return forgetMember(context, api, group, { address: forget, yes })
    if (cancel) return context.terminal.print((await api.cancelTermEnd({ params })).message)
    const change = () => {
      if (keepUntil !== undefined) return begin(context, api, group, keepUntil, options)
      return retry ? api.retryTermEnd({ params }) : api.readTermEnd({ params })
    }
    const { term_end: termEnd } = await change()
    if (!termEnd) return context.terminal.note('None.')
    return show(context, wait ? await waitUntilDone(context, api, group, termEnd) : termEnd)
  },
})

async function showPreview({ terminal }: CommandContext, api: Client, { id }: Group, options: TermEndCommandOptions) {
  let sums: TermEndSums | null = null
  const params = { id: String(id) }
  const keep = options.keepAccounts && { keep_accounts: 'true' }
  async function* members(): AsyncGenerator<readonly PreviewedMember[]> {
    for await (const page of pagesOf((query) => api.previewTermEnd({ params, query: { ...query, ...keep } }))) {
      sums ??= page.sums
      yield page.members
    }
  }
  const rowOf = ({ user, outcome, reason, archives, keeps }: PreviewedMember) => [
    user.email,
    outcome,
    reason ?? '',
    archives.map(({ type, bytes }) => (bytes === null ? type : `${type} ${sizeOf(bytes)}`)).join(', '),
    keeps.join(', '),
  ]
  const headings = ['ADDRESS', 'OUTCOME', 'WHY', 'ARCHIVED', 'KEEPS']
  await printPages(terminal, members(), { headings, rowOf, none: 'The group has no members.' })
  if (sums) for (const line of sentencesOf(sums)) terminal.note(line)
}

/** Asks before: where homes are removed already, the archives are the last copy. */
async function forgetMember(
  { terminal, signal }: CommandContext,
  api: Client,
  { id, name }: Group,
  { address, yes }: { readonly address: string; readonly yes: boolean },
) {
  const params = { id: String(id) }
  for await (const { members } of pagesOf((query) => api.listTermEndMembers({ params, query }))) {
    const member = members.find(({ user }) => user.email === address.toLowerCase())
    if (!member) continue
    const question = `This deletes what the end of term of ${name} keeps of ${member.user.email}, for ever.`
    if (!yes) await terminal.confirm(question, '--yes', signal)
    const of = { ...params, user_id: String(member.user.id) }
    return terminal.print((await api.forgetTermEndMember({ params: of })).message)
  }
  throw new CommandFailed(`The end of term of ${name} keeps nothing of ${address}.`)
}

const sizeOf = (bytes: number) => localize(defaultLanguage, formatBytes(bytes))

const sentencesOf = (sums: TermEndSums) => [
  `${formatCount(sums.accounts, 'account')} of ${formatCount(sums.members, 'member')} and ${formatCount(sums.containers, 'container')} are removed.`,
  `${formatCount(sums.homes, 'home')} are archived: ${sizeOf(sums.bytes)}, ${sums.homes_without_size} not measured; ${sizeOf(sums.free_bytes)} are free${sums.has_room ? '' : ', which is too little'}.`,
]

async function begin(
  { terminal, signal }: CommandContext,
  api: Client,
  { id, name }: Group,
  keepUntil: string,
  { removeAt, keepAccounts, yes }: TermEndCommandOptions,
): Promise<TermEndResponse> {
  const params = { id: String(id) }
  if (!yes) {
    const query = { limit: '1', ...(keepAccounts ? { keep_accounts: 'true' } : {}) }
    const { sums } = await api.previewTermEnd({ params, query })
    if (sums) for (const line of sentencesOf(sums)) terminal.note(line)
    terminal.note(`The removal begins ${removalAt(removeAt)}; archives are kept until ${instantOf(keepUntil)}.`)
    await terminal.confirm(`This ends the term of ${name}.`, '--yes', signal)
  }
  const body = {
    keep_until: keepUntil,
    keep_accounts: keepAccounts === true,
    ...(removeAt !== undefined && { remove_at: removeAt }),
  }
  return api.beginTermEnd({ params, body })
}

const removalAt = (removeAt = '') =>
  Date.parse(removeAt) > Date.now() ? instantOf(removeAt) : 'when all is archived and mailed'

const instantOf = (text: string) => `${formatInstant(new Date(text).toISOString())} UTC`

/** @throws {CommandFailed} when a member is left, or it goes on by an act of the operator alone */
async function waitUntilDone(context: CommandContext, api: Client, { id, name }: Group, begun: TermEnd) {
  const { signal, dataDir, terminal } = context
  let termEnd = begun
  while (termEnd.phase !== 'done') {
    if (termEnd.problem === 'administrator')
      throw new CommandFailed(
        `The end of term of ${name} waits: ${termEnd.started_by} is no administrator any more. Add --retry to answer for the rest.`,
      )
    if (!(await findService({ dataDir, note: (line) => terminal.note(line), signal })))
      throw new CommandFailed(`Berth does not run. The end of term of ${name} goes on when it is started.`)
    await sleep(interval, undefined, { signal })
    const found = (await api.readTermEnd({ params: { id: String(id) } })).term_end
    if (!found) throw new CommandFailed(`The end of term of ${name} was cancelled.`)
    termEnd = found
  }
  if (termEnd.counts.failed > 0 && Date.parse(termEnd.keep_until) <= Date.now())
    throw new CommandFailed(
      `The end of term of ${name} was not done by ${formatInstant(termEnd.keep_until)}: ${formatCount(termEnd.counts.failed, 'member')} stay as they are. Begin another one.`,
    )
  if (termEnd.counts.failed > 0)
    throw new CommandFailed(
      `The end of term of ${name} failed for ${formatCount(termEnd.counts.failed, 'member')}; add --retry to try again.`,
    )
  return termEnd
}

function show({ terminal }: CommandContext, termEnd: TermEnd): void {
  terminal.json(termEnd)
  const { problem, counts, archives, archive_bytes: bytes, remove_at: removeAt, keep_until: keepUntil } = termEnd
  terminal.print(`Phase: ${phaseOf(termEnd)}${problem === null ? '' : `, waits: ${problem}`}`)
  const states = Object.entries(counts).filter(([, count]) => count > 0)
  terminal.print(`Members: ${states.map(([state, count]) => `${count} ${state}`).join(', ') || 'none'}`)
  terminal.print(`Archives: ${archives}, ${sizeOf(bytes)}, until ${formatInstant(keepUntil)}`)
  terminal.print(`Removal: from ${formatInstant(removeAt)}`)
}

/** The phase `archiving` goes on to the removal, also when all is archived and mailed. */
function phaseOf({ phase, counts }: TermEnd): string {
  const isMailed = phase === 'archiving' && counts.waiting + counts.archived === 0
  return isMailed ? 'archived and mailed, waits for the removal' : phase
}
