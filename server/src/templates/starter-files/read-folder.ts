import { constants, realpathSync } from 'node:fs'
import { lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { isBelow } from '#/machine/allowed-paths.ts'
import { StarterFilesError, type FileSetBuilder, type SetLimits } from './file-set.ts'

/** A file or folder of this machine that belongs to a set. */
export interface Found {
  /** Relative to the folder. */
  readonly name: string
  /** Without symbolic links. */
  readonly real: string
  readonly isFolder: boolean
  readonly mode: number
  readonly mtime: Date
  /** Changes when its content may have. */
  readonly version: string
}

/**
 * What a folder holds, without reading it. Links in it are followed as long as they lead to something below the roots.
 * @param real without symbolic links @throws {StarterFilesError} for a link out of the roots, a cycle, what is no file
 */
export async function listFolder(
  real: string,
  roots: readonly string[],
  { entries }: SetLimits,
  signal: AbortSignal,
): Promise<Found[]> {
  const allowed = roots.map((root) => realpathSync(root))
  const found: Found[] = []
  const visit = async (folder: string, prefix: string, above: readonly string[]): Promise<void> => {
    for (const name of (await readdir(folder)).sort()) {
      signal.throwIfAborted()
      const each = await inspectEntry(path.join(folder, name), prefix + name, allowed)
      if (found.push(each) > entries) throw new StarterFilesError(`it has more than ${entries} entries`)
      if (!each.isFolder) continue
      if (above.includes(each.real)) throw new StarterFilesError(`${each.name} is a link to a folder that it is in`)
      await visit(each.real, `${each.name}/`, [...above, each.real])
    }
  }
  await visit(real, '', [real])
  return found
}

async function inspectEntry(file: string, name: string, roots: readonly string[]): Promise<Found> {
  const isLink = (await lstat(file)).isSymbolicLink()
  const real = isLink ? await realpath(file).catch(() => undefined) : file
  if (real === undefined) throw new StarterFilesError(`${name} is a link that leads nowhere`)
  if (!roots.some((root) => isBelow(real, root)))
    throw new StarterFilesError(`${name} is a link that leads out of ALLOWED_MOUNT_ROOTS`)
  const stats = await stat(real)
  if (!stats.isFile() && !stats.isDirectory()) throw new StarterFilesError(`${name} is neither a file nor a folder`)
  const { dev, ino, size, mode, mtime, mtimeMs, ctimeMs } = stats
  const version = [name, dev, ino, mode, ...(stats.isFile() ? [size, mtimeMs, ctimeMs] : [])].join(' ')
  return { name, real, isFolder: stats.isDirectory(), mode, mtime, version }
}

/** Reads what was listed. @throws {StarterFilesError} */
export async function addFolder(
  builder: Pick<FileSetBuilder, 'addFolder' | 'addFile'>,
  found: readonly Found[],
  roots: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const allowed = roots.map((root) => realpathSync(root))
  for (const { name, real, isFolder, mode, mtime } of found) {
    signal.throwIfAborted()
    if (isFolder) builder.addFolder(name, mode, mtime)
    else await builder.addFile(name, mode, mtime, contentOf(real, name, allowed))
  }
}

/** What was inspected may be a link by now: the file that is open decides. */
async function* contentOf(real: string, name: string, roots: readonly string[]): AsyncGenerator<Uint8Array> {
  await using handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => real)
  if (!(await handle.stat()).isFile() || !roots.some((root) => isBelow(opened, root)))
    throw new StarterFilesError(`${name} was exchanged while it was read`)
  yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>
}
