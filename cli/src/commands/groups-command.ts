import type { Group } from '@berth/api/schemas/groups.ts'
import type { Command } from 'commander'
import type { Client } from '@berth/api/client.ts'
import { addCommands, byApi, listByApi, type CommandSpec } from '#/command.ts'
import { forEachByApi } from '#/for-each.ts'
import type { Run } from '#/help.ts'
import type { CommandContext } from '#/with-api.ts'
import { WrongUsage } from '#/command-failure.ts'
import { instantOption } from '#/instant-option.ts'
import { formatInstant } from '#/formatting.ts'
import { addInvitations } from './invitations-command.ts'
import { timetableCommand } from './timetable-command.ts'
import { addMembers } from './members-command.ts'
import { findGroup, groupsOf } from './find-group.ts'
import { endTermCommand } from './term-end-command.ts'

/** `berth groups ...`: groups and their members. */
export function addGroups(program: Command, run: Run): void {
  const groups = program.command('groups').description('groups: classes, teams and courses')
  addCommands(groups, run, { list, create, delete: remove })
  addMembers(groups, run)
  addInvitations(groups, run)
  addCommands(groups, run, { timetable: timetableCommand, 'end-term': endTermCommand })
}

const list: CommandSpec = {
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
}

interface CreateOptions {
  readonly description?: string
  readonly type?: string[]
  readonly maxRunning?: string
  readonly ends?: string
}

const create: CommandSpec = {
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
  work: byApi(createGroup),
}

async function createGroup(
  { terminal }: CommandContext,
  api: Client,
  name: string,
  { description, type, maxRunning, ends }: CreateOptions,
): Promise<void> {
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
}

const remove: CommandSpec = {
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
}
