import type { AdminContainer } from '@berth/api/schemas/administration/admin.ts'
import type { Client } from '@berth/api/client.ts'
import { forEach, forEachByApi, listByApi, removed, defineCommand, type CommandGroup, type Usage } from '#/command.ts'
import { findUser, usersOf } from '#/find-users.ts'
import type { CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { formatCount, formatInstant, formatBoolean } from '#/terminal.ts'

/** Max ids in one request. */
const maxIdsPerRequest = 1_000

/** `berth containers ...`: containers of all users. */
export const containersCommands: CommandGroup = {
  description: 'containers: list, stop, block and remove them',
  commands: () => ({ list, stop, block, unblock, remove }),
}

const withIds = (command: Usage) =>
  command.argument('<id...>', 'ids of containers, as "berth containers list" shows them')

const list = defineCommand({
  description: 'list container records',
  usage: (command) => command.option('--user <user>', 'only containers of the user with this e-mail address or id'),
  effect: 'Read-only. With --json each container is one line of JSON.',
  examples: [
    ['containers list', 'all containers with their owners'],
    ['containers list --user ann@example.org --json', 'containers of Ann, for a program'],
  ],
  work: listByApi(containersOf, {
    headings: ['ID', 'OWNER', 'TYPE', 'BLOCKED', 'LAST USED', 'IMAGE'],
    rowOf: (container: OwnedContainer) => [
      String(container.id),
      container.email,
      container.container_type,
      formatBoolean(container.is_blocked),
      formatInstant(container.last_used),
      container.template_image,
    ],
  }),
})

type OwnedContainer = AdminContainer & { readonly email: string }

async function* containersOf(api: Client, { user }: { user?: string }): AsyncGenerator<readonly OwnedContainer[]> {
  const pages = user === undefined ? usersOf(api) : [[await findUser(api, user)]]
  for await (const users of pages)
    yield users.flatMap(({ email, containers }) => containers.map((container) => ({ email, ...container })))
}

const stop = defineCommand({
  description: 'stop containers, even in use',
  usage: withIds,
  effect:
    'Their connections are closed; files are kept. The next launch or visit starts them: to keep one stopped, block it.',
  examples: [
    ['containers stop 7', 'free the memory of container 7'],
    ['containers stop 7 8 9', 'three containers, one after the other'],
  ],
  work: forEachByApi(async (api, id) => {
    const { message, container } = await api.stopContainer({ params: { id } })
    return { line: `${id}: ${message}`, value: container }
  }),
})

const block = defineCommand({
  description: 'stop and block containers',
  usage: withIds,
  effect:
    'Running ones are stopped and their connections closed; files are kept. Other containers of the owner are not affected. Without ' +
    'a running service they are stopped if the engine answers, else at the next start of Berth.',
  examples: [
    ['containers block 7', 'until it is unblocked'],
    ['containers block 7 8 9 --json', 'three containers, for a program'],
  ],
  api: (context, api, ids) => changeInBulk(context, ids, 'is blocked', (input) => api.bulkBlockContainers(input)),
})

const unblock = defineCommand({
  description: 'unblock containers',
  usage: withIds,
  effect: 'Nothing is started: the next launch or visit does that.',
  examples: [
    ['containers unblock 7', 'its owner may start it again'],
    ['containers unblock 7 8 9', 'three containers'],
  ],
  api: (context, api, ids) =>
    changeInBulk(context, ids, 'is not blocked any more', (input) => api.bulkUnblockContainers(input)),
})

type Bulk = (input: {
  body: { container_ids: number[] }
}) => Promise<{ containers: AdminContainer[]; not_found: number[] }>

async function changeInBulk(
  { terminal, signal }: CommandContext,
  ids: readonly string[],
  what: string,
  call: Bulk,
): Promise<void> {
  const numbers = [...new Set(ids.map(readId))]
  const [done, failed]: [AdminContainer[], number[]] = [[], []]
  for (let at = 0; at < numbers.length; at += maxIdsPerRequest) {
    signal.throwIfAborted()
    const { containers, not_found } = await call({ body: { container_ids: numbers.slice(at, at + maxIdsPerRequest) } })
    done.push(...containers)
    failed.push(...not_found)
    if (numbers.length > maxIdsPerRequest) terminal.progress(`${done.length + failed.length} of ${numbers.length}`)
  }
  terminal.endProgress()
  for (const { id } of done) terminal.print(`${id}: The container ${what}.`)
  for (const id of failed) terminal.note(`${id}: There is no such container.`)
  terminal.json({ done, failed: failed.map((id) => ({ target: String(id), error: 'There is no such container.' })) })
  if (failed.length > 0) throw new CommandFailed(`${failed.length} of ${numbers.length} could not be done.`)
}

function readId(text: string): number {
  if (/^\d{1,15}$/.test(text) && Number(text) > 0) return Number(text)
  throw new WrongUsage(`"${text}" is no id of a container; "berth containers list" shows them.`)
}

const remove = defineCommand({
  description: 'remove containers; the next launch creates new ones',
  usage: (command) =>
    withIds(command)
      .option('--purge', 'also delete their homes, permanently')
      .option('--yes', 'do not ask for confirmation'),
  effect:
    'Running ones are stopped and their connections closed. Files outside the home are lost; the home ' +
    'returns with the next launch unless --purge is given. Without a terminal it needs --yes.',
  examples: [
    ['containers remove 7', 'asks, then removes it; its home is kept'],
    ['containers remove 7 8 --purge --yes', 'removes two containers and their homes without asking'],
  ],
  api: async (context, api, ids, options) => {
    const count = formatCount(new Set(ids).size, 'container')
    const files = options.purge ? 'and the files of their homes, for ever' : 'whose homes stay'
    if (!options.yes) await context.terminal.confirm(`This removes ${count}, ${files}.`, '--yes', context.signal)
    const query = options.purge ? { purge: 'true' } : {}
    await forEach(context, ids, async (id) => removed(id, await api.deleteContainer({ params: { id }, query })))
  },
})
