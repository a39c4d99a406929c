import path from 'node:path'
import type { TarHeader } from 'modern-tar'
import { ownerOfFolders } from '#/engines/home-archive.ts'
import type { ArchivedHome, HomeArchive, HomeOutcome, HomeWriting } from '#/engines/home-archive.ts'
import { NothingThere, RuntimeError } from '#/engines/runtime-error.ts'
import type { FileStatus, HomeContents } from '#/engines/runtime.ts'
import { TarArchiveEnd } from '#/engines/tar/archive-end.ts'
import { firstHeader } from '#/engines/tar/move-archive.ts'
import { leftOut, oneEntry, pathIn, rewrittenArchive } from '#/engines/tar/archive-rewrite.ts'
import { withSendLimit, withStallLimit } from '#/engines/transport/wait-limits.ts'
import { callTimeouts, statusOf, type EngineClient } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { pathStatus } from './container-files.ts'
import { HelperContainers, type Helper } from './helper-containers.ts'
import { findVolume, isWithoutQuotas, listHomesAndFolders, quotaOptions, removeVolume } from './home-volumes.ts'
import { folderLabels, homeLabels } from './labels.ts'

/**
 * Contents of homes by the engine's archive API, through a container that is never started and has an empty root file
 * system: nothing of a user runs in it or is resolved as a path (docs/explanation/decisions/046). The account of the
 * service cannot read the folders of volumes, and the engine may be on another machine.
 */
export function homeArchive(client: EngineClient, installation: string): HomeArchive {
  const helpers = new HelperContainers(client, installation)
  return {
    homes: async () => {
      const { homes, folders } = await listHomesAndFolders({ client, installation })
      const archived = homes.map(({ volume, owner, found }) => {
        const size = Number(found.Options?.size)
        return { volume, owner, ...(size > 0 ? { size } : {}) }
      })
      return [
        ...archived,
        ...folders.map(({ Name: volume }) => ({ volume, owner: ownerOfFolders, isFolder: true as const })),
      ]
    },
    read: (volume, signal) => readHome(client, helpers, volume, signal),
    write: (home, archive, options) => writeHome(client, helpers, installation, { home, archive, ...options }),
    removeUnfinished: async (volume) => {
      await helpers.free(volume)
      await removeVolume(client, volume).catch((error: unknown) => {
        // In use by a container that was created since.
        if (statusOf(error) !== 409) throw error
      })
    },
  }
}

/** A home, or what is at a path of it, as tar, read whole or not at all. @throws {RuntimeError} as `HomeArchive.read` */
async function* readHome(
  client: EngineClient,
  helpers: HelperContainers,
  volume: string,
  signal: AbortSignal,
  at?: string,
): AsyncGenerator<Uint8Array> {
  // The engine would create a volume that is gone, without labels.
  if (!(await findVolume(client, volume))) throw new RuntimeError('missing', `read ${volume}: it is gone`)
  const helper = await helpers.create(volume, 'read')
  try {
    const call = { what: `read ${volume}`, method: 'GET', path: helper.archivePath, kind: 'stream' } as const
    if (at !== undefined) await requireThere(client, helper, at, signal)
    const query = { path: `${helper.folder}/${at ?? '.'}` }
    const end = new TarArchiveEnd()
    const open = (both: AbortSignal) => client.stream({ ...call, query, timeout: callTimeouts.list, signal: both })
    const limit = callTimeouts.readHomeStall
    const stalled = () => new RuntimeError('failed', `read ${volume}: the engine sent nothing for ${limit / 1_000} s`)
    for await (const bytes of withStallLimit(open, { signal, limit, stalled })) {
      end.pass(bytes)
      yield bytes
    }
    // The engine ends an archive that it cannot go on with without an error.
    if (!end.hasCome) throw new RuntimeError('failed', `read ${volume}: a file changed while it was read`)
    await helper.requireMounted(call.what)
  } finally {
    await helper.remove()
  }
}

interface Writing extends HomeWriting {
  readonly home: ArchivedHome
  readonly archive: () => AsyncIterable<Uint8Array>
}

async function writeHome(
  client: EngineClient,
  helpers: HelperContainers,
  installation: string,
  { home, archive, signal, beforeCreate }: Writing,
): Promise<HomeOutcome> {
  const { volume } = home
  if (await findVolume(client, volume)) return 'exists'
  await beforeCreate()
  const what = `restore ${volume}`
  const isBound = await createVolume(client, installation, home)
  const helper = await helpers.create(volume, 'write')
  try {
    const call = { what, method: 'PUT', path: helper.archivePath, signal } as const
    const put = (sent: AsyncIterable<Uint8Array>, folder: string) =>
      client.ask({ ...call, query: { path: folder }, archive: sent, timeout: callTimeouts.writeHome, kind: 'stream' })
    const name = helper.folder.slice(1)
    try {
      await put(archive(), helper.folder)
      // Docker leaves owner and mode of the folder alone that it unpacks into.
      const top = await firstHeader(archive())
      if (top && pathIn(top.name) === '') await put(folderOnly(top, name), '/')
    } catch (error) {
      signal.throwIfAborted()
      // Docker takes no link that leads out of the folder it unpacks into, and none leads out of the top.
      if (!(await hasLinkOut(archive()))) throw error
      await put(inFolder(archive(), name), '/')
    }
    await helper.requireMounted(what)
    await helper.remove()
    return isBound ? 'created' : 'created-unbound'
  } catch (error) {
    await helper.remove()
    await removeVolume(client, volume)
    throw error
  }
}

/** @returns whether it has the size that it was bound to */
async function createVolume(
  client: EngineClient,
  installation: string,
  { volume, owner, size, isFolder }: ArchivedHome,
): Promise<boolean> {
  const call = { what: `restore ${volume}`, method: 'POST', path: '/volumes/create' } as const
  const labels = isFolder ? folderLabels(installation) : homeLabels(installation, owner)
  const plain = { Name: volume, Labels: labels }
  const create = (body: object) => client.ask({ ...call, body, timeout: callTimeouts.read })
  try {
    const { Name: Driver, Options: DriverOpts } = quotaOptions(size ?? 0)
    await create(size === undefined ? plain : { ...plain, Driver, DriverOpts })
    return true
  } catch (error) {
    if (size === undefined || !isWithoutQuotas(error)) throw error
    await create(plain)
    return false
  }
}

/** Contents of homes through containers that are never started, as backups read them (decision 046). */
export function homeContents({ client, helpers }: Pick<EngineContext, 'client' | 'helpers'>): HomeContents {
  /** @param replaces whether a file of the archive may take the place of a folder */
  const put = async (
    volume: string,
    archive: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    {
      replaces,
      at,
      isMountPoint,
    }: { readonly replaces: boolean; readonly at?: string; readonly isMountPoint?: boolean },
  ) => {
    // The engine would create a volume that is gone, without labels.
    if (!(await findVolume(client, volume))) throw new RuntimeError('missing', `write to ${volume}: it is gone`)
    const helper = await helpers.create(volume, 'write')
    const folder = at === undefined ? helper.folder : path.posix.dirname(`${helper.folder}/${at}`)
    const query = { path: folder, ...(replaces ? {} : { noOverwriteDirNonDir: '1' }) }
    const call = { what: `write to ${volume}`, method: 'PUT', path: helper.archivePath, query } as const
    const limit = callTimeouts.writeHomeStall
    const stalled = () =>
      new RuntimeError('failed', `write to ${volume}: the engine took nothing for ${limit / 1_000} s`)
    try {
      const found = at === undefined ? undefined : await requireThere(client, helper, at, signal)
      if (isMountPoint && found?.kind === 'folder')
        throw new RuntimeError('conflict', `remove a folder at a mount point`)
      await withSendLimit(archive, { signal, limit, stalled }, (sent, both) =>
        client.ask({ ...call, archive: sent, signal: both, timeout: callTimeouts.writeHome, kind: 'stream' }),
      )
      await helper.requireMounted(call.what)
    } finally {
      await helper.remove()
    }
  }
  return {
    read: (volume, signal) => readHome(client, helpers, volume, signal),
    add: (volume, archive, signal) => put(volume, archive, signal, { replaces: false }),
    discard: (volume, folder, signal) => put(volume, emptyFile(folder), signal, { replaces: true }),
    readAt: (volume, at, signal) => readHome(client, helpers, volume, signal, at),
    removeAt: (volume, at, signal, isMountPoint = false) => {
      const name = path.posix.basename(at)
      const left = isMountPoint ? emptyFolder(name) : emptyFile(name, 0)
      return put(volume, left, signal, { replaces: true, at, isMountPoint })
    },
  }
}

/**
 * The engine resolves symbolic links of a path, but never out of the root of a helper, in which there is the home alone.
 * @throws {NothingThere} also where a part before the last is no folder
 */
async function requireThere(
  client: EngineClient,
  helper: Helper,
  at: string,
  signal: AbortSignal,
): Promise<FileStatus> {
  let [found, place]: [FileStatus | undefined, string] = [undefined, helper.folder]
  for (const part of at.split('/')) {
    if (found && found.kind !== 'folder') throw nothingThere()
    place = `${place}/${part}`
    found = await pathStatus(client, { archivePath: helper.archivePath, path: place }, signal).catch(asLoop)
    if (!found) throw nothingThere()
  }
  if (!found) throw nothingThere()
  return found
}

/** Docker tells of a link where it leads to, and fails at one that leads to itself. @throws the error when it is another one */
function asLoop(error: unknown): FileStatus {
  if (statusOf(error) !== 500) throw error
  return { kind: 'link', size: 0, mode: 0o777 }
}

const nothingThere = () => new NothingThere('look at a path of a home: there is none')

/**
 * An archive with one empty file. The engine removes a folder of this name with all that is in it before it makes the
 * file.
 */
const emptyFile = (name: string, mode = 0o644) => oneEntry({ name, size: 0, type: 'file', mode })

/** An archive with one empty folder, for which the engine removes anything that is no folder. */
const emptyFolder = (name: string) => oneEntry({ name: `${name}/`, size: 0, type: 'directory', mode: 0o755 })

/** An archive with a folder alone, of the owner, mode and times of another entry. */
const folderOnly = ({ mode, uid, gid, mtime }: TarHeader, name: string) =>
  oneEntry({
    name: `${name}/`,
    size: 0,
    type: 'directory',
    mode: mode ?? 0o755,
    uid: uid ?? 0,
    gid: gid ?? 0,
    ...(mtime && { mtime }),
  })

/** Whether a home has a symbolic link that leads out of it by a relative path. Reads the archive to its end. */
async function hasLinkOut(archive: AsyncIterable<Uint8Array>): Promise<boolean> {
  let isFound = false
  const headers = rewrittenArchive(archive, (header) => {
    isFound ||= leadsOut(header)
    return []
  })
  for await (const nothing of headers) void nothing
  return isFound
}

/** The archive of a home with all entries below a folder. Sockets, pipes and devices are left out. */
export function inFolder(archive: AsyncIterable<Uint8Array>, folder: string): AsyncIterable<Uint8Array> {
  const below = (name: string) => [folder, pathIn(name)].filter(Boolean).join('/')
  const isLeftOut = leftOut()
  return rewrittenArchive(archive, (header) => {
    if (isLeftOut(header)) return []
    const { pax = {}, linkname = '', ...rest } = header
    // The rest is kept: attributes, and times with all their digits.
    const kept = Object.fromEntries(Object.entries(pax).filter(([key]) => !/^(path|linkpath|size)$/.test(key)))
    const name = below(header.name) + (header.type === 'directory' ? '/' : '')
    return [{ ...rest, name, pax: kept, linkname: header.type === 'link' ? below(linkname) : linkname }]
  })
}

function leadsOut({ type, name, linkname = '' }: TarHeader): boolean {
  if (type !== 'symlink' || linkname.startsWith('/')) return false
  const target = path.posix.join(path.posix.dirname(pathIn(name)), linkname)
  return target === '..' || target.startsWith('../')
}
