import { message } from '@berth/texts/localized-message.ts'
import { Semaphore, SemaphoreFull } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { countOthersInCharge, findUser, findUserByEmail, isActiveAdministrator, type User } from '#/store/users.ts'
import type { Actor } from './actor.ts'

/** Changes that end a user's rights as administrator. */
export type Loss = 'block' | 'delete' | 'demote'

/**
 * Runs an administrator's change in one transaction. Such changes are serialized, so that each one sees which
 * administrators are left, and none waits for the locks of another (rows of users and containers, the head of the audit
 * log). Audit entries are written at its end, see `insertAuditEntries`.
 * @throws {Refusal} 403 when the actor was blocked, demoted or deleted since the request was authorized · 503 when
 * 1,000 changes wait already, or this one did for 8 s · what `work` throws
 */
export async function administer<T>(database: Database, actor: Actor, work: (tx: Tx) => Promise<T>): Promise<T> {
  const change = () =>
    database.transaction(async (tx) => {
      await database.lock(tx, 'administrators')
      await requireAdministrator(tx, actor)
      return work(tx)
    })
  return queueOf(database)
    .run(change)
    .catch((error: unknown) => {
      throw error instanceof SemaphoreFull ? refusals.tooManyChanges() : error
    })
}

/** Less than the 10 s within which a block must be answered. */
const queueLimits = { max: 1, maxWaiting: 1_000, timeout: 8_000 }

/**
 * Serializes the changes of this process without a connection: a script that changes a hundred users at once would
 * otherwise occupy every connection with waits for the lock. The lock remains for the process of the command line.
 */
const queues = new WeakMap<Database, Semaphore>()

function queueOf(database: Database): Semaphore {
  const known = queues.get(database)
  if (known) return known
  const queue = new Semaphore(queueLimits)
  queues.set(database, queue)
  return queue
}

/** @throws {Refusal} 404 */
export async function requireUser(db: Db, id: number): Promise<User> {
  const user = await findUser(db, id)
  if (!user) throw refusals.notFound('user')
  return user
}

/**
 * Protects the last administrator, and administrators from excluding themselves by mistake. Call it within
 * `administer`.
 * @throws {Refusal} 409 oneself, or the last administrator who is not blocked
 */
export async function refuseSelfAndLast(db: Db, actor: Actor, user: User, loss: Loss): Promise<void> {
  if (user.id === actor.id) throw refusals.conflict(message(`requests.${loss}Yourself`))
  if (await isLastInCharge(db, user)) throw refusals.conflict(message('requests.lastInCharge'))
}

/** Whether a user is the only administrator in charge. */
export const isLastInCharge = async (db: Db, user: User): Promise<boolean> =>
  isInCharge(user) && (await countOthersInCharge(db, user.id)) === 0

/** A user who never verified their address cannot sign in; as in `countOthersInCharge`. */
const isInCharge = (user: User) => isActiveAdministrator(user) && user.state !== 'registered'

/** When two administrators delete each other at once, the second is refused. @throws {Refusal} 403 */
async function requireAdministrator(db: Db, { id }: Actor): Promise<void> {
  // The operator has no account.
  if (id === null) return
  if (!isActiveAdministrator(await findUser(db, id))) throw refusals.notAdministrator()
}

/**
 * Id of the owner whom a list of administrators is filtered by.
 * @param owner id or e-mail address
 * @returns 0 for an unknown address
 */
export async function ownerId(db: Db, owner: string): Promise<number> {
  if (/^\d{1,15}$/.test(owner)) return Number(owner)
  return (await findUserByEmail(db, owner.trim().toLowerCase()))?.id ?? 0
}
