import type { ExpressionBuilder } from 'kysely'
import type { Db } from './database.ts'
import type { Schema } from './schema.ts'

/**
 * The latest registration of the accounts that are meant, and the time at which links are compared with their expiry.
 */
export interface UnverifiedCutoff {
  readonly before: Date
  readonly now: Date
}

/**
 * Accounts that were never verified and cannot be verified any more: registered before the cutoff, without a usable
 * link, not an administrator's, not blocked, without containers. The oldest first. None while a clock jump adjusts instants.
 */
export async function listExpiredUnverifiedUsers(
  db: Db,
  page: UnverifiedCutoff & { limit: number },
): Promise<{ id: number; email: string }[]> {
  return db
    .selectFrom('users')
    .select(['id', 'email'])
    .where(isExpiredUnverified(page))
    .orderBy('created_at')
    .limit(page.limit)
    .execute()
}

/** @returns the slug of the deleted account; undefined when it is no such account, or no longer */
export async function deleteExpiredUnverifiedUser(
  db: Db,
  id: number,
  cutoff: UnverifiedCutoff,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('users')
    .where('id', '=', id)
    .where(isExpiredUnverified(cutoff))
    .returning('slug')
    .executeTakeFirst()
  return row?.slug
}

/**
 * @returns false when there is none of this id, they have verified their address, or a link by which they may is still
 * valid
 */
export async function deleteUnverifiedUser(db: Db, id: number): Promise<boolean> {
  const row = await db
    .deleteFrom('users')
    .where('id', '=', id)
    .where('state', '=', 'registered')
    .where((each) => each.not(each.exists(unusedLinks(each).where('magic_links.token_type', '=', 'signup'))))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

const isExpiredUnverified =
  ({ before, now }: UnverifiedCutoff) =>
  (each: ExpressionBuilder<Schema, 'users'>) =>
    each.and([
      each.not(each.exists(each.selectFrom('clock_moves').select('clock_moves.table_name'))),
      each('users.state', '=', 'registered'),
      each('users.created_at', '<', before.getTime()),
      each('users.is_admin', '=', 0),
      each('users.is_blocked', '=', 0),
      each.not(each.exists(unusedLinks(each).where('magic_links.expires_at', '>', now.getTime()))),
      each.not(
        each.exists(
          each
            .selectFrom('user_containers')
            .select('user_containers.id')
            .whereRef('user_containers.user_id', '=', 'users.id'),
        ),
      ),
    ])

const unusedLinks = (each: ExpressionBuilder<Schema, 'users'>) =>
  each
    .selectFrom('magic_links')
    .select('magic_links.id')
    .whereRef('magic_links.user_id', '=', 'users.id')
    .where('magic_links.used_at', 'is', null)
