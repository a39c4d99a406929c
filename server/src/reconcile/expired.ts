import type { Revocations } from '#/accounts/revocations.ts'
import type { Database } from '#/store/database.ts'
import { deleteOldLinks } from '#/store/magic-links.ts'
import type { Task } from './reconciler.ts'

/** Links stay this long after they expired, in ms: the limit per hour counts them. */
const keepLinks = 2 * 3_600_000

/** Forgets links, requests and revocations that no longer mean anything, so that the store does not grow for ever. */
export function expiredTask(database: Database, revocations: Revocations): Task {
  return {
    name: 'expired',
    async run(now) {
      await deleteOldLinks(database.db, new Date(now.getTime() - keepLinks))
      await revocations.prune(now)
      return {}
    },
  }
}
