import type { Db } from '#/store/database.ts'
import { listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import { listUsers } from '#/store/users.ts'
import type { UserWithContainers } from './user-with-containers.ts'

/**
 * A page of users, oldest first, each with all their records; two queries however many users.
 * @returns `next` is the cursor of the next page, or null after the last one
 */
export async function listUsersWithContainers(
  db: Db,
  page: { limit: number; after: number; q?: string },
): Promise<{ users: UserWithContainers[]; next: number | null }> {
  // One more than asked tells whether there is a next page.
  const found = await listUsers(db, { ...page, limit: page.limit + 1 })
  const users = found.slice(0, page.limit)
  const byOwner = Map.groupBy<number, UserContainer>(
    await listContainersOfAll(
      db,
      users.map(({ id }) => id),
    ),
    ({ userId }) => userId,
  )
  return {
    users: users.map((user) => ({ user, containers: byOwner.get(user.id) ?? [] })),
    next: found.length > page.limit ? (users.at(-1)?.id ?? null) : null,
  }
}
