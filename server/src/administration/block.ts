import { reached } from '#/crash-points.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { blockContainers, findContainers, unblockContainers, type UserContainer } from '#/store/user-containers.ts'
import { endTakeoversBy, type StoredSession } from '#/store/sessions.ts'
import { setUserBlocked } from '#/store/users.ts'
import type { Actor } from './actor.ts'
import { administer, refuseSelfAndLast } from './guards.ts'
import { withContainers, type UserWithContainers } from './user-with-containers.ts'

/** What became of a list of ids. */
export interface BulkResult {
  readonly containers: UserContainer[]
  readonly notFound: number[]
}

/** What follows a change, once it is stored. */
export interface BlockEffects {
  /** Tells the gateway what the store says of these users now. What was open and is forbidden now is cut when it resolves. */
  publish(userIds: readonly number[]): Promise<void>
  /** Stops these containers; must not throw and must end within a limit of its own. */
  enforce(records: readonly UserContainer[]): Promise<void>
  /** Refuses, everywhere, sessions that the store says are ended. */
  refuse(ended: readonly StoredSession[]): Promise<void>
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

  /** Blocks each record that exists; one that is blocked keeps its first date. @returns them as they are now @throws {Refusal} 403 as `administer` */
  async blockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkResult> {
    const result = await this.#change(actor, ids, 'container.block', now, (tx, known) =>
      blockContainers(tx, known, { by: actor.id, at: now, source: 'container' }),
    )
    await this.#follow(result.containers, this.#publish(result.containers))
    return result
  }

  /** Unblocks each record that exists; nothing is started. @throws {Refusal} 403 as `administer` */
  async unblockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkResult> {
    const result = await this.#change(actor, ids, 'container.unblock', now, (tx, known) => unblockContainers(tx, known))
    await this.#publish(result.containers)
    return result
  }

  /**
   * Blocks a user and every container of theirs; they cannot sign in or launch anything from this moment on.
   * @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the last administrator who could undo it
   */
  async blockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    const { takeovers, ...result } = await administer(this.#database, actor, async (tx) => {
      const before = await withContainers(tx, id)
      await refuseSelfAndLast(tx, actor, before.user, 'block')
      await setUserBlocked(tx, id, true)
      const takeovers = await endTakeoversBy(tx, id, now)
      const cascade = await blockContainers(tx, idsOf(before.containers), { by: actor.id, at: now, source: 'user' })
      const after = await withContainers(tx, id)
      // One who is blocked may have containers that are not: they were unblocked one by one.
      const isChange = !before.user.isBlocked || cascade.length > 0
      if (isChange) await insertAuditEntries(tx, [userEntry(actor, 'user.block', before, after, cascade, now)])
      return { ...after, takeovers }
    })
    const told = Promise.all([this.#effects.publish([id]), this.#effects.refuse(takeovers)])
    await this.#follow(result.containers, told)
    return result
  }

  /** Unblocks a user and the containers that the cascade blocked; those blocked one by one stay blocked. @throws {Refusal} 403 as `administer` · 404 */
  async unblockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    const result = await administer(this.#database, actor, async (tx) => {
      const before = await withContainers(tx, id)
      await setUserBlocked(tx, id, false)
      const released = await unblockContainers(tx, idsOf(before.containers), 'user')
      const after = await withContainers(tx, id)
      const isChange = before.user.isBlocked || released.length > 0
      if (isChange) await insertAuditEntries(tx, [userEntry(actor, 'user.unblock', before, after, released, now)])
      return after
    })
    await this.#effects.publish([id])
    return result
  }

  /** The stop is not kept waiting, nor given up, by a gateway that does not answer. @throws what telling the gateway threw */
  async #follow(records: readonly UserContainer[], published: Promise<unknown>): Promise<void> {
    reached('block.after-store')
    const [told] = await Promise.allSettled([published, this.#effects.enforce(records)])
    reached('block.after-stop')
    if (told.status === 'rejected') throw told.reason
  }

  async #publish(records: readonly UserContainer[]): Promise<void> {
    await this.#effects.publish([...new Set(records.map(({ userId }) => userId))])
  }

  /** @param effect changes what is not so yet, and returns the ids of what it changed: these alone are audited */
  async #change(
    actor: Actor,
    ids: readonly number[],
    action: string,
    at: Date,
    effect: (tx: Db, known: number[]) => Promise<number[]>,
  ): Promise<BulkResult> {
    const wanted = [...new Set(ids)]
    return administer(this.#database, actor, async (tx) => {
      const before = await findContainers(tx, wanted)
      const known = idsOf(before)
      const changed = await effect(tx, known)
      const containers = await findContainers(tx, known)
      await insertAuditEntries(
        tx,
        changed.map((id) => containerEntry(actor, action, theOne(before, id), theOne(containers, id), at)),
      )
      return { containers, notFound: wanted.filter((id) => !known.includes(id)) }
    })
  }
}

const idsOf = (records: readonly UserContainer[]) => records.map(({ id }) => id)

function theOne(records: readonly UserContainer[], id: number): UserContainer {
  const found = records.find((record) => record.id === id)
  if (!found) throw new Error(`record ${id} is gone within the transaction that changed it`)
  return found
}

function containerEntry(
  actor: Actor,
  action: string,
  before: UserContainer,
  after: UserContainer,
  at: Date,
): AuditEntry {
  const detail = { user: before.userId, type: before.type }
  return { at, actor, action, target: `container:${before.id}`, detail, before: blockOf(before), after: blockOf(after) }
}

const blockOf = ({ isBlocked, blockedAt, blockedBy }: UserContainer) => ({
  is_blocked: isBlocked,
  blocked_at: blockedAt,
  blocked_by: blockedBy,
})

/** @param containers ids of those that went along */
function userEntry(
  actor: Actor,
  action: string,
  before: UserWithContainers,
  after: UserWithContainers,
  containers: readonly number[],
  at: Date,
): AuditEntry {
  return {
    at,
    actor,
    action,
    target: `user:${before.user.id}`,
    detail: { containers },
    before: { is_blocked: before.user.isBlocked },
    after: { is_blocked: after.user.isBlocked },
  }
}
