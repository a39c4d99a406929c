import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The store cannot be read or written now: locked by another program, full, gone, or without an answer. The query
 * itself is correct; it may succeed a little later. The message is for the operator, the cause has details.
 */
export class StoreFailure extends Error {
  /** Its disk has no room for what was to be written. */
  readonly isFull: boolean

  constructor(message: string, cause?: unknown, isFull = false) {
    super(message, { cause })
    this.name = 'StoreFailure'
    this.isFull = isFull
  }
}

/**
 * Timeout of every wait for the store, in ms: for another program's lock, a connection, an answer. The request is
 * refused then, well before the ten seconds that a client has to wait at most.
 */
export const storeTimeout = 4_000

/** SQLSTATE codes after which the same work may be retried: serialization_failure and deadlock_detected. */
const conflictCodes: ReadonlySet<string> = new Set(['40001', '40P01'])
/** Pause before the retry, in ms; random, so that two transactions that conflicted do not conflict again. */
const [minPause, maxPause] = [5, 50]

/**
 * PostgreSQL ended a transaction because of another one: a deadlock or a serialization failure. Nothing of it holds,
 * and the same work succeeds once the other transaction is over. Thrown only after the retry failed, too.
 */
export class StoreConflict extends StoreFailure {
  constructor(cause: unknown) {
    super('the database ended a transaction in favour of another one', cause)
    this.name = 'StoreConflict'
  }
}

export const isConflictCode = (code: string | undefined): boolean => code !== undefined && conflictCodes.has(code)

/**
 * Runs `work`, and once more after a `StoreConflict`: at most two attempts, so that a conflict that repeats costs two
 * deadlock timeouts of the server at most.
 * @param work repeatable: a whole transaction, or a statement outside of one
 * @throws {StoreConflict} when the second attempt conflicts, too · whatever `work` throws
 */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
    await sleep(minPause + Math.random() * (maxPause - minPause))
    return work()
  }
}

/** SQLSTATE: five characters that only the server of PostgreSQL gives; without it the server did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined ? code : undefined
}
