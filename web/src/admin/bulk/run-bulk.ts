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
interface LeftOut {
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

/** Runs one task at a time, first in first out. Tasks must not reject. */
export function createSerialQueue(): (work: () => Promise<void>) => void {
  let last = Promise.resolve()
  return (work) => void (last = last.then(work))
}

/**
 * The messages that a new message replaces: those about a row that the new one is about, too. Two messages about one
 * row contradict each other ("blocked", "unblocked"), and the older undo would no longer do what it says.
 * @param shown subjects of each message, by its id
 * @returns ids of the messages to close
 */
export function superseded(shown: ReadonlyMap<string, readonly string[]>, subjects: readonly string[]): string[] {
  const news = new Set(subjects)
  return [...shown].filter(([, earlier]) => earlier.some((subject) => news.has(subject))).map(([id]) => id)
}

/** An action that reverses another one, and its label. */
export interface UndoAction {
  readonly label: 'undo' | 'blockAgain'
  run(): void
}

/**
 * The label of the action that reverses a block or an unblock.
 * A block can be undone: an unblock reverses exactly what it did, including the cascade of a user's block to their
 * containers. An unblock cannot: each block is stored with its actor, its time and whether it cascaded, and no request
 * restores these. A new block would be stored and logged as another administrator's, or at another time; a combination
 * of several requests could fail between them, and for a thousand users it is unknown which containers were blocked
 * separately. So after an unblock the page offers another block, in these words: of the container, or of a user with
 * all their containers.
 * @param wanted the state that was set: blocked, or not
 */
export const undoLabelFor = (wanted: boolean): UndoAction['label'] => (wanted ? 'undo' : 'blockAgain')
