import type { Db } from './database.ts'
import { findUsers, type User } from './users.ts'

/**
 * Users who used a container of this type since then and are not blocked, by id.
 * @param page `after` is the last id of the page before
 */
export async function listRecentUsersOf(
  db: Db,
  type: string,
  since: Date,
  page: { readonly after: number; readonly limit: number },
): Promise<User[]> {
  const rows = await db
    .selectFrom('user_containers')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select('user_containers.user_id')
    .where('user_containers.container_type', '=', type)
    .where('user_containers.last_used', '>=', since.getTime())
    .where('user_containers.is_blocked', '=', 0)
    .where('users.is_blocked', '=', 0)
    .where('user_containers.user_id', '>', page.after)
    .orderBy('user_containers.user_id')
    .limit(page.limit)
    .execute()
  return findUsers(
    db,
    rows.map((row) => row.user_id),
  )
}
