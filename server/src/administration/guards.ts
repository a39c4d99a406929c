import { refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { countOthersInCharge, findUser, type User } from '#/store/users/users.ts'
import { Semaphore, SemaphoreFull } from '#/concurrency/semaphore.ts'
import type { Actor } from './actor.ts'

/** What takes an administrator's part away from somebody. */
export type Loss = 'block' | 'delete' | 'demote'

/**
 * Runs an administrator's change in one transaction; of all such changes one after the other, so that each knows who is
 * in charge, and none waits for what another one holds (rows of users and containers, the head of the audit log).
 * Audit entries are written at its end, see `insertAuditEntries`.
 * @throws {Refusal} 403 when the actor was blocked, demoted or deleted since their request was let in · 503 when 1,000 changes
 *   wait already, or this one did for 8 s · what `work` throws
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

/** A change waits for less than the 10 s within which blocks are promised to be answered. */
const queueLimits = { max: 1, maxWaiting: 1_000, timeout: 8_000 }

/**
 * Changes of this process wait for each other here, and not with a connection each for the lock: a script that changes a
 * hundred users at once would else leave nobody a connection. The lock remains for the command line's own process.
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
 * Keeps an installation from being left without anybody in charge, and administrators from shutting themselves out by
 * mistake. Call it within `administer`.
 * @throws {Refusal} 409 oneself, or the last one in charge
 */
export async function refuseSelfAndLast(db: Db, actor: Actor, user: User, loss: Loss): Promise<void> {
  if (user.id === actor.id) throw refusals.conflict(message(`requests.${loss}Yourself`))
  if (isInCharge(user) && (await countOthersInCharge(db, user.id)) === 0) {
    throw refusals.conflict(message('requests.lastInCharge'))
  }
}

/** Who never verified their address cannot sign in, and may be anybody; as in `countOthersInCharge`. */
const isInCharge = ({ isAdmin, isBlocked, state }: User) => isAdmin && !isBlocked && state !== 'registered'

/** Of two who delete each other at once, the second is not there any more to do it. @throws {Refusal} 403 */
async function requireAdministrator(db: Db, { id }: Actor): Promise<void> {
  // The operator has no account that could be gone.
  if (id === null) return
  const admin = await findUser(db, id)
  if (!admin?.isAdmin || admin.isBlocked) throw refusals.notAdministrator()
}
