import { deleteOldPersonalFacts } from '#/store/personal-facts.ts'
import type { Database } from '#/store/database.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { IsSettled } from '#/machine/settled-dates.ts'

/** Deletes personal facts of the audit log whose retention is over. @param keep seconds */
export const personalFactsTask = ({ db }: Pick<Database, 'db'>, keep: number, isSettled: IsSettled): Task => ({
  name: 'personal facts',
  async run(now) {
    if (isSettled(now)) await deleteOldPersonalFacts(db, new Date(now.getTime() - keep * 1_000))
    return {}
  },
})
