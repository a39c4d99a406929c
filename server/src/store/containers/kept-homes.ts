import type { Db } from '../database.ts'

/** The homes of one deleted account. Its id alone would not do: after an older store was restored, ids are given again. */
export interface FormerOwner {
  readonly userId: number
  readonly slug: string
}

/** A home whose owner was deleted. */
export interface KeptHome extends FormerOwner {
  readonly volume: string
  readonly type: string
}

/** Notes until when these homes are kept; in the transaction that deletes their owner. */
export async function keepHomes(db: Db, homes: readonly KeptHome[], removeAfter: Date): Promise<void> {
  if (homes.length === 0) return
  const rows = homes.map(({ volume, userId, slug, type }) => ({
    volume,
    user_id: userId,
    slug,
    container_type: type,
    remove_after: removeAfter.getTime(),
  }))
  await db
    .insertInto('kept_homes')
    .values(rows)
    // A volume's name has its owner's id and slug in it.
    .onConflict((conflict) => conflict.column('volume').doUpdateSet({ remove_after: removeAfter.getTime() }))
    .execute()
}

/** Former owners the time of whose homes is over, whoever waits longest first. */
export async function listDueOwners(db: Db, now: Date, limit: number): Promise<FormerOwner[]> {
  const rows = await db
    .selectFrom('kept_homes')
    .select(['user_id', 'slug'])
    .where('remove_after', '<=', now.getTime())
    .groupBy(['user_id', 'slug'])
    .orderBy(({ fn }) => fn.min('remove_after'))
    .limit(limit)
    .execute()
  return rows.map(({ user_id, slug }) => ({ userId: user_id, slug }))
}

/** Notes that these homes could not be removed now, which puts them behind those that wait already. */
export async function postponeHomes(db: Db, { userId, slug }: FormerOwner, now: Date): Promise<void> {
  await db
    .updateTable('kept_homes')
    .set({ remove_after: now.getTime() })
    .where('user_id', '=', userId)
    .where('slug', '=', slug)
    .execute()
}

/** Nothing more is to be done about the homes of this former owner. */
export async function forgetHomes(db: Db, { userId, slug }: FormerOwner): Promise<void> {
  await db.deleteFrom('kept_homes').where('user_id', '=', userId).where('slug', '=', slug).execute()
}
