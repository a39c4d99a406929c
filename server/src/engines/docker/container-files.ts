import { Readable } from 'node:stream'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import type { Account, ContainerFiles, FileStatus, HomeRights } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts, statusOf, type EngineClient } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { noteEngineRun } from './helper-containers.ts'

type Engine = Pick<EngineContext, 'client' | 'installation' | 'archives'>

/** Bits of the mode of a path, as Go writes them (`io/fs.FileMode`). */
const [folderBit, linkBit, otherBits] = [0x8000_0000, 0x0800_0000, 0x06e8_0000]
/** Max bytes of `/etc/passwd` that are looked at. */
const maxAccounts = 1024 * 1024

/** Files of containers by the engine's archive API, which resolves paths inside the container's root. */
export function containerFiles(engine: Engine): ContainerFiles {
  return {
    begin: async (volume) => {
      const run = await noteEngineRun(engine.client, engine.installation)
      return { requireWhole: (what) => run.requireMounted(what, volume), leave: () => run.leave() }
    },
    status: (id, path, signal) => statusIn(engine, id, path, signal),
    linkTarget: (id, path, signal) => linkTarget(engine, id, path, signal),
    read: (id, path, signal) => read(engine, id, path, signal),
    accountFor: (id, folder, signal) => accountFor(engine, id, folder, signal),
    write: async (id, folder, archive, signal) => {
      const call = { what: `write files of ${id}`, method: 'PUT', path: `/containers/${id}/archive`, signal } as const
      const query = { path: folder, noOverwriteDirNonDir: 'true' }
      const end = engine.archives.begin(id)
      try {
        await engine.client.ask({ ...call, query, archive, timeout: callTimeouts.writeFiles, kind: 'stream' })
      } finally {
        end()
      }
    },
  }
}

/** What is at a path in a container, of which a link in the last part is not followed; undefined when nothing is. */
export async function pathStatus(
  client: EngineClient,
  { archivePath, path }: { readonly archivePath: string; readonly path: string },
  signal: AbortSignal,
): Promise<FileStatus | undefined> {
  const call = { what: `look at ${path} of ${archivePath}`, method: 'HEAD', path: archivePath, signal } as const
  try {
    const header = await client.header({ ...call, query: { path }, timeout: callTimeouts.read }, statusHeader)
    return statusFrom(JSON.parse(Buffer.from(header ?? '', 'base64').toString()) as PathStat)
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

async function statusIn(
  { client, archives }: Engine,
  id: string,
  path: string,
  signal: AbortSignal,
): Promise<FileStatus | undefined> {
  const end = archives.begin(id)
  try {
    return await pathStatus(client, { archivePath: `/containers/${id}/archive`, path }, signal)
  } finally {
    end()
  }
}

const statusHeader = 'x-docker-container-path-stat'

/** What is taken from the engine's answer. */
interface PathStat {
  readonly mode: number
  readonly size: number
}

function statusFrom({ mode, size }: PathStat): FileStatus {
  const has = (bits: number) => ((mode >>> 0) & bits) !== 0
  const kind = has(linkBit) ? 'link' : has(folderBit) ? 'folder' : has(otherBits) ? 'other' : 'file'
  return { kind, size, mode: mode & 0o777 }
}

/** The engine's status of a path has the target resolved; the archive has it as it is. */
async function linkTarget(engine: Engine, id: string, path: string, signal: AbortSignal): Promise<string> {
  for await (const { header } of entriesAt(engine, id, path, signal))
    if (header.type === 'symlink') return header.linkname ?? ''
  throw new RuntimeError('failed', `read ${path} of ${id}: it is no link`)
}

async function* read(engine: Engine, id: string, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const { header, body } of entriesAt(engine, id, path, signal)) {
    if (header.type !== 'file') throw new RuntimeError('failed', `read ${path} of ${id}: it is no file`)
    yield* body
    return
  }
}

/** Leaving the loop ends the answer, of which a folder's may be long. */
async function* entriesAt(
  { client, archives }: Engine,
  id: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ParsedTarEntry> {
  const left = new AbortController()
  const call = {
    what: `read ${path} of ${id}`,
    method: 'GET',
    path: `/containers/${id}/archive`,
    kind: 'stream',
  } as const
  const either = AbortSignal.any([signal, left.signal])
  const end = archives.begin(id)
  try {
    const answer = await client.stream({ ...call, query: { path }, timeout: callTimeouts.list, signal: either })
    const bytes = Readable.toWeb(Readable.from(answer)) as ReadableStream<Uint8Array>
    // Not strict: an answer that is left has no end.
    yield* bytes.pipeThrough(createTarDecoder())
  } finally {
    left.abort()
    end()
  }
}

async function accountFor(engine: Engine, id: string, folder: string, signal: AbortSignal): Promise<Account> {
  return (await programOf(engine, id, signal)) ?? (await folderRights(engine, id, folder, signal)).owner
}

/** As which account the program runs; undefined: as root. */
async function programOf(engine: Engine, id: string, signal: AbortSignal): Promise<Account | undefined> {
  const call = { what: `inspect ${id}`, method: 'GET', path: `/containers/${id}/json`, signal } as const
  const { Config } = await engine.client.ask<{ Config: { User?: string } }>({ ...call, timeout: callTimeouts.read })
  const [user = '', group] = (Config.User ?? '').split(':')
  if (user === '' || user === '0' || user === 'root') return undefined
  const gid = group !== undefined && /^\d+$/.test(group) ? Number(group) : undefined
  // The image has nothing to add to two numbers, and the engine mounts all volumes of the container for each look into it.
  if (gid !== undefined && /^\d+$/.test(user)) return { uid: Number(user), gid }
  const account = await findAccount(engine, id, user, signal)
  if (!account) throw new RuntimeError('failed', `find the account ${user} of ${id}: the image does not have it`)
  return { uid: account.uid, gid: gid ?? account.gid }
}

async function folderRights(
  engine: Engine,
  id: string,
  folder: string,
  signal: AbortSignal,
): Promise<Omit<HomeRights, 'program'>> {
  for await (const { header } of entriesAt(engine, id, folder, signal))
    return { owner: { uid: header.uid ?? 0, gid: header.gid ?? 0 }, mode: (header.mode ?? 0) & 0o777 }
  throw new RuntimeError('failed', `find the owner of ${folder} of ${id}`)
}

/** As which account the program runs, and whose its home is; undefined: as root. @throws {RuntimeError} */
export async function homeRights(
  engine: Engine,
  id: string,
  home: string,
  signal: AbortSignal,
): Promise<HomeRights | undefined> {
  const program = await programOf(engine, id, signal)
  return program && { program, ...(await folderRights(engine, id, home, signal)) }
}

/** By name or number. A number without an entry has group 0, as the engine decides it. */
async function findAccount(
  engine: Engine,
  id: string,
  user: string,
  signal: AbortSignal,
): Promise<Account | undefined> {
  const isNumber = /^\d+$/.test(user)
  const lines = (await textOf(engine, id, '/etc/passwd', signal)).split('\n').map((line) => line.split(':'))
  const found = lines.find(([name, , uid]) => (isNumber ? uid === user : name === user))
  if (found) return { uid: Number(found[2]), gid: Number(found[3]) }
  return isNumber ? { uid: Number(user), gid: 0 } : undefined
}

/** Empty when there is no such file. */
async function textOf(engine: Engine, id: string, path: string, signal: AbortSignal): Promise<string> {
  const found = await statusIn(engine, id, path, signal)
  if (found?.kind !== 'file' || found.size > maxAccounts) return ''
  const parts: Uint8Array[] = []
  for await (const bytes of read(engine, id, path, signal)) parts.push(bytes)
  return Buffer.concat(parts).toString()
}
