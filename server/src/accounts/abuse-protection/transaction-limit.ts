import { refusals } from '#/errors.ts'
import { Semaphore, SemaphoreFull, type SemaphoreLimits } from '#/concurrency/semaphore.ts'
import type { Database } from '#/store/database.ts'

/**
 * Parallel transactions of requests for links: fewer than the connections to PostgreSQL, so that all other queries find
 * one, however many users sign up at once. With the ten seconds that a mail may take a request waits for fifteen at
 * most.
 */
const defaultLimits: SemaphoreLimits = { max: 3, maxWaiting: 2_000, timeout: 5_000 }

/**
 * The same store with bounded concurrency (semaphore): its transactions wait in a queue of their own.
 * @returns a store whose `transaction` also throws {Refusal} 503 when the queue is full, or after the timeout
 */
export function withTransactionLimit(database: Database, limits: SemaphoreLimits = defaultLimits): Database {
  const semaphore = new Semaphore(limits)
  return {
    ...database,
    transaction: async (work) => {
      try {
        return await semaphore.run(() => database.transaction(work))
      } catch (error) {
        throw error instanceof SemaphoreFull ? refusals.tooManySignIns(error) : error
      }
    },
  }
}
