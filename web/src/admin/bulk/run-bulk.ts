/** Ids in one request. Source: the API, `BulkBody`. */
export const maxBatchSize = 1000

/** A row that something is to be done to, and what it is called where it is spoken of. */
export interface BulkTarget {
  readonly id: number
  readonly name: string
  readonly isBlocked: boolean
}

/** What one request did. */
export interface BatchAnswer {
  /** Ids that are now as they were asked to be. */
  readonly done: readonly number[]
  readonly notFound: readonly number[]
  /** Those that a rule protects, each with the server's sentence. */
  readonly refused: readonly { readonly id: number; readonly error: string }[]
}

/** Who was left alone, and why: in the server's words, or because there is no such row any more. */
export interface LeftOut {
  readonly name: string
  readonly why: string | 'gone'
}

/** What became of long work; whatever happened, what is in `changed` is done. */
export interface BulkOutcome {
  readonly changed: readonly BulkTarget[]
  /** How many were so already, and were not asked for. */
  readonly unchanged: number
  readonly leftOut: readonly LeftOut[]
  /** Undefined when it came to its end. */
  readonly stopped?: 'cancelled' | { readonly error: unknown }
}

/** The same rows in parts that one request takes. */
export async function* inBatches(targets: readonly BulkTarget[]): AsyncGenerator<readonly BulkTarget[]> {
  for (let at = 0; at < targets.length; at += maxBatchSize) yield targets.slice(at, at + maxBatchSize)
}

/**
 * Blocks or unblocks many, part after part. Those that are so already are left alone, so that `changed` is exactly what the
 * way back is about. Never throws: what was done before a failure stays done, and is told. Whoever cancels waits for the
 * part that is under way: given up, it would be done all the same, and nobody would know or could undo it.
 * @param wanted what they shall be: blocked, or not
 * @param onProgress how many of the rows are dealt with, after each part
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
