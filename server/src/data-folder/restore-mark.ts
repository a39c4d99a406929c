import { existsSync } from 'node:fs'
import path from 'node:path'

/** File in the data folder while a restore replaces store and keys. */
export const restoreMark = 'restore-unfinished'

/**
 * A restore that was interrupted leaves a store without its keys, or none: a start would create new ones.
 * @returns a sentence for the operator; undefined when none is under way, or was interrupted
 */
export function unfinishedRestore(dataDir: string): string | undefined {
  if (!existsSync(path.join(dataDir, restoreMark))) return undefined
  return `a restore into ${dataDir} was interrupted, or is under way; run "berth restore" again to complete it`
}
