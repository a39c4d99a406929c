import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { blockContainers, unblockContainers } from '#/store/container-blocks.ts'
import { findContainers, type UserContainer } from '#/store/user-containers.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/guards.ts'
import { enforceAndPublish, type BlockEffects } from './block-effects.ts'

/** Result of a bulk change. */
export interface BulkContainersResult {
  readonly containers: UserContainer[]
  readonly notFound: number[]
}

/**
 * Blocking and unblocking containers. Source: specification, Container block state.
 * The block is stored together with its audit entry before the engine stops anything: from that moment no launch
 * succeeds, and the reconciler repeats `enforce` until no blocked container runs.
 */
export class ContainerBlocking {
  readonly #database: Database
  readonly #effects: BlockEffects

  constructor(database: Database, effects: BlockEffects) {
    this.#database = database
    this.#effects = effects
  }

  /** As `blockContainers`, for one. @throws {Refusal} 403 as `administer` · 404 */
  async blockContainer(actor: Actor, id: number, now: Date): Promise<UserContainer> {
    return onlyContainer(await this.blockContainers(actor, [id], now))
  }

  /** As `unblockContainers`, for one. @throws {Refusal} 403 as `administer` · 404 */
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
    await enforceAndPublish(this.#effects, result.containers, [this.#publish(result.containers)])
    return result
  }

  /** Unblocks each record that exists; nothing is started. @throws {Refusal} 403 as `administer` */
  async unblockContainers(actor: Actor, ids: readonly number[], now: Date): Promise<BulkContainersResult> {
    const result = await this.#change(actor, ids, 'container.unblock', now, (tx, known) => unblockContainers(tx, known))
    await this.#publish(result.containers)
    return result
  }

  async #publish(records: readonly UserContainer[]): Promise<void> {
    await this.#effects.publish([...new Set(records.map(({ userId }) => userId))])
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
