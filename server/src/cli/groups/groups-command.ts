import type { Client } from '@berth/api/client.ts'
import type { Group } from '@berth/api/schemas/groups.ts'
import type { Command } from 'commander'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { WrongUsage } from '#/cli/command-failure.ts'
import { actionForEach } from '#/cli/for-each.ts'
import { formatInstant } from '#/cli/output/formatting.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { printPages } from '#/cli/output/paged-list.ts'
import { addInvitations } from './invitations-command.ts'
import { addTimetable } from './timetable-command.ts'
import { addMembers } from './members-command.ts'
import { findGroup, groupsOf } from './find-group.ts'
import { addEndTerm } from './term-end-command.ts'

/** `berth groups ...`: groups and their members. */
export function addGroups(program: Command, run: Run): void {
  const groups = program.command('groups').description('groups: classes, teams and courses')
  addList(groups, run)
  addCreate(groups, run)
  addDelete(groups, run)
  addMembers(groups, run)
  addInvitations(groups, run)
  addTimetable(groups, run)
  addEndTerm(groups, run)
}

function addList(groups: Command, run: Run): void {
  const list = groups
    .command('list')
    .description('list groups')
    .action(() => run((context) => withApi(context, (api) => listGroups(context, api))))
  addHelp(list, {
    effect: 'Read-only. With --json each group is one line of JSON.',
    examples: [
      ['groups list', 'all groups with the number of their members'],
      ['groups list --json', 'the same, for a program'],
    ],
  })
}

async function listGroups({ terminal }: CommandContext, api: Client): Promise<void> {
  await printPages(terminal, groupsOf(api), { headings, rowOf })
}

const headings = ['ID', 'NAME', 'MEMBERS', 'SOURCE', 'TYPES', 'ENDS']

const rowOf = ({ id, name, member_count, source, types, expires_at }: Group) => [
  String(id),
  name,
  String(member_count),
  source,
  types === null ? 'all' : types.join(' '),
  formatInstant(expires_at),
]

interface CreateOptions {
  readonly description?: string
  readonly type?: string[]
  readonly maxRunning?: string
  readonly ends?: string
}

function addCreate(groups: Command, run: Run): void {
  const create = groups
    .command('create')
    .description('make a group')
    .argument('<name>', 'unique; templates name the group by it')
    .option('--description <text>', 'what the group is')
    .option('--type <type...>', 'types that limits, end, stop and block act on (default: every type)')
    .option('--max-running <count>', 'containers that each member may run at the same time')
    .option('--ends <instant>', 'when its types stop and are not launched any more, e.g. 2027-07-31T22:00:00Z')
    .action((name: string, options: CreateOptions) =>
      run((context) => withApi(context, (api) => createGroup(context, api, name, options))),
    )
  addHelp(create, {
    effect: 'Other limits are set on the page Groups, or by PATCH /api/admin/groups/{id}.',
    examples: [
      ['groups create "Physics 7b"', 'a group without limits'],
      ['groups create "Physics 7b" --type notebook --max-running 1', 'one notebook for each member'],
    ],
  })
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

function addDelete(groups: Command, run: Run): void {
  const remove = groups
    .command('delete')
    .description('delete groups')
    .argument('<group...>', 'names or ids')
    .action(
      actionForEach(run, async (api, target) => {
        const { id, name } = await findGroup(api, target)
        const { message } = await api.deleteGroup({ params: { id: String(id) } })
        return { line: `${name}: ${message}`, value: { id, name, message } }
      }),
    )
  addHelp(remove, {
    effect:
      'Accounts, containers and homes stay; what runs keeps running. Its members may not launch types that name it any more.',
    examples: [
      ['groups delete "Physics 7b"', 'one group'],
      ['groups delete 7 8', 'two groups, by their ids'],
    ],
  })
}
