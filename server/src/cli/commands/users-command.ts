import type { AdminUser } from '@berth/api/schemas/admin.ts'
import type { Client } from '@berth/api/client.ts'
import type { Command } from 'commander'
import { findUser, usersOf } from '#/cli/find-users.ts'
import { forEach } from '#/cli/for-each.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { formatCount, formatInstant, formatBoolean } from '#/cli/output/words.ts'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { addDelete } from './delete-users-command.ts'
import { addInvite } from './invite-command.ts'

interface ListOptions {
  readonly search?: string
  readonly blocked?: true
  readonly admins?: true
}

/** `berth users ...`: who may sign in, and who may not. */
export function addUsers(program: Command, run: Run): void {
  const users = program.command('users').description('accounts: list, block, promote, invite and delete people')
  addList(users, run)
  addShow(users, run)
  for (const change of changes) addChange(users, run, change)
  addInvite(users, run)
  addDelete(users, run)
}

function addList(users: Command, run: Run): void {
  const list = users
    .command('list')
    .description('list everybody who has an account')
    .option('--search <text>', 'only those whose e-mail address or slug has this in it')
    .option('--blocked', 'only those who are blocked')
    .option('--admins', 'only administrators')
    .action((options: ListOptions) => run((context) => withApi(context, (api) => listUsers(context, api, options))))
  addHelp(list, {
    effect: 'Only reads. With --json each user is one line of JSON, with all their containers.',
    examples: [
      ['users list --search ann', 'everybody with "ann" in their address'],
      ['users list --blocked --json | jq .email', 'the addresses of those who are blocked'],
    ],
  })
}

async function listUsers(
  { terminal }: CommandContext,
  api: Client,
  { search, blocked, admins }: ListOptions,
): Promise<void> {
  let found = 0
  for await (const page of usersOf(api, search)) {
    const wanted = page.filter((user) => (!blocked || user.is_blocked) && (!admins || user.is_admin))
    for (const user of wanted) terminal.json(user)
    if (wanted.length > 0) terminal.table(headings, wanted.map(rowOf))
    found += wanted.length
    await terminal.drained()
  }
  if (found === 0) terminal.note('Nobody.')
}

const headings = ['ID', 'EMAIL', 'STATE', 'ADMIN', 'BLOCKED', 'CONTAINERS', 'LAST USED']

const rowOf = (user: AdminUser) => [
  String(user.id),
  user.email,
  user.state,
  formatBoolean(user.is_admin),
  formatBoolean(user.is_blocked),
  String(user.containers.length),
  formatInstant(user.last_used),
]

function addShow(users: Command, run: Run): void {
  const show = users
    .command('show')
    .description('show an account and its containers')
    .argument('<user>', 'e-mail address or id')
    .action((target: string) =>
      run((context) =>
        withApi(context, async (api) => {
          const user = await findUser(api, target)
          context.terminal.json(user)
          for (const line of linesOf(user)) context.terminal.print(line)
        }),
      ),
    )
  addHelp(show, {
    effect: 'Only reads.',
    examples: [
      ['users show ann@example.org', 'what is known of Ann'],
      ['users show 12 --json', 'the same of the user with the id 12, for a program'],
    ],
  })
}

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

interface Change {
  readonly name: string
  readonly description: string
  readonly effect: string
  readonly examples: readonly (readonly [string, string])[]
  readonly call: (api: Client, input: { params: { id: string } }) => Promise<{ message: string; user: AdminUser }>
}

const changes: readonly Change[] = [
  {
    name: 'block',
    description: 'keep people from signing in and from starting anything',
    effect:
      'Their containers that run are stopped and blocked, and what they have open is cut. Files stay. Without a service ' +
      'that runs the containers are stopped all the same, when the engine answers; otherwise when Berth starts.',
    examples: [
      ['users block ann@example.org', 'Ann is out at once'],
      ['users block 12 13 14', 'three people by their ids'],
    ],
    call: (api, input) => api.blockUser(input),
  },
  {
    name: 'unblock',
    description: 'let people in again',
    effect:
      'Containers that were blocked with their owner are unblocked; those that were blocked one by one stay blocked. ' +
      'Nothing is started: that happens when their owners come.',
    examples: [
      ['users unblock ann@example.org', 'Ann may come back'],
      ['users unblock 12 --json', 'the same for a program, with what is known of the user afterwards'],
    ],
    call: (api, input) => api.unblockUser(input),
  },
  {
    name: 'promote',
    description: 'make people administrators',
    effect: 'Counts from their next request on; they need not sign in again. Containers are not touched.',
    examples: [
      ['users promote ann@example.org', 'when nobody is left who administers'],
      ['users promote 12 13', 'two people by their ids'],
    ],
    call: (api, input) => api.promoteUser(input),
  },
  {
    name: 'demote',
    description: 'make administrators ordinary users again',
    effect:
      'Counts from their next request on. The last administrator who is not blocked stays one. Containers are not touched.',
    examples: [
      ['users demote ann@example.org', 'Ann keeps her account and her containers'],
      ['users demote 12 --json', 'the same for a program'],
    ],
    call: (api, input) => api.demoteUser(input),
  },
]

function addChange(users: Command, run: Run, change: Change): void {
  const command = users
    .command(change.name)
    .description(change.description)
    .argument('<user...>', 'e-mail addresses or ids')
    .action((targets: string[]) =>
      run((context) => withApi(context, (api) => changeAll(context, api, targets, change))),
    )
  addHelp(command, change)
}

async function changeAll(
  context: CommandContext,
  api: Client,
  targets: readonly string[],
  { call }: Change,
): Promise<void> {
  await forEach(context, targets, async (target) => {
    const { id } = await findUser(api, target)
    const { message, user } = await call(api, { params: { id: String(id) } })
    const left = user.is_blocked ? ` (${formatCount(user.containers.length, 'container')})` : ''
    return { line: `${user.email}: ${message}${left}`, value: user }
  })
}
