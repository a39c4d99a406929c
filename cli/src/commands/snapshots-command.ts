import type { Snapshot } from '@berth/api/schemas/features/snapshots.ts'
import { forEach, forEachByApi, defineCommand, type CommandGroup } from '#/command.ts'
import { longTimeout } from '#/with-api.ts'
import { formatInstant } from '#/terminal.ts'
import { formatBytes } from '@berth/texts/localized-message.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'

const container = ['<container>', 'id of the container, as "berth containers list" shows it'] as const

/** `berth snapshots ...`: snapshots of homes of all users. */
export const snapshotsCommands: CommandGroup = {
  description: 'snapshots of homes: list, make, restore and remove them',
  commands: () => ({ list, take, restore, remove }),
}

const list = defineCommand({
  description: 'list the snapshots of the home of a container',
  usage: (command) => command.argument(...container),
  effect: 'Read-only. With --json each snapshot is one line of JSON.',
  examples: [
    ['snapshots list 7', 'what there is of the home of container 7'],
    ['snapshots list 7 --json', 'for a program'],
  ],
  api: async ({ terminal }, api, id) => {
    const { snapshots } = await api.listSnapshotsFor({ params: { id } })
    for (const each of snapshots) terminal.json(each)
    if (snapshots.length > 0) terminal.table(['ID', 'MADE', 'WHY', 'SIZE'], snapshots.map(rowOf))
    else terminal.note('None.')
  },
})

const rowOf = ({ id, created_at, reason, bytes }: Snapshot) => [
  id,
  formatInstant(created_at),
  reason,
  localize(defaultLanguage, formatBytes(bytes)),
]

const take = defineCommand({
  description: 'make a snapshot of the homes of containers',
  usage: (command) => command.argument('<container...>', 'ids of containers, as "berth containers list" shows them'),
  effect:
    'A container that runs is refused: stop it first. It cannot be launched meanwhile, for about a second for each 50 MB. ' +
    'Needs a running service. ' +
    'Of each home the three newest are kept, and one that is a week old.',
  examples: [
    ['snapshots take 7', 'the home of container 7'],
    ['snapshots take 7 8 9', 'three homes, one after the other'],
  ],
  work: forEachByApi(async (api, id) => {
    const { message, snapshot } = await api.takeSnapshotFor({ params: { id } })
    return { line: `${id}: ${message} ${snapshot.id}`, value: { container: Number(id), ...snapshot } }
  }, longTimeout),
})

const restore = defineCommand({
  description: 'put a snapshot into a new folder of its home',
  usage: (command) =>
    command
      .argument(...container)
      .argument('<snapshot>', 'id of the snapshot, as "berth snapshots list" shows it')
      .option('--path <path>', 'only this folder or file of the home, such as notes/2026'),
  effect:
    'Nothing is overwritten or removed. A container that runs is refused: stop it first. Needs a running service.',
  examples: [
    ['snapshots restore 7 1796119200000-manual', 'the whole snapshot'],
    ['snapshots restore 7 1796119200000-manual --path notes/2026', 'one folder of it'],
  ],
  api: async ({ terminal }, api, id, snapshot, { path }) => {
    const body = path === undefined ? {} : { path }
    const { message, folder } = await api.restoreSnapshotFor({ params: { id, snapshot }, body })
    terminal.print(message)
    terminal.json({ folder })
  },
  timeout: longTimeout,
})

const remove = defineCommand({
  description: 'remove snapshots of a home',
  usage: (command) =>
    command.argument(...container).argument('<snapshot...>', 'ids of snapshots, as "berth snapshots list" shows them'),
  effect: 'They cannot be restored any more; the home stays as it is.',
  examples: [
    ['snapshots remove 7 1796119200000-manual', 'one snapshot'],
    ['snapshots remove 7 1796119200000-manual 1796122800000-image', 'two of them'],
  ],
  api: (context, api, id, ids) =>
    forEach(context, ids, async (snapshot) => {
      const { message } = await api.removeSnapshotFor({ params: { id, snapshot } })
      return { line: `${snapshot}: ${message}`, value: { container: Number(id), snapshot } }
    }),
})
