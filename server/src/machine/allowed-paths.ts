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
  if (first === undefined) return { problem: `names the path ${given}, and ${setting} is not set` }
  const real = realOf(path.resolve(first, given))
  if (real === undefined) return { problem: `names the path ${given}, which does not exist or cannot be read` }
  const isAllowed = roots.some((root) => !silent.has(root) && isBelow(real, realOf(root)))
  return isAllowed
    ? { real }
    : { problem: `names the path ${given}, which is not below ${setting} (${roots.join(', ')})` }
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
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
