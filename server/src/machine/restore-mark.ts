import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** File in the data folder while a restore replaces store and keys. */
export const restoreMark = 'restore-unfinished'

/** File in the data folder that names the volume which a restore creates and fills. */
export const volumeMark = 'restore-home'

/** File in the data folder with the volumes that restores have left in part before Berth was started, one in a line. */
const partialHomes = 'restored-in-part'

/**
 * A restore that was killed has left a home in part, and is given up: from now on that home is in use as it is. It is noted, so that
 * the next restore does not take it for whole.
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
