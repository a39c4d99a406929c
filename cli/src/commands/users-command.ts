import path from 'node:path'
import { Option } from '@commander-js/extra-typings'
import { languages, type Language } from '@berth/api/boot.ts'
import type { Client } from '@berth/api/client.ts'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { InvitationsResponse } from '@berth/api/schemas/invitations.ts'
import { readSize } from '@berth/server/templates/field-values.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { forEach, forEachByApi, listByApi, defineCommand, type HelpText, type CommandGroup } from '#/command.ts'
import { findUser, usersOf } from '#/find-users.ts'
import { addressesPerCall, readAddresses } from '#/read-addresses.ts'
import { formatBoolean, formatCount, formatInstant, writeNewFile } from '#/terminal.ts'
import { withApi, type CommandContext } from '#/with-api.ts'

interface ListOptions {
  readonly search?: string
  readonly blocked?: true
  readonly admins?: true
}

/** `berth users ...`: accounts, roles and blocks. */
export const usersCommands: CommandGroup = {
  description: 'accounts: list, block, promote, invite and delete users',
  commands: () => ({
    list,
    show,
    block,
    unblock,
    promote,
    demote,
    'extra-disk': extraDisk,
    export: exportUserCommand,
    invite: inviteCommand,
    delete: deleteUsersCommand,
  }),
}

const list = defineCommand({
  description: 'list all accounts',
  usage: (command) =>
    command
      .option('--search <text>', 'only users whose e-mail address or slug contains this text')
      .option('--blocked', 'only blocked users')
      .option('--admins', 'only administrators'),
  effect: 'Read-only. With --json each user is one line of JSON, with all containers.',
  examples: [
    ['users list --search ann', 'users with "ann" in their address'],
    ['users list --blocked --json | jq .email', 'addresses of blocked users'],
  ],
  work: listByApi(usersBy, {
    headings: ['ID', 'EMAIL', 'STATE', 'ADMIN', 'BLOCKED', 'CONTAINERS', 'LAST USED'],
    rowOf: (user: AdminUser) => [
      String(user.id),
      user.email,
      user.state,
      formatBoolean(user.is_admin),
      formatBoolean(user.is_blocked),
      String(user.containers.length),
      formatInstant(user.last_used),
    ],
    none: 'No users found.',
  }),
})

async function* usersBy(api: Client, { search, blocked, admins }: ListOptions): AsyncGenerator<readonly AdminUser[]> {
  for await (const users of usersOf(api, search))
    yield users.filter((user) => (!blocked || user.is_blocked) && (!admins || user.is_admin))
}

const show = defineCommand({
  description: 'show an account and its containers',
  usage: (command) => command.argument('<user>', 'e-mail address or id'),
  effect: 'Read-only.',
  examples: [
    ['users show ann@example.org', 'the account of Ann'],
    ['users show 12 --json', 'the user with the id 12, for a program'],
  ],
  api: async ({ terminal }, api, target) => {
    const user = await findUser(api, target)
    terminal.json(user)
    for (const line of linesOf(user)) terminal.print(line)
  },
})

function linesOf(user: AdminUser): string[] {
  return [
    `${user.email} (id ${user.id})`,
    `  slug        ${user.slug}`,
    `  state       ${user.state}`,
    `  admin       ${formatBoolean(user.is_admin)}`,
    `  blocked     ${formatBoolean(user.is_blocked)}`,
    `  signed up   ${formatInstant(user.created_at)}`,
    `  last used   ${formatInstant(user.last_used)}`,
    `  containers  ${user.containers.length === 0 ? 'none' : ''}`.trimEnd(),
    ...user.containers.map(
      ({ id, container_type, is_blocked, last_used }) =>
        `    ${id}  ${container_type}${is_blocked ? ', blocked' : ''}, last used ${formatInstant(last_used)}`,
    ),
  ]
}

interface Change extends HelpText {
  readonly description: string
  readonly call: (api: Client, input: { params: { id: string } }) => Promise<{ message: string; user: AdminUser }>
}

const block = changeCommand({
  description: 'block users: no sign-in, no launch',
  effect:
    'Their containers are stopped and blocked and connections closed; files are kept. Without a running ' +
    'service containers are stopped if the engine answers, else at the next start of Berth.',
  examples: [
    ['users block ann@example.org', 'block Ann at once'],
    ['users block 12 13 14', 'three users by their ids'],
  ],
  call: (api, input) => api.blockUser(input),
})

const unblock = changeCommand({
  description: 'unblock users',
  effect:
    'Containers that were blocked with their owner are unblocked; individually blocked ones stay blocked. ' +
    'Nothing is started: the next launch or visit does that.',
  examples: [
    ['users unblock ann@example.org', 'Ann may sign in again'],
    ['users unblock 12 --json', 'the same for a program, with the user afterwards'],
  ],
  call: (api, input) => api.unblockUser(input),
})

const promote = changeCommand({
  description: 'make users administrators',
  effect: 'Takes effect with their next request, without a new sign-in. Containers are not affected.',
  examples: [
    ['users promote ann@example.org', 'when no administrator is left'],
    ['users promote 12 13', 'two users by their ids'],
  ],
  call: (api, input) => api.promoteUser(input),
})

const demote = changeCommand({
  description: 'make administrators ordinary users again',
  effect:
    'Takes effect with their next request. The last active administrator cannot be demoted. Containers are not affected.',
  examples: [
    ['users demote ann@example.org', 'Ann keeps her account and her containers'],
    ['users demote 12 --json', 'the same for a program'],
  ],
  call: (api, input) => api.demoteUser(input),
})

const extraDisk = defineCommand({
  description: 'let the home folders of a user have more than the disk limits allow',
  usage: (command) =>
    command
      .argument('<user>', 'e-mail address or id')
      .argument('<size>', 'beyond every limit, such as 500m or 2g; 0 takes it away'),
  effect: 'Counts at the next launch, without a restart. A size that the file system enforces stays as it is.',
  examples: [
    ['users extra-disk ann@example.org 2g', 'Ann can launch again, and delete what she does not need'],
    ['users extra-disk 12 0', 'the usual limits again'],
  ],
  api: async ({ terminal }, api, target, size) => {
    const read = size === '0' ? { value: 0 } : readSize(size)
    if (!('value' in read)) throw new WrongUsage(`${size}: ${read.problem}.`)
    const { id } = await findUser(api, target)
    const { message, user } = await api.setExtraDisk({ params: { id: String(id) }, body: { bytes: read.value } })
    terminal.json(user)
    terminal.print(`${user.email}: ${message}`)
  },
})

function changeCommand({ call, ...words }: Change) {
  return defineCommand({
    ...words,
    usage: (command) => command.argument('<user...>', 'e-mail addresses or ids'),
    work: forEachByApi(async (api, target) => {
      const { id } = await findUser(api, target)
      const { message, user } = await call(api, { params: { id: String(id) } })
      const left = user.is_blocked ? ` (${formatCount(user.containers.length, 'container')})` : ''
      return { line: `${user.email}: ${message}${left}`, value: user }
    }),
  })
}

interface InviteOptions {
  readonly csv?: string
  readonly column?: string
  readonly mail: boolean
  readonly language?: Language
}

type Invitation = InvitationsResponse['invitations'][number]

/** `berth users invite`. */
const inviteCommand = defineCommand({
  description: 'create accounts and mail each a signup link',
  usage: (command) =>
    command
      .argument('[email...]', 'addresses')
      .option('--csv <file>', 'also the addresses in this file; columns separated by comma, semicolon or tab')
      .option(
        '--column <name>',
        'heading of the column with the addresses; default: "email", "e-mail address" or "mail", else the first with an @',
      )
      .addOption(new Option('--language <language>', 'language of the mails; default English').choices(languages))
      .option('--no-mail', 'do not mail; print the links instead'),
  effect:
    'Starts no container. Existing accounts are not changed; unverified ones get another link. ' +
    'Can be repeated after an interruption: each address is one line, with --json one line of JSON.',
  examples: [
    ['users invite ann@example.org bob@example.org', 'two users'],
    ['users invite --csv class.csv --column "Student mail" --no-mail', 'a class, with links to hand out'],
  ],
  work: async (context, typed, options) => {
    const fromFile =
      options.csv === undefined ? [] : await readAddresses(path.resolve(context.folder, options.csv), options.column)
    const emails = [...new Set([...typed, ...fromFile])]
    if (emails.length === 0) throw new WrongUsage('Whom? Give addresses, or a file of them with --csv.')
    const notDone = await withApi(context, (api) => inviteAll(context, api, emails, options))
    if (notDone > 0) throw new CommandFailed(`${notDone} of ${emails.length} could not be invited.`)
  },
})

/** @returns the number of addresses that could not be invited */
async function inviteAll(
  { terminal, signal }: CommandContext,
  api: Client,
  emails: readonly string[],
  options: InviteOptions,
) {
  const wish = { send: options.mail, ...(options.language && { language: options.language }) }
  let notDone = 0
  for (let at = 0; at < emails.length; at += addressesPerCall) {
    signal.throwIfAborted()
    if (emails.length > addressesPerCall) terminal.progress(`${at} of ${emails.length} invited`)
    const { invitations } = await api.invite({ body: { emails: emails.slice(at, at + addressesPerCall), ...wish } })
    terminal.endProgress()
    for (const invitation of invitations) {
      terminal.json(invitation)
      terminal.print(wordsFor(invitation))
    }
    notDone += invitations.filter(({ status }) => status === 'failed' || status === 'invalid').length
    await terminal.drained()
  }
  return notDone
}

const sentences: Record<Invitation['status'], string> = {
  invited: 'invited',
  'already-registered': 'has an account already',
  invalid: 'is no address that mail can be sent to',
  failed: 'could not be invited: the mail was not accepted, and nothing was stored',
}

const wordsFor = ({ email, status, link }: Invitation) => `${email}: ${link ?? sentences[status]}`

/** `berth link`. */
export const link = defineCommand({
  description: 'print a login link, for when mail does not work',
  usage: (command) => command.argument('<email>', 'address of an account'),
  effect:
    'Sends no mail and does not count towards the rate limit of the address. The audit log records that a link ' +
    'was printed, not the link. An unverified account gets a signup link, a blocked one none.',
  examples: [
    ['link ann@example.org', 'to hand over to Ann'],
    ['link boss@example.org | qrencode -t ansi', 'as a QR code for a phone'],
  ],
  api: async ({ terminal }, api, email) => {
    const printed = await api.printLink({ body: { email } })
    terminal.json(printed)
    terminal.print(printed.link)
    const what = printed.purpose === 'signup' ? 'The first link' : 'A login link'
    terminal.note(
      `${what} of ${email}, valid once, until ${formatInstant(printed.expires_at)} UTC. It signs in to this account: keep it secret.`,
    )
    if (printed.link.includes(':0/')) terminal.note('PORT=0: put the port that Berth prints into the link.')
  },
})

/** `berth users export`. */
const exportUserCommand = defineCommand({
  description: 'export everything that is kept about a user, as JSON',
  usage: (command) =>
    command
      .argument('<user>', 'e-mail address or id')
      .option('--output <file>', 'write a new file, readable by its owner only, in place of standard output'),
  effect:
    'Read-only, except for an entry of the audit log. Without secrets, tokens and files of containers. The format ' +
    'is that of GET /api/user/data, which users get of themselves on the page Your data.',
  examples: [
    ['users export ann@example.org --output ann.json', 'for a request of Ann for her data'],
    ['users export 12 | jq .sessions', 'sessions of the user with the id 12'],
  ],
  api: async ({ terminal, folder, signal }, api, target, { output }) => {
    const { id, email } = await findUser(api, target)
    const data = await api.exportUserData({ params: { id: String(id) } })
    const text = `${JSON.stringify(data, null, 2)}\n`
    if (output === undefined) return terminal.write(text)
    await writeNewFile(path.resolve(folder, output), output, () => once(text), signal)
    terminal.note(`What is kept about ${email} is in ${output}.`)
  },
})

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

interface DeleteOptions {
  readonly purge?: true
  readonly yes?: true
}

/** `berth users delete`. */
const deleteUsersCommand = defineCommand({
  description: 'delete accounts and their containers',
  usage: (command) =>
    command
      .argument('<user...>', 'e-mail addresses or ids')
      .option('--purge', 'also delete their files, permanently')
      .option('--yes', 'do not ask for confirmation'),
  effect:
    'Running containers are stopped and removed, connections are closed. Files are kept for KEEP_HOMES seconds ' +
    'unless --purge is given. Asks for confirmation; without a terminal it needs --yes.',
  examples: [
    ['users delete ann@example.org', 'asks, then deletes Ann; her files are kept for KEEP_HOMES'],
    ['users delete 12 13 --purge --yes', 'deletes two users and their files without asking'],
  ],
  api: async (context, api, targets, options) => {
    if (!options.yes) await ask(context, api, targets, options)
    const query = options.purge ? { purge: 'true' } : {}
    await forEach(context, targets, async (target) => {
      const { id, email } = await findUser(api, target)
      const { message } = await api.deleteUser({ params: { id: String(id) }, query })
      return { line: `${email}: ${message}`, value: { id, email, message } }
    })
  },
})

async function ask(
  { terminal, signal }: CommandContext,
  api: Client,
  targets: readonly string[],
  options: DeleteOptions,
) {
  const users: AdminUser[] = []
  for (const target of new Set(targets)) users.push(await findUser(api, target))
  for (const { email, id, containers } of users)
    terminal.note(`  ${email} (id ${id}) with ${formatCount(containers.length, 'container')}`)
  const files = options.purge ? 'and all their files, for ever' : 'whose files are kept for a while'
  await terminal.confirm(`This deletes ${formatCount(users.length, 'account')}, ${files}.`, '--yes', signal)
}
