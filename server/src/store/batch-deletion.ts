import { setTimeout as sleep } from 'node:timers/promises'

/** Rows per statement: it delays a concurrent writer by about 20 ms on a slow disk. */
const batchSize = 500
/** Max batches in one call; the rest is left for the next. */
const maxBatches = 40
/** Pause between two batches, in ms: SQLite works synchronously in the main thread. */
const pause = 10

/**
 * Deletes possibly many rows in small statements, between which other writers run: without that, a million links that
 * expired while Berth did not run delayed every sign-in for many seconds.
 * @param deleteSome deletes at most so many rows, and returns the number of deleted ones
 * @returns false when some may be left for the next call
 */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<bigint>): Promise<boolean> {
  for (let each = 0; each < maxBatches; each++) {
    if ((await deleteSome(batchSize)) < batchSize) return true
    await sleep(pause)
  }
  return false
}
