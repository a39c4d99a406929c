import { deleteOldPersonalFacts } from '#/store/audit/personal-facts.ts'
import type { Database } from '#/store/database.ts'
import type { Task } from '../reconciler.ts'

/** Deletes personal facts of the audit log whose retention is over. @param keep seconds */
export const personalFactsTask = ({ db }: Pick<Database, 'db'>, keep: number): Task => ({
  name: 'personal facts',
  async run(now) {
    await deleteOldPersonalFacts(db, new Date(now.getTime() - keep * 1_000))
    return {}
  },
})
