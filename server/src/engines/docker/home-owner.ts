import { randomBytes } from 'node:crypto'
import { containerTool } from '#/engines/container-tool.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HomeOwnerCounts, HomeOwnerWork, HomeLocation } from '#/engines/runtime.ts'
import { LogDemultiplexer } from '#/engines/transport/log-stream.ts'
import type { BoundFolder } from './bound-folders.ts'
import { requireSafeFolders } from './check-mounts.ts'
import type { Inspection } from './container-lookup.ts'
import { callTimeouts, isValidName, statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { HelperContainers, helperImage, helperFolder } from './helper-containers.ts'
import { hasHome } from './home-volumes.ts'
import { helperLabel, ownerHelperLabels } from './labels.ts'

/** Bytes of memory that the helper may take: its folders in each other are at most 1,000, each with 32 KiB. */
const memory = 128 * 1024 ** 2
/** Bytes of its output that the engine keeps, which is a line each second. */
const keptOutput = { 'max-size': '1m', 'max-file': '2' }
/** Characters of its error output that are kept. */
const maxErrors = 1_000

/**
 * Changes the owner of a home in a container of its own, which has the container tool and the home, no network, and of
 * rights those that this needs (container-tool/chown.c). No program of a user runs there, and no link is followed.
 * @throws {RuntimeError} `missing` · `failed`, with what could not be changed in its cause
 */
export async function changeHomeOwner(
  engine: EngineContext,
  home: HomeLocation,
  { from, to, signal, onProgress }: HomeOwnerWork,
): Promise<HomeOwnerCounts> {
  const name = 'volume' in home ? home.volume : home.folder
  const what = `change the owner of ${name}`
  if ('volume' in home && !(isValidName(name) && (await hasHome(engine, name))))
    throw new RuntimeError('missing', `${what}: it is gone`)
  const { architecture } = await engine.host.facts()
  const [tool] = await engine.tool.mounts(architecture, signal)
  if (!tool) throw new RuntimeError('failed', `${what}: the container tool is not in its volume; the log says why`)
  await new HelperContainers(engine.client, engine.installation).free('volume' in home ? name : '')
  const isLooked = 'folder' in home && engine.isLocal
  const folders = isLooked ? await engine.boundFolders.look([home.folder], what) : []
  const command = [containerTool, 'chown', from ?? '-', to, helperFolder, whichOf(folders[0])]
  const id = await createHelper(engine, { what, home, tool, command })
  try {
    await requireSafeFolders(engine, id, folders, signal)
    const call = { what, method: 'POST', path: `/containers/${id}/start`, timeout: callTimeouts.start, signal } as const
    await engine.client.ask(call)
    return await untilDone(engine, id, what, signal, onProgress)
  } finally {
    await removeHelper(engine, id)
  }
}

/** The folder that the tool has to find, whatever is at its path by then. */
const whichOf = (folder: BoundFolder | undefined) => (folder ? `${folder.device}:${folder.inode}` : '-')

interface WantedHelper {
  readonly what: string
  readonly home: HomeLocation
  /** Its mount. */
  readonly tool: object
  readonly command: readonly string[]
}

async function createHelper(engine: EngineContext, { what, home, tool, command }: WantedHelper): Promise<string> {
  const { client, installation } = engine
  const target = { Target: helperFolder, ReadOnly: false }
  const mount =
    'volume' in home
      ? { ...target, Type: 'volume', Source: home.volume, VolumeOptions: { NoCopy: true } }
      : { ...target, Type: 'bind', Source: home.folder, BindOptions: { Propagation: 'rprivate' } }
  const body = {
    Image: helperImage,
    Cmd: command,
    User: '0:0',
    Labels: ownerHelperLabels(installation),
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      // Files of every account are found and given away; nothing of what is in them is read.
      CapAdd: ['CHOWN', 'DAC_OVERRIDE'],
      SecurityOpt: ['no-new-privileges:true'],
      ReadonlyRootfs: true,
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: 16,
      LogConfig: { Type: 'local', Config: keptOutput },
      Mounts: [mount, tool],
    },
  }
  const query = { name: `berth-helper-${randomBytes(8).toString('hex')}` }
  const call = { what, method: 'POST', path: '/containers/create', query, body } as const
  return (await client.ask<{ Id: string }>({ ...call, timeout: callTimeouts.create })).Id
}

/** Follows its output to the end of the program. */
async function untilDone(
  { client }: EngineContext,
  id: string,
  what: string,
  signal: AbortSignal,
  onProgress: HomeOwnerWork['onProgress'],
): Promise<HomeOwnerCounts> {
  let done: HomeOwnerCounts | undefined
  let errors = ''
  const take = (line: string) => {
    const [kind, ...words] = line.split(' ')
    const [seen = NaN, changed = NaN, before = NaN, left = NaN, uid = NaN, gid = NaN] = words.map(Number)
    if (kind === 'progress' && words.length === 2) onProgress({ seen, changed })
    else if (kind === 'done' && words.length === 6) done = { seen, changed, before, left, from: { uid, gid } }
    else errors = `${errors}${line}\n`.slice(0, maxErrors)
  }
  const query = { stdout: 'true', stderr: 'true', follow: 'true' }
  const call = { what, method: 'GET', path: `/containers/${id}/logs`, query, timeout: callTimeouts.read } as const
  const reader = new LogDemultiplexer(false)
  for await (const bytes of await client.stream({ ...call, kind: 'stream', signal })) reader.push(bytes).forEach(take)
  reader.end().forEach(take)
  signal.throwIfAborted()
  if (done && done.left === 0) return done
  const inspect = { what, method: 'GET', path: `/containers/${id}/json`, timeout: callTimeouts.read } as const
  const { State } = await client.ask<Pick<Inspection, 'State'>>(inspect)
  const count = done ? `${done.left} of ${done.seen} files and folders could not be changed` : 'it broke off'
  throw new RuntimeError('failed', `${what}: ${count}`, new Error(`exit code ${State.ExitCode}: ${errors}`))
}

/** By force: it may still run when it was given up. One that the engine keeps is removed by the next process (`helperLabel`). */
async function removeHelper({ client }: EngineContext, id: string): Promise<void> {
  const call = { what: `remove a ${helperLabel}`, method: 'DELETE', path: `/containers/${id}`, query: { force: '1' } }
  try {
    await client.ask({ ...call, method: 'DELETE', timeout: callTimeouts.remove })
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}
