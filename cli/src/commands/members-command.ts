import path from 'node:path'
import type { GroupRole, Member } from '@berth/api/schemas/groups.ts'
import { Option, type Command } from 'commander'
import type { Client } from '@berth/api/client.ts'
import { addCommands, byApi, listByApi, type CommandSpec } from '#/command.ts'
import { forEach } from '#/for-each.ts'
import { findUser } from '#/find-users.ts'
import type { Run } from '#/help.ts'
import { pagesOf } from '#/paged-list.ts'
import { withApi, type CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { addressesPerCall, readAddresses } from '#/read-addresses.ts'
import { findGroup } from './find-group.ts'

/** `berth groups members`, `add` and `remove`. */
export function addMembers(groups: Command, run: Run): void {
  addCommands(groups, run, { members: list, add, remove })
}

const list: CommandSpec = {
  description: 'list the members of a group with their containers of its types',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .option('--blocked', "only members of whom a container of the group's types is blocked"),
  effect: 'Read-only. With --json each member is one line of JSON.',
  examples: [
    ['groups members "Physics 7b"', 'a class'],
    ['groups members 7 --json', 'the group with this id, for a program'],
    ['groups members 7 --blocked', 'members with blocked containers'],
  ],
  work: listByApi(membersOf, {
    headings: ['ID', 'EMAIL', 'ROLE', 'CONTAINERS'],
    rowOf: ({ user, role, containers }: Member) => [
      String(user.id),
      user.email,
      role,
      containers.map((each) => `${each.container_type} ${each.is_blocked ? 'blocked' : each.status}`).join(', '),
    ],
  }),
}

async function* membersOf(
  api: Client,
  target: string,
  { blocked = false }: { readonly blocked?: boolean },
): AsyncGenerator<readonly Member[]> {
  const params = { id: String((await findGroup(api, target)).id) }
  const filter = blocked ? { is_blocked: 'true' } : {}
  for await (const { members } of pagesOf((page) => api.listMembers({ params, query: { ...page, ...filter } })))
    yield members
}

interface AddOptions {
  readonly csv?: string
  readonly column?: string
  readonly role?: GroupRole
}

const add: CommandSpec = {
  description: 'add members to a group, or change their role; unknown addresses are invited by mail',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .argument('[email...]', 'addresses')
      .option('--csv <file>', 'also the addresses in this file; columns separated by comma, semicolon or tab')
      .option(
        '--column <name>',
        'heading of the column with the addresses; default: "email", "e-mail address" or "mail", else the first with an @',
      )
      .addOption(new Option('--role <role>', 'default: members keep their role').choices(['member', 'manager'])),
  effect: 'Users with an account join at once; others get one mail, and join when they sign up.',
  examples: [
    ['groups add "Physics 7b" ann@example.org --role manager', 'a teacher'],
    ['groups add "Physics 7b" --csv class.csv', 'a class'],
  ],
  work: addAll,
}

async function addAll(
  context: CommandContext,
  target: string,
  typed: readonly string[],
  options: AddOptions,
): Promise<void> {
  const { csv, column, role } = options
  const fromFile = csv === undefined ? [] : await readAddresses(path.resolve(context.folder, csv), column)
  const all = [...new Set([...typed, ...fromFile])]
  if (all.length === 0) throw new WrongUsage('Whom? Give addresses, or a file of them with --csv.')
  const { terminal, signal } = context
  const refused = await withApi(context, async (api) => {
    const params = { id: String((await findGroup(api, target)).id) }
    const notAdded: string[] = []
    for (let at = 0; at < all.length; at += addressesPerCall) {
      signal.throwIfAborted()
      if (all.length > addressesPerCall) terminal.progress(`${at} of ${all.length} done`)
      const emails = all.slice(at, at + addressesPerCall)
      const outcome = await api.addMembers({ params, body: { emails, ...(role && { role }) } })
      terminal.endProgress()
      terminal.json(outcome)
      for (const email of outcome.added) terminal.print(`${email}: added`)
      for (const email of outcome.invited) terminal.print(`${email}: invited`)
      for (const email of outcome.refused) terminal.note(`${email}: refused`)
      notAdded.push(...outcome.refused)
      await terminal.drained()
    }
    return notAdded
  })
  if (refused.length > 0) throw new CommandFailed(`${refused.length} of ${all.length} could not be added.`)
}

const remove: CommandSpec = {
  description: 'remove members from a group',
  usage: (command) => command.argument('<group>', 'name or id').argument('<user...>', 'e-mail addresses or ids'),
  effect: 'What runs keeps running; types of the group are not launched any more. Homes stay.',
  examples: [
    ['groups remove "Physics 7b" ann@example.org', 'one member'],
    ['groups remove 7 12 13', 'two members, by ids'],
  ],
  work: byApi(async (context, api, target: string, users: string[]) => {
    const { id } = await findGroup(api, target)
    await forEach(context, users, async (each) => {
      const user = await findUser(api, each)
      const { message } = await api.removeMember({ params: { id: String(id), user_id: String(user.id) } })
      return { line: `${user.email}: ${message}`, value: { user: user.id, message } }
    })
  }),
}
