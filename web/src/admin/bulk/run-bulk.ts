/** Max ids of a request. Source: the API, `BulkBody`. */
export const maxBatchSize = 1000

/** A row of a bulk action, and its name in messages. */
export interface BulkTarget {
  readonly id: number
  readonly name: string
  readonly isBlocked: boolean
}

/** The result of one request. */
export interface BatchAnswer {
  /** Ids that now have the wanted state. */
  readonly done: readonly number[]
  readonly notFound: readonly number[]
  /** Rows that a rule protects, each with the server's sentence. */
  readonly refused: readonly { readonly id: number; readonly error: string }[]
}

/** A row that was left out, and why: the server's sentence, or that it no longer exists. */
export interface LeftOut {
  readonly name: string
  readonly why: string | 'gone'
}

/** The result of a bulk job; whatever happened, the rows in `changed` were changed. */
export interface BulkOutcome {
  readonly changed: readonly BulkTarget[]
  /** How many had the wanted state already and were not sent. */
  readonly unchanged: number
  readonly leftOut: readonly LeftOut[]
  /** Undefined when the job was completed. */
  readonly stopped?: 'cancelled' | { readonly error: unknown }
}

/** The rows in batches of one request. */
export async function* inBatches(targets: readonly BulkTarget[]): AsyncGenerator<readonly BulkTarget[]> {
  for (let at = 0; at < targets.length; at += maxBatchSize) yield targets.slice(at, at + maxBatchSize)
}

/**
 * Blocks or unblocks many rows, batch after batch. Rows that have the wanted state are skipped, so that `changed` is
 * exactly what an undo reverses. Never throws: what was done before a failure stays done and is reported. A cancelled
 * job waits for the batch under way: the server would complete it all the same, and it could not be reported or undone.
 * @param wanted blocked, or not
 * @param onProgress receives the number of processed rows after each batch
 */
export async function runBulk(
  batches: AsyncIterable<readonly BulkTarget[]>,
  wanted: boolean,
  send: (ids: number[]) => Promise<BatchAnswer>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (seen: number) => void },
): Promise<BulkOutcome> {
  const changed: BulkTarget[] = []
  const leftOut: LeftOut[] = []
  let [unchanged, seen] = [0, 0]
  const outcome = () => ({ changed, unchanged, leftOut })
  try {
    for await (const batch of batches) {
      if (signal.aborted) return { ...outcome(), stopped: 'cancelled' }
      const others = batch.filter(({ isBlocked }) => isBlocked !== wanted)
      unchanged += batch.length - others.length
      if (others.length > 0) {
        const answer = await send(others.map(({ id }) => id))
        const done = new Set(answer.done)
        changed.push(...others.filter(({ id }) => done.has(id)))
        leftOut.push(...leftOutOf(answer, others))
      }
      onProgress((seen += batch.length))
    }
    return outcome()
  } catch (error) {
    return { ...outcome(), stopped: { error } }
  }
}

function leftOutOf({ notFound, refused }: BatchAnswer, batch: readonly BulkTarget[]): LeftOut[] {
  const names = new Map(batch.map(({ id, name }) => [id, name]))
  const nameOf = (id: number) => names.get(id) ?? String(id)
  return [
    ...refused.map(({ id, error }) => ({ name: nameOf(id), why: error })),
    ...notFound.map((id) => ({ name: nameOf(id), why: 'gone' })),
  ]
}
