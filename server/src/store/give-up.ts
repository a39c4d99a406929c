import type { Tx } from './database.ts'
import { moveTermEnd } from './term-ends.ts'

/**
 * Ends one whose archives are over before it was done: members that are left stay as they are and have failed, and nothing is
 * kept of the others, nor of the archives.
 * @returns how many have failed by it; undefined when it has ended meanwhile
 */
export async function giveUpTermEnd(tx: Tx, id: number, now: Date): Promise<number | undefined> {
  if (!(await moveTermEnd(tx, id, ['archiving', 'removing'], 'done', now))) return undefined
  await tx.deleteFrom('term_end_members').where('term_end_id', '=', id).where('state', 'in', ['done', 'kept']).execute()
  await tx
    .deleteFrom('home_archives')
    .where('member_id', 'in', (each) => each.selectFrom('term_end_members').select('id').where('term_end_id', '=', id))
    .execute()
  const { numUpdatedRows } = await tx
    .updateTable('term_end_members')
    .set({ state: 'failed', problem: 'late', retry_at: 0 })
    .where('term_end_id', '=', id)
    .where('state', '!=', 'failed')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
