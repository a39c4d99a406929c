import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'

/** File in the data folder while a restore replaces store and keys. */
export const restoreMark = 'restore-unfinished'

/** File in the data folder that names the volume which a restore creates and fills. */
export const volumeMark = 'restore-home'

/** A restore that was killed has left a home in part, and is given up: from now on that home is in use as it is. */
export function forgetInterruptedRestore(dataDir: string): void {
  rmSync(path.join(dataDir, volumeMark), { force: true })
}

/**
 * A restore that was interrupted leaves a store without its keys, or none: a start would create new ones.
 * @returns a sentence for the operator; undefined when none is under way, or was interrupted
 */
export function unfinishedRestore(dataDir: string): string | undefined {
  if (!existsSync(path.join(dataDir, restoreMark))) return undefined
  return `a restore into ${dataDir} was interrupted, or is under way; run "berth restore" again to complete it`
}
