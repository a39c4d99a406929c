import { reached } from '#/crash-points.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  blockContainers,
  findContainers,
  listContainersOf,
  unblockContainers,
  type UserContainer,
} from '#/store/user-containers.ts'
import { setUserBlocked, type User } from '#/store/users.ts'
import type { Actor } from './actor.ts'
import { mustFindUser, refuseSelfAndLast } from './guards.ts'

/** What became of a list of ids. */
export interface BulkResult {
  readonly containers: UserContainer[]
  readonly notFound: number[]
}

/** A user with all their records. */
export interface UserWithContainers {
  readonly user: User
  readonly containers: UserContainer[]
}

/** What follows a change, once it is stored. */
export interface BlockEffects {
  /** Tells the gateway what the store says of these users now. What was open and is forbidden now is cut when it resolves. */
  publish(userIds: readonly number[]): Promise<void>
  /** Stops these containers; must not throw and must end within a limit of its own. */
  enforce(records: readonly UserContainer[]): Promise<void>
}

/**
 * Blocking and unblocking. Source: specification, Container block state.
 * The block is stored together with its audit entry before the engine is asked to stop anything: from that moment no
 * launch succeeds, and `enforce` is repeated by the reconciler until nothing blocked runs.
 */
export class Blocking {
  readonly #database: Database
  readonly #effects: BlockEffects

  constructor(database: Database, effects: BlockEffects) {
    this.#database = database
    this.#effects = effects
  }

  /** Blocks each record that exists; one that is blocked keeps its first date. @returns them as they are now */
  async blockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkResult> {
    const result = await this.#change(ids, async (tx, known) => {
      const changed = await blockContainers(tx, known, { by: actor.id, at: now, source: 'container' })
      await insertAuditEntries(
        tx,
        changed.map((id) => containerEntry(actor, 'container.block', id, now)),
      )
    })
    await this.#follow(result.containers, this.#publish(result.containers))
    return result
  }

  /** Unblocks each record that exists; nothing is started. */
  async unblockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkResult> {
    const result = await this.#change(ids, async (tx, known) => {
      const changed = await unblockContainers(tx, known)
      await insertAuditEntries(
        tx,
        changed.map((id) => containerEntry(actor, 'container.unblock', id, now)),
      )
    })
    await this.#publish(result.containers)
    return result
  }

  /**
   * Blocks a user and every container of theirs; they cannot sign in or launch anything from this moment on.
   * @throws {Refusal} 404 · 409 oneself, or the last administrator who could undo it
   */
  async blockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    const result = await this.#database.transaction(async (tx) => {
      await this.#database.lock(tx, 'administrators')
      const user = await mustFindUser(tx, id)
      await refuseSelfAndLast(tx, actor, user, 'block')
      const ids = (await listContainersOf(tx, id)).map((record) => record.id)
      await setUserBlocked(tx, id, true)
      const cascade = await blockContainers(tx, ids, { by: actor.id, at: now, source: 'user' })
      // One who is blocked may have containers that are not: they were unblocked one by one.
      const isChange = !user.isBlocked || cascade.length > 0
      if (isChange) await insertAuditEntries(tx, [userEntry(actor, 'user.block', id, cascade, now)])
      return withContainers(tx, id)
    })
    await this.#follow(result.containers, this.#effects.publish([id]))
    return result
  }

  /** Unblocks a user and the containers that the cascade blocked; those blocked one by one stay blocked. @throws {Refusal} 404 */
  async unblockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    const result = await this.#database.transaction(async (tx) => {
      const user = await mustFindUser(tx, id)
      const ids = (await listContainersOf(tx, id)).map((record) => record.id)
      await setUserBlocked(tx, id, false)
      const released = await unblockContainers(tx, ids, 'user')
      const isChange = user.isBlocked || released.length > 0
      if (isChange) await insertAuditEntries(tx, [userEntry(actor, 'user.unblock', id, released, now)])
      return withContainers(tx, id)
    })
    await this.#effects.publish([id])
    return result
  }

  /** The stop is not kept waiting, nor given up, by a gateway that does not answer. @throws what telling the gateway threw */
  async #follow(records: readonly UserContainer[], published: Promise<void>): Promise<void> {
    reached('block.after-store')
    const [told] = await Promise.allSettled([published, this.#effects.enforce(records)])
    reached('block.after-stop')
    if (told.status === 'rejected') throw told.reason
  }

  async #publish(records: readonly UserContainer[]): Promise<void> {
    await this.#effects.publish([...new Set(records.map(({ userId }) => userId))])
  }

  async #change(ids: readonly number[], effect: (tx: Db, known: number[]) => Promise<void>): Promise<BulkResult> {
    const wanted = [...new Set(ids)]
    return this.#database.transaction(async (tx) => {
      const known = (await findContainers(tx, wanted)).map(({ id }) => id)
      await effect(tx, known)
      return { containers: await findContainers(tx, known), notFound: wanted.filter((id) => !known.includes(id)) }
    })
  }
}

async function withContainers(db: Db, id: number): Promise<UserWithContainers> {
  return { user: await mustFindUser(db, id), containers: await listContainersOf(db, id) }
}

function containerEntry(actor: Actor, action: string, id: number, at: Date): AuditEntry {
  return { at, actor, action, target: `container:${id}`, detail: {} }
}

function userEntry(actor: Actor, action: string, id: number, containers: readonly number[], at: Date): AuditEntry {
  return { at, actor, action, target: `user:${id}`, detail: { containers } }
}
