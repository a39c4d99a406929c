import { setTimeout as sleep } from 'node:timers/promises'

/** Rows that one statement deletes: what a writer who comes meanwhile waits for, about 20 ms on a slow disk. */
const batchSize = 500
/** Most batches at once; more is left for the next call. */
const maxBatches = 40
/** Between two batches, in ms: SQLite works on this very thread, which has others to serve. */
const pause = 10

/**
 * Deletes what may be many rows in small statements, between which other writers get their turn: a million links that had
 * expired while Berth did not run held up every sign-in for many seconds.
 * @param deleteSome deletes at most so many rows @returns how many it deleted
 */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<bigint>): Promise<void> {
  for (let each = 0; each < maxBatches; each++) {
    if ((await deleteSome(batchSize)) < batchSize) return
    await sleep(pause)
  }
}
