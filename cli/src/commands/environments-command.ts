import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fillPath, refusalIn, type Client } from '@berth/api/client.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import type { Environment, EnvironmentSource, EnvironmentVersion } from '@berth/api/schemas/environments.ts'
import { CommandFailed, WrongUsage, reasonOf } from '#/command-failure.ts'
import { forEachByApi, listByApi, pagesOf, defineCommand, type CommandGroup } from '#/command.ts'
import { findGroup } from '#/find-users.ts'
import { formatInstant } from '#/terminal.ts'
import { longTimeout, withApi, type CommandContext } from '#/with-api.ts'

/** `berth environments ...`: images that Berth builds. */
export const environmentsCommands: CommandGroup = {
  description: 'environments: images that Berth builds for templates',
  alias: 'environment',
  commands: () => ({ list, versions, set, build, log, cancel, publish, delete: remove }),
}

const list = defineCommand({
  description: 'list environments',
  effect: 'Read-only. With --json each environment is one line of JSON.',
  examples: [
    ['environments list', 'all environments, with the version that launches use'],
    ['environments list --json | jq .versions', 'versions with their states'],
  ],
  work: listByApi((api) => environmentsOf(api), {
    headings: ['NAME', 'PUBLISHED', 'NEWEST', 'STATE', 'TYPES'],
    rowOf: ({ name, published, versions: [newest], types }: Environment) => [
      name,
      published === null ? '-' : String(published),
      newest ? String(newest.version) : '-',
      newest?.state ?? '-',
      types.join(' '),
    ],
  }),
})

async function* environmentsOf(api: Client): AsyncGenerator<readonly Environment[]> {
  for await (const { environments } of pagesOf((page) => api.listEnvironments({ query: page }))) yield environments
}

const versions = defineCommand({
  description: 'list the versions of an environment',
  usage: (command) => command.argument('<name>', 'name of the environment'),
  effect: 'Read-only.',
  examples: [
    ['environments versions statistics', 'states, sizes, and why one failed'],
    ['environments versions statistics --json', 'the same, for a program'],
  ],
  api: async ({ terminal }, api, name) => {
    const { environment } = await api.readEnvironment({ params: { name } })
    for (const version of environment.versions) terminal.json(version)
    terminal.table(
      ['VERSION', 'STATE', 'MIB', 'CREATED', 'ERROR'],
      environment.versions.map(({ version, state, size, created_at, error }) => [
        version === environment.published ? `${version} (published)` : String(version),
        state,
        size === null ? '-' : String(Math.ceil(size / 1024 ** 2)),
        formatInstant(created_at),
        error?.split('\n')[0] ?? '',
      ]),
    )
  },
})

interface SetOptions {
  readonly dockerfile?: string
  readonly git?: string
  readonly ref?: string
  readonly path?: string
  readonly base?: string
  readonly apt?: string[]
  readonly pip?: string[]
  readonly npm?: string[]
  readonly run?: string[]
  readonly description?: string
  readonly group?: string
}

const set = defineCommand({
  description: 'make an environment, or change what it is built from',
  usage: (command) =>
    command
      .argument('<name>', 'lower-case letters, digits and hyphens; templates name it by `environment`')
      .option('--dockerfile <file>', 'a Dockerfile without a context')
      .option('--git <url>', 'a repository, with --ref and --path')
      .option('--ref <ref>', 'branch, tag or commit')
      .option('--path <path>', 'folder of the repository, or a Dockerfile in it')
      .option('--base <image>', 'image that packages are added to')
      .option('--apt <package...>', 'packages of Debian or Ubuntu')
      .option('--pip <package...>', 'packages of Python')
      .option('--npm <package...>', 'packages of npm')
      .option('--run <command...>', 'commands of a shell')
      .option('--description <text>', 'what it is')
      .option('--group <group>', 'name or id of the group whose managers may change it'),
  effect:
    'The form of the source is checked; repositories and images are read by the build. Nothing is built, and nothing that runs changes.',
  examples: [
    ['environments set statistics --base python:3.13 --pip pandas scipy', 'packages on a base'],
    ['environments set statistics --git https://git.example.org/course.git --path week1', 'a repository'],
  ],
  api: async ({ terminal, folder }, api, name, options) => {
    const source = await sourceOf(options, folder)
    const { description, group } = options
    const common = {
      ...(description !== undefined && { description }),
      ...(group !== undefined && { group_id: (await findGroup(api, group)).id }),
    }
    const exists = await api.readEnvironment({ params: { name } }).then(
      () => true,
      () => false,
    )
    if (!exists && !source) throw new WrongUsage('Say what it is built from: --dockerfile, --git or --base.')
    const { environment } =
      exists || !source
        ? await api.changeEnvironment({ params: { name }, body: { ...common, ...(source && { source }) } })
        : await api.createEnvironment({ body: { name, source, ...common } })
    terminal.json(environment)
    terminal.print(`Environment ${environment.name}. Build it with: berth environments build ${environment.name}`)
  },
})

async function sourceOf(options: SetOptions, folder: string): Promise<EnvironmentSource | undefined> {
  const { dockerfile, git, ref, path: place, base, apt, pip, npm, run } = options
  if (
    [dockerfile, git].filter((each) => each !== undefined).length > 1 ||
    (dockerfile !== undefined && base !== undefined)
  )
    throw new WrongUsage('Name one of --dockerfile, --git and --base.')
  const hasPackages = [apt, pip, npm, run].some((each) => each !== undefined)
  if (hasPackages && (base === undefined || git !== undefined))
    throw new WrongUsage('--apt, --pip, --npm and --run are added to an image: name it with --base, and no --git.')
  if ((ref ?? place) !== undefined && git === undefined)
    throw new WrongUsage('--ref and --path are of a repository: name it with --git.')
  if (dockerfile !== undefined)
    return {
      dockerfile: await readFile(path.resolve(folder, dockerfile), 'utf8').catch((error: unknown) => {
        throw new CommandFailed(`${dockerfile} cannot be read: ${reasonOf(error)}`)
      }),
    }
  if (git !== undefined)
    return {
      git,
      ...(ref !== undefined && { ref }),
      ...(place !== undefined && { path: place }),
      ...(base !== undefined && { base }),
    }
  if (base === undefined) return undefined
  return { base, ...(apt && { apt }), ...(pip && { pip }), ...(npm && { npm }), ...(run && { run }) }
}

const build = defineCommand({
  description: 'build the next version of an environment, and wait for it',
  usage: (command) =>
    command.argument('<name>', 'name of the environment').option('--publish', 'publish the version when it is ready'),
  effect: 'Nothing that runs changes. Ctrl-C ends the wait, and with a running service not the build.',
  examples: [
    ['environments build statistics', 'exit code 1 if the build fails, with the reason'],
    ['environments build statistics --publish', 'for a nightly job'],
  ],
  api: async ({ terminal, signal }, api, name, { publish: publishes }) => {
    const { version: number } = await api.buildEnvironment({ params: { name } })
    terminal.note(`Version ${number} is being built. Its output: berth environments log ${name}`)
    for (;;) {
      await sleep(pollInterval, undefined, { signal })
      const { environment } = await api.readEnvironment({ params: { name } })
      const version = environment.versions.find((each) => each.version === number)
      if (!version) throw new CommandFailed(`Version ${number} is gone.`)
      if (version.state === 'failed') throw new CommandFailed(version.error ?? `Version ${number} failed.`)
      if (version.state !== 'ready') continue
      if (publishes) await api.publishVersion({ params: { name, version: String(number) } })
      return printBuilt(terminal, version, publishes === true)
    }
  },
})

/** Between two looks at a build, in ms. */
const pollInterval = 1_000

function printBuilt(terminal: CommandContext['terminal'], version: EnvironmentVersion, isPublished: boolean): void {
  terminal.json(version)
  terminal.print(`Version ${version.version} is ${isPublished ? 'published' : 'ready'}.`)
}

const log = defineCommand({
  description: 'show the output of a build, and follow one that runs to its end',
  usage: (command) =>
    command
      .argument('<name>', 'name of the environment')
      .argument('[version]', 'its number; the newest one when left out')
      .option('--no-follow', 'end with what there is, although the build goes on'),
  effect: 'Read-only. Ctrl-C ends the command, and with a running service not the build.',
  examples: [
    ['environments log statistics', 'the newest version, until its build has ended'],
    ['environments log statistics 4 --no-follow', 'what there is of version 4'],
  ],
  work: (context: CommandContext, name: string, version: string | undefined, options: { readonly follow: boolean }) =>
    withApi(context, (api, send) => showLog(context, api, send, { name, version, ...options }), longTimeout),
})

/** Time without output after which what there is of a build counts as shown, in ms. */
const silence = 1_000

async function showLog(
  { terminal }: CommandContext,
  api: Client,
  send: typeof fetch,
  { name, version, follow }: { readonly name: string; readonly version: string | undefined; readonly follow: boolean },
): Promise<void> {
  const { environment } = await api.readEnvironment({ params: { name } })
  const number = version ?? environment.versions[0]?.version
  if (number === undefined) throw new CommandFailed(`No version of ${name} was built yet.`)
  const answer = await send(fillPath(endpoints.readBuildLog.path, { name, version: String(number) }))
  if (!answer.ok) throw await refusalIn(answer)
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  for (;;) {
    const next = reader.read()
    // The end of one that is not followed is not asked about any more.
    next.catch(() => undefined)
    const part = await (follow ? next : Promise.race([next, sleep(silence)]))
    if (!part || part.done) return void reader.cancel().catch(() => undefined)
    await terminal.write(part.value)
  }
}

const cancel = defineCommand({
  description: 'end a build that waits or runs',
  usage: (command) =>
    command
      .argument('<name>', 'name of the environment')
      .argument('[version]', 'its number; the one that is being built when left out'),
  effect: 'The version counts as failed. What is published and what runs stays as it is.',
  examples: [
    ['environments cancel statistics', 'the build that waits or runs'],
    ['environments cancel statistics 4', 'the build of version 4 and no other'],
  ],
  api: async ({ terminal }, api, name, version) => {
    const number = version ?? (await unfinishedVersion(api, name))
    const { environment } = await api.cancelBuild({ params: { name, version: number } })
    terminal.json(environment)
    terminal.print(`The build of version ${number} has ended.`)
  },
})

/** @throws {CommandFailed} when none is being built */
async function unfinishedVersion(api: Client, name: string): Promise<string> {
  const { environment } = await api.readEnvironment({ params: { name } })
  const found = environment.versions.find(({ state }) => state === 'waiting' || state === 'building')
  if (!found) throw new CommandFailed(`No version of ${name} is being built.`)
  return String(found.version)
}

const publish = defineCommand({
  description: 'publish a version: launches use it from now on',
  usage: (command) =>
    command
      .argument('<name>', 'name of the environment')
      .argument('<version>', 'its number; an older one just as well'),
  effect: 'What runs keeps its version until it is stopped; berth templates list counts those.',
  examples: [
    ['environments publish statistics 4', 'the newest one'],
    ['environments publish statistics 3', 'back to the one before'],
  ],
  api: async ({ terminal }, api, name, version) => {
    const { environment } = await api.publishVersion({ params: { name, version } })
    terminal.json(environment)
    terminal.print(`${environment.name}: version ${environment.published} is published.`)
  },
})

const remove = defineCommand({
  description: 'delete environments that no template uses',
  usage: (command) => command.argument('<name...>', 'names'),
  effect: 'Their images go when no container uses them any more.',
  examples: [
    ['environments delete statistics', 'one environment'],
    ['environments delete statistics physics', 'two'],
  ],
  work: forEachByApi(async (api, name) => {
    const { message } = await api.deleteEnvironment({ params: { name } })
    return { line: `${name}: ${message}`, value: { name, message } }
  }),
})
