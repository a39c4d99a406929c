import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@berth/api/client.ts'
import type { AdminContainer } from '@berth/api/schemas/administration/admin.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { forEach, listByApi, defineCommand, type CommandGroup } from '#/command.ts'
import { findUser, usersOf } from '#/find-users.ts'
import type { Terminal } from '#/terminal.ts'
import { longTimeout } from '#/with-api.ts'

/** `berth homes ...`: to which account the homes of containers belong. */
export const homesCommands: CommandGroup = {
  description: 'homes: which their programs cannot write to, and to whom they belong',
  commands: () => ({ problems, chown }),
}

type ContainerWithEmail = AdminContainer & { readonly email: string }

const problems = defineCommand({
  description: 'list containers whose program cannot write to its home',
  usage: (command) => command.option('--type <type>', 'only containers of this type'),
  effect: 'Read-only. Berth looks at a home when its container is launched; with --json each container is one line.',
  examples: [
    ['homes problems', 'homes that belong to another account than their program'],
    ['homes problems --type notebook --json', 'of one type, for a program'],
  ],
  work: listByApi(problemsOf, {
    headings: ['ID', 'OWNER', 'TYPE', 'PROGRAM', 'HOME'],
    rowOf: ({ id, email, container_type, home_problem }: ContainerWithEmail) => [
      String(id),
      email,
      container_type,
      String(home_problem?.program ?? ''),
      String(home_problem?.owner ?? ''),
    ],
  }),
})

async function* problemsOf(api: Client, { type }: { readonly type?: string }): AsyncGenerator<ContainerWithEmail[]> {
  for await (const users of usersOf(api))
    yield users.flatMap(({ email, containers }) =>
      containers.filter((each) => each.home_problem && isOfType(each, type)).map((each) => ({ email, ...each })),
    )
}

const isOfType = ({ container_type }: AdminContainer, type: string | undefined) =>
  type === undefined || container_type === type

interface ChownOptions {
  readonly all?: true
  readonly user?: string
  readonly type?: string
  readonly from?: string
  readonly to?: string
}

const chown = defineCommand({
  description: 'give homes to the account that their program runs as',
  usage: (command) =>
    command
      .argument('[container...]', 'ids of containers, as "berth containers list" and "berth homes problems" show them')
      .option('--all', 'the homes of all people; without --to those that "berth homes problems" lists')
      .option('--user <user>', 'likewise of the user with this e-mail address or id')
      .option('--type <type>', 'with --all or --user: only containers of this type')
      .option(
        '--to <account>',
        'uid or uid:gid that gets the files (default: of the program that cannot write to the home)',
      )
      .option('--from <account>', 'uid or uid:gid whose files are given away (default: whose the home itself is)'),
  effect:
    'A container that runs is refused: stop it first. It cannot be launched meanwhile. Files of further accounts stay as they are, no ' +
    'link is followed, and contents are not touched. Ctrl-C ends it after the home that it is at was left; the same command completes ' +
    'what is left. Each line names the command that is the way back. Needs a running service.',
  examples: [
    ['homes chown 7', 'the home of container 7, to the account of its program'],
    ['homes chown --all --type notebook', 'all homes that notebooks cannot write to'],
    ['homes chown --user ann@example.org --type notebook --to 1000:100', 'the home of Ann, to this account'],
  ],
  api: async (context, api, ids, options) => {
    const { from, to } = options
    for (const [option, value] of Object.entries({ from, to }))
      if (value !== undefined && !/^\d{1,9}(:\d{1,9})?$/.test(value))
        throw new WrongUsage(`--${option}: "${value}" is neither a uid nor uid:gid.`)
    const targets = await targetsOf(api, ids, options)
    if (targets.length === 0)
      throw new CommandFailed('There is no such home. "berth homes problems" lists those that need it.')
    const body = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    await forEach(context, targets, async (id) => {
      const done = await withProgress(context.terminal, api, id, () => api.changeHomeOwnerFor({ params: { id }, body }))
      const back = wayBack(id, done)
      const before = done.before > 0 ? ` (which also gives away ${done.before} that belonged to it before)` : ''
      return { line: `${id}: ${done.message} Way back: ${back}${before}`, value: { container: Number(id), ...done } }
    })
  },
  timeout: longTimeout,
})

/** Groups are given back where they were given away. */
function wayBack(id: string, { from, to }: { readonly from: string; readonly to: string }): string {
  const old = to.includes(':') ? from : from.split(':')[0]
  return `berth homes chown ${id} --from ${to} --to ${old}`
}

async function targetsOf(
  api: Client,
  ids: readonly string[],
  { all, user, type, to }: ChownOptions,
): Promise<string[]> {
  const choices = [ids.length > 0, all === true, user !== undefined].filter(Boolean).length
  if (choices !== 1 || (ids.length > 0 && type !== undefined))
    throw new WrongUsage('Name containers by their ids, or say --all or --user, with or without --type.')
  if (ids.length > 0) return [...ids]
  const isMeant = (each: AdminContainer) =>
    isOfType(each, type) && (to !== undefined || each.home_problem !== undefined)
  const found: string[] = []
  for await (const users of user === undefined ? usersOf(api) : [[await findUser(api, user)]])
    for (const { containers } of users) found.push(...containers.filter(isMeant).map(({ id }) => String(id)))
  return found
}

/** How often the progress of one home is asked for, in ms. */
const progressInterval = 1_000

async function withProgress<T>(terminal: Terminal, api: Client, id: string, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const shown = showProgress(terminal, api, id, over.signal)
  try {
    return await work()
  } finally {
    over.abort()
    await shown
  }
}

/** Never rejects: what the work itself meets is told by it. */
async function showProgress(terminal: Terminal, api: Client, id: string, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await sleep(progressInterval, undefined, { signal })
      const { is_running, seen, changed } = await api.readHomeOwnerProgressFor({ params: { id } })
      if (is_running && !signal.aborted) terminal.progress(`${id}: ${seen} files and folders, ${changed} changed`)
    }
  } catch {
    terminal.endProgress()
  }
}
