import { refusals } from '#/errors.ts'
import type { Db } from '#/store/database.ts'
import { countOtherAdmins, findUser, type User } from '#/store/users.ts'
import type { Actor } from './actor.ts'

/** @throws {Refusal} 404 */
export async function mustFindUser(db: Db, id: number): Promise<User> {
  const user = await findUser(db, id)
  if (!user) throw refusals.notFound('user')
  return user
}

/**
 * Keeps an installation from being left without anybody in charge. Call it under the lock `administrators`.
 * @param verb what is about to be done to the user, for the sentence
 * @throws {Refusal} 409 oneself, or the last administrator who could undo it
 */
export async function refuseSelfAndLast(db: Db, actor: Actor, user: User, verb: string): Promise<void> {
  if (user.id === actor.id) throw refusals.conflict(`You cannot ${verb} yourself. Ask another administrator.`)
  if (user.isAdmin && (await countOtherAdmins(db, user.id)) === 0) {
    throw refusals.conflict(
      'This is the last administrator who is not blocked. Make somebody else an administrator first.',
    )
  }
}
