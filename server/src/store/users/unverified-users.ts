import type { ExpressionBuilder } from 'kysely'
import type { Db } from '../database.ts'
import type { Schema } from '../schema.ts'

/** Since when an account must have been there, and which links still live. */
export interface UnverifiedCutoff {
  readonly before: Date
  readonly now: Date
}

/**
 * Accounts that nobody verified and nobody can verify any more: registered before that time, without a link that works,
 * and neither an administrator's, nor blocked, nor with containers. The oldest first.
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

/** @returns the slug of the deleted account; undefined when it is no such account, or not any more */
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

const isExpiredUnverified =
  ({ before, now }: UnverifiedCutoff) =>
  (each: ExpressionBuilder<Schema, 'users'>) =>
    each.and([
      each('users.state', '=', 'registered'),
      each('users.created_at', '<', before.getTime()),
      each('users.is_admin', '=', 0),
      each('users.is_blocked', '=', 0),
      each.not(
        each.exists(
          each
            .selectFrom('magic_links')
            .select('magic_links.id')
            .whereRef('magic_links.user_id', '=', 'users.id')
            .where('magic_links.used_at', 'is', null)
            .where('magic_links.expires_at', '>', now.getTime()),
        ),
      ),
      each.not(
        each.exists(
          each
            .selectFrom('user_containers')
            .select('user_containers.id')
            .whereRef('user_containers.user_id', '=', 'users.id'),
        ),
      ),
    ])
