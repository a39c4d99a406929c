import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** Mode bits of all users except the owner. */
const others = 0o077
const sticky = 0o1000
/** Subfolders that Berth creates. */
const ownFolders = ['outbox', 'before-migration']

/**
 * Creates the data folder with mode 0700, or restricts the permissions of it and its files to their owner: keys, mails
 * with links and the database are secrets. Symbolic links are not followed. A folder that all users may write to, such
 * as `/tmp`, is left as it is: other programs use it.
 * @returns paths that could not be restricted, with the reason; usually empty
 * @throws when the folder cannot be created or read
 */
export function restrictPermissions(dataDir: string): string[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if ((lstatSync(dataDir).mode & sticky) !== 0) return [`${dataDir}: it is a folder for all programs`]
  const folders = [dataDir, ...ownFolders.map((name) => path.join(dataDir, name)).filter(isFolder)]
  return folders.flatMap((folder) => [
    ...tighten(folder),
    ...readdirSync(folder).flatMap((name) => tighten(path.join(folder, name))),
  ])
}

function isFolder(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false })?.isDirectory() === true
}

function tighten(file: string): string[] {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  // SQLite's files come and go while another process has the database open.
  if (!stats || stats.isSymbolicLink() || (stats.mode & others) === 0) return []
  try {
    chmodSync(file, stats.mode & 0o700)
    return []
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [`${file}: ${(error as Error).message}`]
  }
}
