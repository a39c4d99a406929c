import type { Client } from '@berth/api/client.ts'
import type { Snapshot } from '@berth/api/schemas/features/snapshots.ts'
import type { Command } from 'commander'
import { longTimeout, withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { forEach } from '#/cli/for-each.ts'
import { formatInstant } from '#/cli/output/formatting.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { formatBytes } from '#/messages/format-bytes.ts'
import { defaultLanguage } from '#/messages/language.ts'
import { localize } from '#/messages/localize.ts'

const container = ['<container>', 'id of the container, as "berth containers list" shows it'] as const

/** `berth snapshots ...`: snapshots of homes of all users. */
export function addSnapshots(program: Command, run: Run): void {
  const snapshots = program.command('snapshots').description('snapshots of homes: list, make, restore and remove them')
  addList(snapshots, run)
  addTake(snapshots, run)
  addRestore(snapshots, run)
  addRemove(snapshots, run)
}

function addList(snapshots: Command, run: Run): void {
  const list = snapshots
    .command('list')
    .description('list the snapshots of the home of a container')
    .argument(...container)
    .action((id: string) => run((context) => withApi(context, (api) => listSnapshots(context, api, id))))
  addHelp(list, {
    effect: 'Read-only. With --json each snapshot is one line of JSON.',
    examples: [
      ['snapshots list 7', 'what there is of the home of container 7'],
      ['snapshots list 7 --json', 'for a program'],
    ],
  })
}

async function listSnapshots({ terminal }: CommandContext, api: Client, id: string): Promise<void> {
  const { snapshots } = await api.listSnapshotsFor({ params: { id } })
  for (const each of snapshots) terminal.json(each)
  if (snapshots.length > 0) terminal.table(['ID', 'MADE', 'WHY', 'SIZE'], snapshots.map(rowOf))
  else terminal.note('None.')
}

const rowOf = ({ id, created_at, reason, bytes }: Snapshot) => [
  id,
  formatInstant(created_at),
  reason,
  localize(defaultLanguage, formatBytes(bytes)),
]

function addTake(snapshots: Command, run: Run): void {
  const take = snapshots
    .command('take')
    .description('make a snapshot of the homes of containers')
    .argument('<container...>', 'ids of containers, as "berth containers list" shows them')
    .action((ids: string[]) =>
      run((context) =>
        withApi(
          context,
          (api) =>
            forEach(context, ids, async (id) => {
              const { message, snapshot } = await api.takeSnapshotFor({ params: { id } })
              return { line: `${id}: ${message} ${snapshot.id}`, value: { container: Number(id), ...snapshot } }
            }),
          longTimeout,
        ),
      ),
    )
  addHelp(take, {
    effect:
      'A container that runs is refused: stop it first. It cannot be launched meanwhile, for about a second for each 50 MB. ' +
      'Needs a running service. ' +
      'Of each home the three newest are kept, and one that is a week old.',
    examples: [
      ['snapshots take 7', 'the home of container 7'],
      ['snapshots take 7 8 9', 'three homes, one after the other'],
    ],
  })
}

function addRestore(snapshots: Command, run: Run): void {
  const restore = snapshots
    .command('restore')
    .description('put a snapshot into a new folder of its home')
    .argument(...container)
    .argument('<snapshot>', 'id of the snapshot, as "berth snapshots list" shows it')
    .option('--path <path>', 'only this folder or file of the home, such as notes/2026')
    .action((id: string, snapshot: string, { path }: { path?: string }) =>
      run((context) =>
        withApi(
          context,
          async (api) => {
            const body = path === undefined ? {} : { path }
            const { message, folder } = await api.restoreSnapshotFor({ params: { id, snapshot }, body })
            context.terminal.print(message)
            context.terminal.json({ folder })
          },
          longTimeout,
        ),
      ),
    )
  addHelp(restore, {
    effect:
      'Nothing is overwritten or removed. A container that runs is refused: stop it first. Needs a running service.',
    examples: [
      ['snapshots restore 7 1796119200000-manual', 'the whole snapshot'],
      ['snapshots restore 7 1796119200000-manual --path notes/2026', 'one folder of it'],
    ],
  })
}

function addRemove(snapshots: Command, run: Run): void {
  const remove = snapshots
    .command('remove')
    .description('remove snapshots of a home')
    .argument(...container)
    .argument('<snapshot...>', 'ids of snapshots, as "berth snapshots list" shows them')
    .action((id: string, ids: string[]) =>
      run((context) =>
        withApi(context, (api) =>
          forEach(context, ids, async (snapshot) => {
            const { message } = await api.removeSnapshotFor({ params: { id, snapshot } })
            return { line: `${snapshot}: ${message}`, value: { container: Number(id), snapshot } }
          }),
        ),
      ),
    )
  addHelp(remove, {
    effect: 'They cannot be restored any more; the home stays as it is.',
    examples: [
      ['snapshots remove 7 1796119200000-manual', 'one snapshot'],
      ['snapshots remove 7 1796119200000-manual 1796122800000-image', 'two of them'],
    ],
  })
}
