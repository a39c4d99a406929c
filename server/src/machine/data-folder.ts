import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
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

/** File in the data folder while a restore replaces store and keys. */
export const restoreMark = 'restore-unfinished'

/** File in the data folder that names the volume which a restore creates and fills. */
export const volumeMark = 'restore-home'

/** File in the data folder with the volumes that restores have left in part before Berth was started, one in a line. */
const partialHomes = 'restored-in-part'

/**
 * A restore that was killed has left a home in part, and is given up: from now on that home is in use as it is. It is
 * noted, so that the next restore does not take it for whole.
 * @returns its volume; undefined when there is none
 */
export function forgetInterruptedRestore(dataDir: string): string | undefined {
  const mark = path.join(dataDir, volumeMark)
  // Empty: killed before the volume was created.
  const volume = existsSync(mark) ? readFileSync(mark, 'utf8') : ''
  if (volume !== '') appendFileSync(path.join(dataDir, partialHomes), `${volume}\n`, { mode: 0o600, flush: true })
  rmSync(mark, { force: true })
  return volume === '' ? undefined : volume
}

/** Volumes that `forgetInterruptedRestore` has noted, and no restore has written whole since. */
export function partlyRestored(dataDir: string): ReadonlySet<string> {
  const file = path.join(dataDir, partialHomes)
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
}

/** The home was removed, and is restored whole now. */
export function forgetPartlyRestored(dataDir: string, volume: string): void {
  const left = [...partlyRestored(dataDir)].filter((each) => each !== volume)
  writeFileSync(path.join(dataDir, partialHomes), left.map((each) => `${each}\n`).join(''), { mode: 0o600 })
}

/**
 * A restore that was interrupted leaves a store without its keys, or none: a start would create new ones.
 * @returns a sentence for the operator; undefined when none is under way, or was interrupted
 */
export function unfinishedRestore(dataDir: string): string | undefined {
  if (!existsSync(path.join(dataDir, restoreMark))) return undefined
  return `a restore into ${dataDir} was interrupted, or is under way; run "berth restore" again to complete it`
}
