import type { Db } from '#/store/database.ts'
import { listContainersOf, type UserContainer } from '#/store/containers/user-containers.ts'
import type { User } from '#/store/users/users.ts'
import { requireUser } from './guards.ts'

/** A user with all their records. */
export interface UserWithContainers {
  readonly user: User
  readonly containers: UserContainer[]
}

/** @throws {Refusal} 404 */
export async function withContainers(db: Db, id: number): Promise<UserWithContainers> {
  return { user: await requireUser(db, id), containers: await listContainersOf(db, id) }
}
