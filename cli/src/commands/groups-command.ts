import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Option } from '@commander-js/extra-typings'
import type { Client } from '@berth/api/client.ts'
import type { Group, Member } from '@berth/api/schemas/groups.ts'
import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { formatBytes } from '@berth/texts/localized-message.ts'
import { CommandFailed, WrongUsage, reasonOf } from '#/command-failure.ts'
import {
  byApi,
  forEach,
  forEachByApi,
  instantOption,
  listByApi,
  pagesOf,
  defineCommand,
  type CommandGroup,
  type Usage,
} from '#/command.ts'
import { findGroup, findUser, groupsOf } from '#/find-users.ts'
import { addressesPerCall, readList } from '#/read-addresses.ts'
import { formatInstant } from '#/terminal.ts'
import { withApi, type CommandContext } from '#/with-api.ts'
import { endTermCommand } from './term-end-command.ts'

/** `berth groups ...`: groups and their members. */
export const groupsCommands: CommandGroup = {
  description: 'groups: classes, teams and courses',
  commands: () => ({
    list: listGroups,
    create,
    delete: removeGroup,
    members: listMembers,
    add,
    remove: removeMembers,
    invitations: listInvitations,
    resend,
    withdraw,
    folder,
    timetable: timetableCommand,
    'end-term': endTermCommand,
  }),
}

const listGroups = defineCommand({
  description: 'list groups',
  effect: 'Read-only. With --json each group is one line of JSON.',
  examples: [
    ['groups list', 'all groups with the number of their members'],
    ['groups list --json', 'the same, for a program'],
  ],
  work: listByApi((api) => groupsOf(api), {
    headings: ['ID', 'NAME', 'MEMBERS', 'SOURCE', 'TYPES', 'ENDS'],
    rowOf: ({ id, name, member_count, source, types, expires_at }: Group) => [
      String(id),
      name,
      String(member_count),
      source,
      types === null ? 'all' : types.join(' '),
      formatInstant(expires_at),
    ],
  }),
})

const create = defineCommand({
  description: 'make a group',
  usage: (command) =>
    command
      .argument('<name>', 'unique; templates name the group by it')
      .option('--description <text>', 'what the group is')
      .option('--type <type...>', 'types that limits, end, stop and block act on (default: every type)')
      .option('--max-running <count>', 'containers that each member may run at the same time')
      .option(
        '--ends <instant>',
        'when its types stop and are not launched any more, e.g. 2027-07-31T22:00:00Z',
        instantOption('--ends'),
      ),
  effect: 'Other limits are set on the page Groups, or by PATCH /api/admin/groups/{id}.',
  examples: [
    ['groups create "Physics 7b"', 'a group without limits'],
    ['groups create "Physics 7b" --type notebook --max-running 1', 'one notebook for each member'],
  ],
  api: async ({ terminal }, api, name, { description, type, maxRunning, ends }) => {
    if (maxRunning !== undefined && !/^\d{1,6}$/.test(maxRunning))
      throw new WrongUsage('--max-running must be a whole number.')
    const { group } = await api.createGroup({
      body: {
        name,
        ...(description !== undefined && { description }),
        ...(type && { types: type }),
        ...(maxRunning !== undefined && { limits: { running: Number(maxRunning) } }),
        ...(ends !== undefined && { expires_at: ends }),
      },
    })
    terminal.json(group)
    terminal.print(`Group ${group.id}: ${group.name}`)
  },
})

const removeGroup = defineCommand({
  description: 'delete groups',
  usage: (command) => command.argument('<group...>', 'names or ids'),
  effect:
    'Accounts, containers and homes stay; what runs keeps running. Its members may not launch types that name it any more.',
  examples: [
    ['groups delete "Physics 7b"', 'one group'],
    ['groups delete 7 8', 'two groups, by their ids'],
  ],
  work: forEachByApi(async (api, target) => {
    const { id, name } = await findGroup(api, target)
    const { message } = await api.deleteGroup({ params: { id: String(id) } })
    return { line: `${name}: ${message}`, value: { id, name, message } }
  }),
})

const folder = defineCommand({
  description: 'show, set or take away the folder of a group',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .option('--name <name>', 'its name in containers: small letters, digits and hyphens, unique')
      .addOption(
        new Option('--members <right>', 'what members may do in it; managers write').choices([
          'read',
          'write',
        ] as const),
      )
      .option('--remove', 'take the folder away; what is in it is kept')
      .option('--purge', 'with --remove: what is in it is removed, permanently'),
  effect:
    'Templates show folders where their field `group_folders` says so. Each container has the change from its next start.',
  examples: [
    ['groups folder "Physics 7b"', 'what it is called, what members may do, and how full it is'],
    ['groups folder "Physics 7b" --name physics-7b --members read', 'managers write, members read'],
    ['groups folder 7 --remove', 'its members do not see it any more'],
  ],
  api: async ({ terminal }, api, target, { name, members, remove, purge }) => {
    if (remove ? name !== undefined || members !== undefined : purge)
      throw new WrongUsage('--remove goes without --name and --members, and --purge goes with --remove.')
    const group = await findGroup(api, target)
    const params = { id: String(group.id) }
    if (remove) {
      const { message } = await api.removeGroupFolder({ params, query: purge ? { purge: 'true' } : {} })
      terminal.json({ id: group.id, message })
      return terminal.print(`${group.name}: ${message}`)
    }
    const wanted = { name: name ?? group.folder?.name, members: members ?? group.folder?.members ?? 'read' }
    const isChange = name !== undefined || members !== undefined
    if (isChange && wanted.name === undefined) throw new WrongUsage('The group has no folder yet: give it a --name.')
    const body = wanted.name === undefined ? undefined : { name: wanted.name, members: wanted.members }
    const now = isChange && body ? (await api.setGroupFolder({ params, body })).group.folder : group.folder
    const bytes = now ? ((await api.readManagedGroup({ params })).folder_bytes ?? null) : null
    terminal.json({ id: group.id, folder: now, bytes })
    const size = bytes === null ? 'not measured yet' : localize(defaultLanguage, formatBytes(bytes))
    terminal.print(now ? `${group.name}: ${now.name}, members ${now.members}, ${size}` : `${group.name} has no folder.`)
  },
})

const listMembers = defineCommand({
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
    headings: ['ID', 'EMAIL', 'NAME', 'ROLE', 'CONTAINERS'],
    rowOf: ({ user, name, role, containers }: Member) => [
      String(user.id),
      user.email,
      name ?? '',
      role,
      containers.map((each) => `${each.container_type} ${each.is_blocked ? 'blocked' : each.status}`).join(', '),
    ],
  }),
})

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

const add = defineCommand({
  description: 'add members to a group, or change their role; unknown addresses are invited by mail',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .argument('[email...]', 'addresses')
      .option(
        '--csv <file>',
        'also the addresses in this file, with the names in its columns "name", or "first name" and "surname"; columns separated by comma, semicolon or tab',
      )
      .option(
        '--column <name>',
        'heading of the column with the addresses; default: "email", "e-mail address" or "mail", else the first with an @',
      )
      .addOption(
        new Option('--role <role>', 'default: members keep their role').choices(['member', 'manager'] as const),
      ),
  effect: 'Users with an account join at once; others get one mail, and join when they sign up.',
  examples: [
    ['groups add "Physics 7b" ann@example.org --role manager', 'a teacher'],
    ['groups add "Physics 7b" --csv class.csv', 'a class'],
  ],
  work: async (context, target, typed, options) => {
    const { csv, column, role } = options
    const fromFile = csv === undefined ? [] : await readList(path.resolve(context.folder, csv), column)
    const all = [...new Set([...typed, ...fromFile.map(({ address }) => address)])]
    const nameOf = new Map(fromFile.filter(({ name }) => name !== '').map(({ address, name }) => [address, name]))
    if (all.length === 0) throw new WrongUsage('Whom? Give addresses, or a file of them with --csv.')
    const { terminal, signal } = context
    const refused = await withApi(context, async (api) => {
      const params = { id: String((await findGroup(api, target)).id) }
      const notAdded: string[] = []
      for (let at = 0; at < all.length; at += addressesPerCall) {
        signal.throwIfAborted()
        if (all.length > addressesPerCall) terminal.progress(`${at} of ${all.length} done`)
        const emails = all.slice(at, at + addressesPerCall)
        const names = Object.fromEntries([...nameOf].filter(([email]) => emails.includes(email)))
        const outcome = await api.addMembers({ params, body: { emails, names, ...(role && { role }) } })
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
  },
})

const removeMembers = defineCommand({
  description: 'remove members from a group',
  usage: (command) => command.argument('<group>', 'name or id').argument('<user...>', 'e-mail addresses or ids'),
  effect: 'What runs keeps running; types of the group are not launched any more. Homes stay.',
  examples: [
    ['groups remove "Physics 7b" ann@example.org', 'one member'],
    ['groups remove 7 12 13', 'two members, by ids'],
  ],
  api: async (context, api, target, users) => {
    const { id } = await findGroup(api, target)
    await forEach(context, users, async (each) => {
      const user = await findUser(api, each)
      const { message } = await api.removeMember({ params: { id: String(id), user_id: String(user.id) } })
      return { line: `${user.email}: ${message}`, value: { user: user.id, message } }
    })
  },
})

const listInvitations = defineCommand({
  description: 'list invitations to a group that are not accepted yet',
  usage: (command) => command.argument('<group>', 'name or id'),
  effect: 'Read-only. With --json each invitation is one line of JSON.',
  examples: [
    ['groups invitations "Physics 7b"', 'addresses that have not signed up yet'],
    ['groups invitations 4 --json', 'for a program'],
  ],
  work: listByApi(invitationsOf, {
    headings: ['ID', 'EMAIL', 'ROLE', 'BY', 'AT'],
    rowOf: ({ id, email, role, invited_by: by, created_at: at }: GroupInvitation) => [
      String(id),
      email,
      role,
      by,
      formatInstant(at),
    ],
  }),
})

const withAddresses = (command: Usage) =>
  command.argument('<group>', 'name or id').argument('<email...>', 'invited addresses')

const resend = defineCommand({
  description: 'mail invitations to a group again',
  usage: withAddresses,
  effect: 'The invitation counts from now on; links of earlier mails work, too.',
  examples: [
    ['groups resend "Physics 7b" new@example.org', 'one more mail'],
    ['groups resend 4 ann@example.org ben@example.org', 'several addresses'],
  ],
  work: forEachInvitation((api, params) => api.resendGroupInvitation({ params })),
})

const withdraw = defineCommand({
  description: 'withdraw invitations to a group',
  usage: withAddresses,
  effect: 'The link of the mail opens an account, without the group.',
  examples: [
    ['groups withdraw "Physics 7b" new@example.org', 'an address that was a mistake'],
    ['groups withdraw 4 ann@example.org ben@example.org', 'several addresses'],
  ],
  work: forEachInvitation((api, params) => api.withdrawGroupInvitation({ params })),
})

type Work = (
  api: Client,
  params: { readonly id: string; readonly invitation_id: string },
) => Promise<{ readonly message: string }>

function forEachInvitation(work: Work) {
  return byApi(async (context, api, target: string, emails: readonly string[]) => {
    const { id, name } = await findGroup(api, target)
    const wanted = new Set(emails.map((each) => each.toLowerCase()))
    const ids = new Map<string, number>()
    for await (const page of invitationsOf(api, String(id)))
      for (const each of page) if (wanted.has(each.email)) ids.set(each.email, each.id)
    await forEach(context, emails, async (email) => {
      const invitation = ids.get(email.toLowerCase())
      if (invitation === undefined) throw new CommandFailed(`There is no invitation of ${email} to ${name}.`)
      const { message } = await work(api, { id: String(id), invitation_id: String(invitation) })
      return { line: `${email}: ${message}`, value: { email, message } }
    })
  })
}

async function* invitationsOf(api: Client, target: string): AsyncGenerator<readonly GroupInvitation[]> {
  const params = { id: String((await findGroup(api, target)).id) }
  const pages = pagesOf((query) => api.listGroupInvitations({ params, query }))
  for await (const { invitations } of pages) yield invitations
}

/** `berth groups timetable`. */
const timetableCommand = defineCommand({
  description: 'show or change the hours of a group: lessons, the stop at night, exceptions',
  usage: (command) =>
    command
      .argument('<group>', 'name or id')
      .option('--set <file>', 'replace the hours by those of this JSON file, as --json prints them')
      .option('--remove', 'remove all hours'),
  effect: 'Without an option read-only. A change holds at once.',
  examples: [
    ['groups timetable "Physics 7b" --json > hours.json', 'a file to edit'],
    ['groups timetable "Physics 8a" --set hours.json', 'the same hours for another class'],
  ],
  work: async (context, target, { set, remove = false }) => {
    if (set !== undefined && remove) throw new WrongUsage('Say either --set or --remove.')
    const wanted = set === undefined ? null : await readTimetable(path.resolve(context.folder, set), set)
    await withApi(context, async (api) => {
      const params = { id: String((await findGroup(api, target)).id) }
      const isChanged = set !== undefined || remove
      const { timetable } = isChanged
        ? await api.setTimetable({ params, body: { timetable: wanted } })
        : await api.readTimetable({ params })
      show(context, timetable)
    })
  },
})

function show({ terminal }: CommandContext, timetable: Timetable | null): void {
  terminal.json(timetable)
  if (!timetable) return terminal.note('None.')
  terminal.print(`Time zone: ${timetable.time_zone}`)
  terminal.print(`Stop: ${timetable.stop_at ?? 'none'}`)
  for (const { days, at, container_type } of timetable.lessons)
    terminal.print(`Days ${days.join(', ')} at ${at}: ${container_type}`)
  for (const { date, lessons, stops } of timetable.exceptions) {
    const held = lessons.map(({ at, container_type }) => `${at} ${container_type}`).join(', ')
    terminal.print(`${date}: ${held === '' ? 'no lesson' : held}${stops ? '' : '; no stop'}`)
  }
}

/** The API checks what it says. @param name as typed, for the message @throws {CommandFailed} when it cannot be read */
async function readTimetable(file: string, name: string): Promise<Timetable> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Timetable
  } catch (error) {
    throw new CommandFailed(`${name} cannot be read as JSON: ${reasonOf(error)}`)
  }
}
