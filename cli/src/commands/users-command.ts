import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { Command } from 'commander'
import type { Client } from '@berth/api/client.ts'
import { addCommands, byApi, listByApi, type CommandSpec } from '#/command.ts'
import { forEachByApi } from '#/for-each.ts'
import { findUser, usersOf } from '#/find-users.ts'
import type { Run } from '#/help.ts'
import { formatCount, formatInstant, formatBoolean } from '#/formatting.ts'
import { deleteUsersCommand } from './delete-users-command.ts'
import { exportUserCommand } from './export-user-command.ts'
import { inviteCommand } from './invite-command.ts'

interface ListOptions {
  readonly search?: string
  readonly blocked?: true
  readonly admins?: true
}

/** `berth users ...`: accounts, roles and blocks. */
export function addUsers(program: Command, run: Run): void {
  const users = program.command('users').description('accounts: list, block, promote, invite and delete users')
  addCommands(users, run, { list, show, block, unblock, promote, demote })
  addCommands(users, run, { export: exportUserCommand, invite: inviteCommand, delete: deleteUsersCommand })
}

const list: CommandSpec = {
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
}

async function* usersBy(api: Client, { search, blocked, admins }: ListOptions): AsyncGenerator<readonly AdminUser[]> {
  for await (const users of usersOf(api, search))
    yield users.filter((user) => (!blocked || user.is_blocked) && (!admins || user.is_admin))
}

const show: CommandSpec = {
  description: 'show an account and its containers',
  usage: (command) => command.argument('<user>', 'e-mail address or id'),
  effect: 'Read-only.',
  examples: [
    ['users show ann@example.org', 'the account of Ann'],
    ['users show 12 --json', 'the user with the id 12, for a program'],
  ],
  work: byApi(async ({ terminal }, api, target: string) => {
    const user = await findUser(api, target)
    terminal.json(user)
    for (const line of linesOf(user)) terminal.print(line)
  }),
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

interface Change extends Omit<CommandSpec, 'usage' | 'work'> {
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

function changeCommand({ call, ...words }: Change): CommandSpec {
  return {
    ...words,
    usage: (command) => command.argument('<user...>', 'e-mail addresses or ids'),
    work: forEachByApi(async (api, target) => {
      const { id } = await findUser(api, target)
      const { message, user } = await call(api, { params: { id: String(id) } })
      const left = user.is_blocked ? ` (${formatCount(user.containers.length, 'container')})` : ''
      return { line: `${user.email}: ${message}${left}`, value: user }
    }),
  }
}
