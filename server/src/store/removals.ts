import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { RemovalsTable } from './schema.ts'
import { ownerFromRow } from './owned-records.ts'

/** Owner and type of a deleted container. By slug as well: after an older store is restored, ids are assigned again. */
export interface RemovedContainer {
  readonly userId: number
  readonly slug: string
  readonly type: string
}

/** A container whose deletion begins. */
export interface NewRemoval extends RemovedContainer {
  /** Of the engine, from the record that is deleted; null when there is none. It finds a container that was renamed. */
  readonly containerId: string | null
}

/** A deleted container that the engine may still have. */
export interface PendingRemoval extends NewRemoval {
  readonly id: number
  /** Whether its home is removed, too. */
  readonly isPurge: boolean
}

/** Stores the pending removals; in the transaction that deletes the records. */
export async function insertRemovals(
  db: Db,
  containers: readonly NewRemoval[],
  options: { isPurge: boolean; now: Date },
): Promise<void> {
  if (containers.length === 0) return
  await db
    .insertInto('removals')
    .values(containers.map((each) => toRow(each, options)))
    .execute()
}

/** As `insertRemovals`, of a home that is reset; its record stays. @returns id of the pending removal */
export async function insertReset(db: Db, container: RemovedContainer, now: Date): Promise<number> {
  const row = toRow({ ...container, containerId: null }, { isPurge: true, now })
  const { id } = await db.insertInto('removals').values(row).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Pending removals of one container; more than one when it was deleted again meanwhile. */
export async function pendingRemovals(db: Db, { userId, slug, type }: RemovedContainer): Promise<PendingRemoval[]> {
  const rows = await db
    .selectFrom('removals')
    .selectAll()
    .where('user_id', '=', userId)
    .where('slug', '=', slug)
    .where('container_type', '=', type)
    .execute()
  return rows.map(fromRow)
}

/** The oldest pending removals; `after` is the last id of the page before. */
export async function listRemovals(db: Db, limit: number, after = 0): Promise<PendingRemoval[]> {
  const pending = db.selectFrom('removals').selectAll().where('id', '>', after)
  const rows = await pending.orderBy('id').limit(limit).execute()
  return rows.map(fromRow)
}

/** Deletes removals that the engine has done. */
export async function deleteRemovals(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('removals').where('id', 'in', ids).execute()
}

function toRow({ userId, slug, type, containerId }: NewRemoval, { isPurge, now }: { isPurge: boolean; now: Date }) {
  return {
    user_id: userId,
    slug,
    container_type: type,
    container_id: containerId,
    is_purge: Number(isPurge),
    requested_at: now.getTime(),
  }
}

function fromRow(row: Selectable<RemovalsTable>): PendingRemoval {
  return { ...ownerFromRow(row), isPurge: row.is_purge === 1 }
}
