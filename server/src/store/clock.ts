import { sql } from 'kysely'
import type { Db } from './database.ts'

/**
 * What is stored follows a clock that was moved by `by` ms (negative: set back), so that an hour stays an hour: requests
 * for links are as old as they were, and homes are kept as long as was promised. @param now by the moved clock
 */
export async function moveInstants(db: Db, by: number, now: Date): Promise<void> {
  const moved = { at: now.getTime(), by: Math.round(by) }
  await db
    .updateTable('link_requests')
    .set({ requested_at: sql<number>`requested_at + ${moved.by}` })
    .execute()
  await db
    .updateTable('kept_homes')
    .set({ remove_after: sql<number>`remove_after + ${moved.by}` })
    .execute()
  if (moved.by < 0) await setBack(db, moved.at, moved.by)
}

/**
 * - A link that had expired by the old clock must not work again; the others work as long as they would have.
 * - What has happened does not lie in the future: a user made then could not sign in before it comes round again, and
 *   `last_used`, which only moves forward, would stand still until then.
 */
async function setBack(db: Db, now: number, by: number): Promise<void> {
  await db
    .deleteFrom('magic_links')
    .where('expires_at', '<=', now - by)
    .execute()
  await db
    .updateTable('magic_links')
    .set({
      expires_at: sql<number>`expires_at + ${by}`,
      created_at: sql<number>`created_at + ${by}`,
      accepted_at: sql<number | null>`accepted_at + ${by}`,
    })
    .execute()
  // All tokens were revoked with their era; see `Revocations`.
  await db.updateTable('sessions').set({ ended_at: now }).where('ended_at', 'is', null).execute()
  await db.updateTable('sessions').set({ created_at: now }).where('created_at', '>', now).execute()
  for (const column of ['created_at', 'last_used'] as const)
    await db
      .updateTable('users')
      .set({ [column]: now })
      .where(column, '>', now)
      .execute()
  for (const column of ['last_used', 'stopped_at', 'running_since'] as const)
    await db
      .updateTable('user_containers')
      .set({ [column]: now })
      .where(column, '>', now)
      .execute()
}

/** The latest instant at which anything is known to have happened; null in an empty store. */
export async function latestInstant(db: Db): Promise<Date | null> {
  const { latest } = await db
    .selectNoFrom((each) => [
      each
        .selectFrom('link_requests')
        .select(({ fn }) => fn.max('requested_at').as('at'))
        .as('asked'),
      each
        .selectFrom('users')
        .select(({ fn }) => fn.max('last_used').as('at'))
        .as('signedIn'),
      each.selectFrom('users').select('created_at').orderBy('id', 'desc').limit(1).as('signedUp'),
    ])
    .executeTakeFirstOrThrow()
    .then((row) => ({ latest: Math.max(row.asked ?? 0, row.signedIn ?? 0, row.signedUp ?? 0) }))
  return latest === 0 ? null : new Date(latest)
}
