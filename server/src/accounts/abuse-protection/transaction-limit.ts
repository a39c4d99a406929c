import { refusals } from '#/errors.ts'
import { Semaphore, SemaphoreFull, type SemaphoreLimits } from '#/concurrency/semaphore.ts'
import type { Database } from '#/store/database.ts'

/**
 * Transactions of people who ask for links, at the same time: fewer than the connections that there are to PostgreSQL,
 * so that everybody else's queries find one, however many sign up at once. With the ten seconds that a mail may take
 * nobody waits longer than fifteen.
 */
const defaultLimits: SemaphoreLimits = { max: 3, maxWaiting: 2_000, timeout: 5_000 }

/**
 * The same store with bounded concurrency: its transactions wait in a queue of their own.
 * @returns a store whose `transaction` also throws {Refusal} 503 when the queue is full, or its turn does not come in time
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
