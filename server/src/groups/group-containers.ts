import type { StopReason } from '@berth/api/schemas/container.ts'
import pLimit from 'p-limit'
import type { Actor } from '#/accounts/actor.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { blockContainersOfGroup, unblockContainersOfGroup } from '#/store/container-blocks.ts'
import { containerKey, findContainers, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { findMembership, listMemberIds } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { listOwnedRecordsOf } from '#/store/owned-records.ts'
import { covers } from '#/templates/group-directory.ts'
import { requireManaged } from './managed-group.ts'

/** Members, or records, in one transaction. */
const pageSize = 500
/** Stops at the same time. */
const maxParallelStops = 8
/** How long a request waits for stops, in ms; they continue after it. */
const answerTimeout = 8_000

export interface GroupContainersParts extends Omit<ContainersInUseParts, 'db'> {
  readonly database: Database
  /** Stops one and cancels its launch; false when it did not run. */
  readonly stop: (owned: ContainerRef, why: StopReason) => Promise<boolean>
  readonly containers: Pick<Containers, 'publishUsers' | 'stopBlocked'>
  /** Cancels starts of this group that are under way. */
  readonly cancelStarts: (groupId: number) => void
  readonly report: (error: unknown, what: string) => void
}

/** Containers that a stop of a group was about. */
export interface GroupStop {
  /** Do not run now. */
  readonly stopped: number
  /** Run on: the engine did not stop them, or does not answer. */
  readonly failed: number
  /** Are still being stopped. */
  readonly underWay: number
}

/**
 * Stop, block and unblock of the containers that a group's members have of its types. Members are read page by page, a
 * transaction for each, so that a large group delays no other writer.
 */
export class GroupContainers {
  readonly #parts: GroupContainersParts

  constructor(parts: GroupContainersParts) {
    this.#parts = parts
  }

  /** Owners start them again when they need them. @returns what became of them by the time of the answer @throws {Refusal} 404 · 403 */
  async stop(actor: Actor, groupId: number, now: Date): Promise<GroupStop> {
    const { occupantsOf, database, cancelStarts } = this.#parts
    const group = await requireManaged(database.db, actor, groupId)
    cancelStarts(groupId)
    const due: ContainerRef[] = []
    for await (const userIds of this.#membersOf(groupId)) {
      const found = await containersInUse({ db: database.db, occupantsOf }, group, userIds)
      await this.#audit(actor, 'group.stop', groupId, found, now)
      due.push(...found)
    }
    const membership = actor.id === null ? undefined : await findMembership(database.db, groupId, actor.id)
    const why = membership?.role === 'manager' ? 'manager' : 'administrator'
    const outcome = { stopped: 0, failed: 0 }
    await withTimeout(answerTimeout, this.#stopAll(due, why, outcome))
    const { stopped, failed } = outcome
    return { stopped, failed, underWay: due.length - stopped - failed }
  }

  /**
   * Containers that are blocked by themselves keep their block; those that are blocked with their owner, or with another group,
   * stay blocked after it. What is stored is stopped also when a later page, or the gateway, fails.
   * @returns how many it has blocked, and had not before @throws {Refusal} 404 · 403
   */
  async block(actor: Actor, groupId: number, now: Date): Promise<number> {
    const group = await requireManaged(this.#parts.database.db, actor, groupId)
    // Members who never had a container have no record to block.
    this.#parts.cancelStarts(groupId)
    const [oneAtATime, stops] = [pLimit(1), [] as Promise<void>[]]
    const enforce = (records: readonly UserContainer[]) =>
      void stops.push(oneAtATime(() => this.#parts.containers.stopBlocked(records)))
    let count = 0
    try {
      for await (const userIds of this.#membersOf(groupId)) {
        const work = async (tx: Tx) => ({
          changed: await blockContainersOfGroup(tx, group, userIds, { by: actor.id, at: now }),
          kept: [],
        })
        count += (await this.#change(actor, groupId, 'group.block', now, work, enforce)).length
      }
    } finally {
      await withTimeout(answerTimeout, Promise.all(stops))
    }
    return count
  }

  /**
   * Also of former members, and of types that are no more the group's; those of blocked users, or of other groups, stay blocked
   * with them.
   * @returns how many are unblocked @throws {Refusal} 404 · 403
   */
  async unblock(actor: Actor, groupId: number, now: Date): Promise<number> {
    await requireManaged(this.#parts.database.db, actor, groupId)
    let count = 0
    for (;;) {
      let found = 0
      const page = await this.#change(actor, groupId, 'group.unblock', now, async (tx) => {
        const { released, kept } = await unblockContainersOfGroup(tx, groupId, pageSize)
        found = released.length + kept.length
        return { changed: released, kept }
      })
      count += page.length
      if (found < pageSize) return count
    }
  }

  async *#membersOf(groupId: number): AsyncGenerator<number[]> {
    for (let after = 0; ;) {
      const ids = await listMemberIds(this.#parts.database.db, groupId, { limit: pageSize, after })
      if (ids.length > 0) yield ids
      if (ids.length < pageSize) return
      after = ids.at(-1) ?? after
    }
  }

  /**
   * The rights are checked again with each page: a manager who is removed meanwhile changes nothing more.
   * @param onStored called before the change is published, which a gateway that does not answer delays
   */
  async #change(
    actor: Actor,
    groupId: number,
    action: 'group.block' | 'group.unblock',
    at: Date,
    work: (tx: Tx) => Promise<{ readonly changed: number[]; readonly kept: number[] }>,
    onStored: (records: readonly UserContainer[]) => void = () => undefined,
  ): Promise<UserContainer[]> {
    const { database, containers } = this.#parts
    const changed = await database.transaction(async (tx) => {
      // No user is blocked or unblocked in between, whose containers would be left between the two blocks.
      await database.lock(tx, 'administrators')
      await requireManaged(tx, actor, groupId)
      const { changed, kept } = await work(tx)
      const records = await findContainers(tx, changed)
      await insertAuditEntries(tx, entriesOf(actor, action, groupId, records, at, await findContainers(tx, kept)))
      return records
    })
    onStored(changed)
    await containers.publishUsers([...new Set(changed.map(({ userId }) => userId))])
    return changed
  }

  async #audit(
    actor: Actor,
    action: 'group.stop',
    groupId: number,
    owned: readonly ContainerRef[],
    at: Date,
  ): Promise<void> {
    await this.#parts.database.transaction((tx) => insertAuditEntries(tx, entriesOf(actor, action, groupId, owned, at)))
  }

  /** Counts what has become of each. Never rejects. */
  async #stopAll(
    due: readonly ContainerRef[],
    why: StopReason,
    outcome: { stopped: number; failed: number },
  ): Promise<void> {
    const { stop, report } = this.#parts
    await pLimit(maxParallelStops).map(due, async (owned) => {
      try {
        await stop(owned, why)
        outcome.stopped++
      } catch (error) {
        outcome.failed++
        report(error, `stopping ${owned.type} of user ${owned.userId}`)
      }
    })
  }
}

/** One entry for a page; none where nothing changes. @param kept stay blocked by something else */
function entriesOf(
  actor: Actor,
  action: AuditEntry['action'],
  groupId: number,
  owned: readonly ContainerRef[],
  at: Date,
  kept: readonly ContainerRef[] = [],
): AuditEntry[] {
  if (owned.length === 0 && kept.length === 0) return []
  const detail = { containers: owned.map(audited), ...(kept.length > 0 && { still_blocked: kept.map(audited) }) }
  return [{ at, actor, action, target: `group:${groupId}`, detail }]
}

const audited = ({ userId, type }: ContainerRef) => ({ user: userId, type })

export interface ContainersInUseParts {
  readonly db: Db
  /** Containers of a user that run, are paused or are being launched. */
  readonly occupantsOf: (userId: number) => readonly ContainerRef[]
}

/**
 * Containers of these users that a stop of the group concerns: those that run, and those that should run and do not, because the
 * engine is away or has just returned. Without the latter they would be restored after the stop.
 */
export async function containersInUse(
  { db, occupantsOf }: ContainersInUseParts,
  group: Pick<Group, 'types'>,
  userIds: readonly number[],
): Promise<ContainerRef[]> {
  const byKey = new Map(
    [
      ...(await listOwnedRecordsOf(db, userIds)).filter(({ shouldRun }) => shouldRun),
      ...userIds.flatMap((id) => occupantsOf(id)),
    ].map(({ userId, type }) => [containerKey({ userId, type }), { userId, type }]),
  )
  return [...byKey.values()].filter(({ type }) => covers(group, type))
}
