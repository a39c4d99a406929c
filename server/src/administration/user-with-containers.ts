import type { Db } from '#/store/database.ts'
import { listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import { mustFindUser } from './guards.ts'

/** A user with all their records. */
export interface UserWithContainers {
  readonly user: User
  readonly containers: UserContainer[]
}

/** @throws {Refusal} 404 */
export async function withContainers(db: Db, id: number): Promise<UserWithContainers> {
  return { user: await mustFindUser(db, id), containers: await listContainersOf(db, id) }
}
