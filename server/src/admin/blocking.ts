import type { Actor } from '#/accounts/actor.ts'
import { administer, refuseSelfAndLast, requireUser } from '#/accounts/administrator-changes.ts'
import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { blockContainers, blockContainersOf, unblockContainers, unblockContainersOf } from '#/store/container-blocks.ts'
import type { Database, Db } from '#/store/database.ts'
import { countTakeovers, endBlockedSessions, endTakeoversBy, endTakeoversOf } from '#/store/session-ends.ts'
import type { StoredSession } from '#/store/sessions.ts'
import { findContainers, listContainersOf, listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import { findUsers, setUsersBlocked, type User } from '#/store/users.ts'
import type { UserWithContainers } from './admin-lists.ts'

/** Result of a bulk change: each id is in one of these lists. */
export interface BulkUsersResult {
  /** Their present state, by id. */
  readonly users: UserWithContainers[]
  /** Users who are protected by a rule, with its refusal. */
  readonly refused: { readonly id: number; readonly refusal: Refusal }[]
  readonly notFound: number[]
}

/**
 * Blocking and unblocking users with all their containers. Source: specification, Container block state.
 * All changes and an audit entry for each changed user are stored in one transaction, before the engine is called. One
 * user is a list of one, so that the same rules hold for both.
 */
export class UserBlocking {
  readonly #database: Database
  readonly #containers: Containers
  readonly #revocations: Revocations

  constructor(database: Database, containers: Containers, revocations: Revocations) {
    this.#database = database
    this.#containers = containers
    this.#revocations = revocations
  }

  /**
   * Does what `blockUsers` does, for one. @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the last
   * administrator who could undo it
   */
  async blockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return onlyUser(await this.blockUsers(actor, [id], now))
  }

  /** Does what `unblockUsers` does, for one. @throws {Refusal} 403 as `administer` · 404 */
  async unblockUser(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return onlyUser(await this.unblockUsers(actor, [id], now))
  }

  /**
   * Blocks users and all their containers: from this moment on they cannot sign in, open or launch anything. Users are
   * checked one after the other: of the last two administrators in a list the second is refused. The request waits for
   * the stops as `stopBlocked` does, eight seconds at most; the rest follows.
   * @param ids at most 1,000; duplicates count once @throws {Refusal} 403 as `administer`
   */
  async blockUsers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkUsersResult> {
    const { ended, ...result } = await this.#change(actor, ids, 'user.block', now, async (tx, known) => {
      const { allowed, refused } = await judge(tx, actor, known)
      await setUsersBlocked(tx, allowed, true)
      const ended = [
        ...(await endTakeoversBy(tx, allowed, now)),
        ...(await endTakeoversOf(tx, allowed, now)),
        ...(await endBlockedSessions(tx, allowed, now)),
      ]
      const containers = await blockContainersOf(tx, allowed, { by: actor.id, at: now })
      return { allowed, refused, ended, containers }
    })
    const publications = [this.#publish(result.users), this.#revocations.revokeStored(ended)]
    await enforceAndPublish(
      this.#containers,
      result.users.flatMap(({ containers }) => containers),
      publications,
    )
    return result
  }

  /**
   * Unblocks users and the containers that the cascade blocked; those blocked one by one stay blocked, and nothing is
   * started. @param ids at most 1,000; each counts once @throws {Refusal} 403 as `administer`
   */
  async unblockUsers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkUsersResult> {
    const { ended: _, ...result } = await this.#change(actor, ids, 'user.unblock', now, async (tx, known) => {
      const allowed = known.map(({ id }) => id)
      await setUsersBlocked(tx, allowed, false)
      return { allowed, refused: [], ended: [], containers: await unblockContainersOf(tx, allowed) }
    })
    await this.#publish(result.users)
    return result
  }

  async #publish(users: readonly UserWithContainers[]): Promise<void> {
    await this.#containers.publishUsers(users.map(({ user }) => user.id))
  }

  /** @param effect makes the change; its `containers` are the ids of the records that changed */
  async #change(
    actor: Actor,
    ids: readonly number[],
    action: UserChange['action'],
    at: Date,
    effect: (tx: Db, known: readonly User[]) => Promise<Effect>,
  ): Promise<BulkUsersResult & Pick<Effect, 'ended'>> {
    const wanted = [...new Set(ids)]
    return administer(this.#database, actor, async (tx) => {
      const before = await findUsers(tx, wanted)
      const { allowed, refused, ended, containers } = await effect(tx, before)
      const users = await withAllContainers(tx, allowed)
      const known = new Map(before.map((user) => [user.id, user]))
      const changed = new Set(containers)
      const changes = users.map(({ user, containers: all }): UserChange => ({
        action,
        user,
        wasBlocked: known.get(user.id)?.isBlocked ?? false,
        containers: all.map(({ id }) => id).filter((id) => changed.has(id)),
      }))
      await insertAuditEntries(
        tx,
        changes.filter(isChange).map((change) => entryOf(actor, change, at)),
      )
      return { users, refused, notFound: wanted.filter((id) => !known.has(id)), ended }
    })
  }
}

interface Effect extends Pick<BulkUsersResult, 'refused'> {
  readonly allowed: number[]
  readonly ended: readonly StoredSession[]
  readonly containers: readonly number[]
}

interface UserChange {
  readonly action: 'user.block' | 'user.unblock'
  /** Its present state. */
  readonly user: User
  readonly wasBlocked: boolean
  /** Ids of the containers that changed with it. */
  readonly containers: readonly number[]
}

/**
 * Checks each user as if those before were blocked already: only the block of an administrator can affect the others.
 */
async function judge(tx: Db, actor: Actor, users: readonly User[]): Promise<Pick<Effect, 'allowed' | 'refused'>> {
  const allowed: number[] = []
  const refused: Effect['refused'] = []
  for (const user of users) {
    try {
      await refuseSelfAndLast(tx, actor, user, 'block')
      if (user.isAdmin) await setUsersBlocked(tx, [user.id], true)
      allowed.push(user.id)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push({ id: user.id, refusal: error })
    }
  }
  return { allowed, refused }
}

async function withAllContainers(db: Db, ids: readonly number[]): Promise<UserWithContainers[]> {
  const [users, records] = [await findUsers(db, ids), await listContainersOfAll(db, ids)]
  const byOwner = Map.groupBy<number, UserContainer>(records, ({ userId }) => userId)
  return users.map((user) => ({ user, containers: byOwner.get(user.id) ?? [] }))
}

/** A blocked user may have containers that are not blocked: they were unblocked one by one. */
const isChange = ({ user, wasBlocked, containers }: UserChange) =>
  user.isBlocked !== wasBlocked || containers.length > 0

function entryOf(actor: Actor, { action, user, wasBlocked, containers }: UserChange, at: Date): AuditEntry {
  return {
    at,
    actor,
    action,
    target: `user:${user.id}`,
    detail: { containers },
    before: { is_blocked: wasBlocked },
    after: { is_blocked: user.isBlocked },
  }
}

/** @throws {Refusal} the one of the only user · 404 */
function onlyUser({ users: [user], refused: [refused] }: BulkUsersResult): UserWithContainers {
  if (refused) throw refused.refusal
  if (!user) throw refusals.notFound('user')
  return user
}

/** Result of a bulk change. */
export interface BulkContainersResult {
  readonly containers: UserContainer[]
  readonly notFound: number[]
}

/**
 * Blocking and unblocking containers. Source: specification, Container block state.
 * The block is stored together with its audit entry before the engine stops anything: from that moment no launch
 * succeeds, and the reconciler repeats the stops until no blocked container runs.
 */
export class ContainerBlocking {
  readonly #database: Database
  readonly #containers: Containers

  constructor(database: Database, containers: Containers) {
    this.#database = database
    this.#containers = containers
  }

  /** Does what `blockContainers` does, for one. @throws {Refusal} 403 as `administer` · 404 */
  async blockContainer(actor: Actor, id: number, now: Date): Promise<UserContainer> {
    return onlyContainer(await this.blockContainers(actor, [id], now))
  }

  /** Does what `unblockContainers` does, for one. @throws {Refusal} 403 as `administer` · 404 */
  async unblockContainer(actor: Actor, id: number, now: Date): Promise<UserContainer> {
    return onlyContainer(await this.unblockContainers(actor, [id], now))
  }

  /**
   * Blocks each record that exists; a blocked one keeps its first date, and is no longer released with a group.
   * @returns the present records @throws {Refusal} 403 as `administer`
   */
  async blockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkContainersResult> {
    const result = await this.#change(actor, ids, 'container.block', now, (tx, known) =>
      blockContainers(tx, known, { by: actor.id, at: now }),
    )
    await enforceAndPublish(this.#containers, result.containers, [this.#publish(result.containers)])
    return result
  }

  /** Unblocks each record that exists; nothing is started. @throws {Refusal} 403 as `administer` */
  async unblockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkContainersResult> {
    const result = await this.#change(actor, ids, 'container.unblock', now, (tx, known) => unblockContainers(tx, known))
    await this.#publish(result.containers)
    return result
  }

  async #publish(records: readonly UserContainer[]): Promise<void> {
    await this.#containers.publishUsers([...new Set(records.map(({ userId }) => userId))])
  }

  /** @param effect makes the change and returns the ids of the records that changed: only these are audited */
  async #change(
    actor: Actor,
    ids: readonly number[],
    action: AuditEntry['action'],
    at: Date,
    effect: (tx: Db, known: number[]) => Promise<number[]>,
  ): Promise<BulkContainersResult> {
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

function onlyContainer({ containers: [container] }: BulkContainersResult): UserContainer {
  if (!container) throw refusals.notFound('container')
  return container
}

const idsOf = (records: readonly UserContainer[]) => records.map(({ id }) => id)

function theOne(records: readonly UserContainer[], id: number): UserContainer {
  const found = records.find((record) => record.id === id)
  if (!found) throw new Error(`record ${id} is gone within the transaction that changed it`)
  return found
}

function containerEntry(
  actor: Actor,
  action: AuditEntry['action'],
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

/** Effects that blocking a user would have now. */
export interface BlockPreview {
  /**
   * Takeovers by and of this user, which would end. Their own sessions end, too, and their tokens explain the block.
   */
  readonly sessions: number
  readonly containers: {
    readonly record: UserContainer
    /** Would be stopped. */
    readonly isRunning: boolean
  }[]
}

/** Dry run of `UserBlocking.blockUser`: reads the present state and changes nothing. */
export class BlockPreviews {
  readonly #db: Db
  readonly #isRunning: (record: UserContainer) => boolean

  /** @param isRunning whether a container runs or is paused, as far as is known */
  constructor(db: Db, isRunning: (record: UserContainer) => boolean) {
    this.#db = db
    this.#isRunning = isRunning
  }

  /** @throws {Refusal} 404 · 409 as the block itself */
  async preview(actor: Actor, id: number, now: Date): Promise<BlockPreview> {
    const user = await requireUser(this.#db, id)
    await refuseSelfAndLast(this.#db, actor, user, 'block')
    const records = await listContainersOf(this.#db, id)
    return {
      sessions: await countTakeovers(this.#db, id, now),
      containers: records.map((record) => ({ record, isRunning: this.#isRunning(record) })),
    }
  }
}

/** A gateway that does not answer neither delays nor cancels the stop. @throws what `publish` threw */
async function enforceAndPublish(
  containers: Containers,
  records: readonly UserContainer[],
  publications: readonly Promise<unknown>[],
): Promise<void> {
  crashPoint('block.after-store')
  const [, ...published] = await Promise.allSettled([containers.stopBlocked(records), ...publications])
  crashPoint('block.after-stop')
  for (const each of published) if (each.status === 'rejected') throw each.reason
}
