import { refusals } from '#/refusals/errors.ts'
import { Semaphore, SemaphoreFull, type SemaphoreLimits } from '#/machine/semaphore.ts'
import type { Database } from '#/store/database.ts'

/**
 * Parallel transactions of requests for links: fewer than the connections to PostgreSQL, so that all other queries find
 * one, however many users sign up at once. The timeout is in ms: with the 10 s that a mail may take, a request waits for 25 s
 * at most, which is less than pages (30 s) and proxies (60 s) wait. With 5 s, 318 of 500 users of a class who signed up at once on
 * two busy cores were told to try again.
 */
const defaultLimits: SemaphoreLimits = { max: 3, maxWaiting: 2_000, timeout: 15_000 }

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
