import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** Whoever may read or write it beside its owner. */
const others = 0o077
const sticky = 0o1000
/** Folders in it that Berth makes. */
const ownFolders = ['outbox']

/**
 * Makes the data folder, with mode 0700, or takes from others what they may do with it and with the files in it: keys, mails
 * with links and the database are secrets. What its owner may do stays, and links are not followed. A folder that all may
 * write to, such as `/tmp`, is left as it is: other programs live there.
 * @returns what could not be tightened, each a path with the reason; empty nearly always
 * @throws when the folder cannot be made or read
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
