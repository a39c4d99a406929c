import { StarterFilesError } from './starter-files-error.ts'

const maxPath = 4_096
const maxName = 255

/**
 * Refuses path traversal: the path of an entry of an archive or a folder, relative to it, in one spelling; empty for the
 * folder itself.
 * @throws {StarterFilesError} when it is absolute, leads out by `..`, or is no name of a file
 */
export function entryPath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (name.startsWith('/') || /^[a-z]:[\\/]/i.test(name)) throw refused(name, 'is absolute')
  if (parts.includes('..') || name.split('\\').includes('..')) throw refused(name, 'leads out of its folder')
  if (name.includes('\0') || Buffer.byteLength(name) > maxPath) throw refused(name, 'is no name of a file')
  if (parts.some((part) => Buffer.byteLength(part) > maxName)) throw refused(name, 'is longer than a file system takes')
  return parts.join('/')
}

/**
 * Target of a symbolic link that stays in the folder. `..` is taken at its beginning alone: after another name it would
 * lead on from where a further link leads.
 * @param path of the link @throws {StarterFilesError} when it leads out
 */
export function linkTarget(path: string, target: string): string {
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const up = parts.findIndex((part) => part !== '..')
  const levels = up === -1 ? parts.length : up
  const isInside =
    target !== '' &&
    !target.startsWith('/') &&
    !target.includes('\0') &&
    Buffer.byteLength(target) <= maxPath &&
    !parts.slice(levels).includes('..') &&
    levels < path.split('/').length
  if (!isInside) throw refused(path, `is a link that leads out of its folder (to ${target.slice(0, 200)})`)
  return target
}

const refused = (name: string, why: string) =>
  new StarterFilesError(`the entry ${JSON.stringify(name.slice(0, 200))} ${why}`)
