import { realpathSync } from 'node:fs'
import path from 'node:path'

/** A path without symbolic links, or why it may not be used, in words that follow what it is for. */
export type AllowedPath = { readonly real: string } | { readonly problem: string }

/** Links that one path may lead over, as the kernel's limit. */
const maxLinks = 40

const none: ReadonlySet<string> = new Set()

/**
 * A path below one of the roots, symbolic links followed: one that leads out of them (path traversal) is not below.
 * Relative to the first root.
 * @param setting that names the roots @param silent roots that are not looked at, because they would not answer
 */
export function allowedPath(
  given: string,
  roots: readonly string[],
  setting: string,
  silent: ReadonlySet<string> = none,
): AllowedPath {
  const [first] = roots
  if (first === undefined) return pathOutside(given, roots, setting)
  const real = tryRealPath(path.resolve(first, given))
  if (typeof real !== 'string') return unusablePath(given, real.reason)
  const isAllowed = roots.some((root) => !silent.has(root) && isBelow(real, realOf(root)))
  return isAllowed ? { real } : pathOutside(given, roots, setting)
}

/** A path whose file system answers with an error, by the name of the error. */
export const unusablePath = (given: string, reason: string) => ({
  problem: `names the path ${given}, ${whyNot(reason)}`,
})

/** A path that is below none of the roots. @param setting that names them */
export const pathOutside = (given: string, roots: readonly string[], setting: string) => ({
  problem:
    roots.length === 0
      ? `names the path ${given}, and ${setting} is not set`
      : `names the path ${given}, which is not below ${setting} (${roots.join(', ')})`,
})

const realOf = (file: string) => {
  const real = tryRealPath(file)
  return typeof real === 'string' ? real : undefined
}

function tryRealPath(file: string): string | { readonly reason: string } {
  try {
    return realpathSync(file)
  } catch (error) {
    return { reason: fileReason(error) }
  }
}

const whyNot = (reason: string) => {
  if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(reason)) return 'which does not exist or cannot be read'
  return reason === 'ESTALE' ? `whose handle is stale (ESTALE): ${mountAgain}` : `which cannot be read (${reason})`
}

/** What an operator does about a stale handle, as words that follow one of it. */
export const mountAgain = 'its file server has replaced what it exports, so unmount it here and mount it again'

/** Number of ESTALE on Linux, for which libuv, and so Node, has no name. */
const staleHandle = -116

/** Name of the error of a file system, such as `ENOENT`. */
export function fileReason(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException
  return errno === staleHandle ? 'ESTALE' : (code ?? String(error))
}

/** Whether a path is a root or below it; both without symbolic links. */
export const isBelow = (file: string, root: string | undefined): boolean =>
  root !== undefined && (file === root || file.startsWith(root.endsWith(path.sep) ? root : root + path.sep))

/**
 * Walks a path as its resolution does: yields each entry of a folder that it passes, those of its links among them, and takes
 * the target of the link that the entry is; undefined for what is none.
 * @param file absolute @returns where the path leads
 */
export function* walkPath(file: string): Generator<string, string, string | undefined> {
  let rest = namesIn(file)
  let folder = '/'
  let links = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '..') {
      folder = path.dirname(folder)
      continue
    }
    const entry = path.join(folder, name)
    const target = yield entry
    if (target === undefined || links >= maxLinks) folder = entry
    else {
      links++
      rest = [...namesIn(target), ...rest]
      if (path.isAbsolute(target)) folder = '/'
    }
  }
  return folder
}

const namesIn = (text: string) => text.split('/').filter((name) => name !== '' && name !== '.')
