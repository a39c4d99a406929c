import { sql, type Selectable } from 'kysely'
import type { Db } from './database.ts'
import { ownerFromRow } from './owned-records.ts'
import type { RemovalsTable } from './schema.ts'

/** Owner and type of a deleted container. By slug as well: after an older store is restored, ids are assigned again. */
export interface RemovedContainer {
  readonly userId: number
  readonly slug: string
  readonly type: string
}

/** A container whose deletion begins. */
export interface NewRemoval extends RemovedContainer {
  /** Id in the engine, from the record that is deleted; null for none. By it a container that was renamed is found. */
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

/** Stores the pending removal of a home that is reset; its record stays. @returns id of the pending removal */
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

/**
 * Owner of the homes of one deleted account. The id alone would not do: after an older store is restored, ids are
 * assigned again.
 */
export interface FormerOwner {
  readonly userId: number
  readonly slug: string
}

/** A home whose owner was deleted. */
export interface KeptHome extends FormerOwner {
  readonly volume: string
  readonly type: string
}

/**
 * Date of homes that are not kept: their time is over by any clock. They have a date before `notKeptUntil` also while
 * their removal is postponed, and after any jump of the clock; 1970 is too near, because a machine without a battery
 * begins there.
 */
export const notKept = new Date(-1e14)
export const notKeptUntil = new Date(-9e13)

/**
 * Stores until when these homes are kept (`notKept`: they are removed at once); in the transaction that deletes their
 * owner.
 */
export async function keepHomes(db: Db, homes: readonly KeptHome[], removeAfter: Date): Promise<void> {
  if (homes.length === 0) return
  const rows = homes.map(({ volume, userId, slug, type }) => ({
    volume,
    user_id: userId,
    slug,
    container_type: type,
    remove_after: removeAfter.getTime(),
  }))
  await db
    .insertInto('kept_homes')
    .values(rows)
    // A volume's name contains its owner's id and slug.
    .onConflict((conflict) => conflict.column('volume').doUpdateSet({ remove_after: removeAfter.getTime() }))
    .execute()
}

/**
 * Former owners whose retention is over, the one with the longest wait first.
 * @param after of those with a later date than this
 */
export async function listDueOwners(
  db: Db,
  now: Date,
  limit: number,
  after = new Date(-8.64e15),
): Promise<FormerOwner[]> {
  const rows = await db
    .selectFrom('kept_homes')
    .select(['user_id', 'slug'])
    .where('remove_after', '<=', now.getTime())
    .where('remove_after', '>', after.getTime())
    .groupBy(['user_id', 'slug'])
    .orderBy(({ fn }) => fn.min('remove_after'))
    .limit(limit)
    .execute()
  return rows.map(({ user_id, slug }) => ({ userId: user_id, slug }))
}

/** Whether the retention of this former owner's homes is over. */
export async function isDueOwner(db: Db, { userId, slug }: FormerOwner, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('kept_homes')
    .select('volume')
    .where('user_id', '=', userId)
    .where('slug', '=', slug)
    .where('remove_after', '<=', now.getTime())
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Postpones homes that could not be removed now: they are retried after all others of their kind (kept or not) that are
 * due.
 */
export async function postponeHomes(db: Db, { userId, slug }: FormerOwner, now: Date): Promise<void> {
  await db
    .updateTable('kept_homes')
    .set({
      remove_after: sql<number>`case when remove_after < ${notKeptUntil.getTime()} then remove_after + 1 else ${now.getTime()} end`,
    })
    .where('user_id', '=', userId)
    .where('slug', '=', slug)
    .execute()
}

/** Drops the kept homes of this former owner. */
export async function forgetHomes(db: Db, { userId, slug }: FormerOwner): Promise<void> {
  await db.deleteFrom('kept_homes').where('user_id', '=', userId).where('slug', '=', slug).execute()
}

/** Which of these volumes are homes that are kept; at most a page of them at a time. */
export async function keptAmong(db: Db, volumes: readonly string[]): Promise<Set<string>> {
  if (volumes.length === 0) return new Set()
  const rows = await db.selectFrom('kept_homes').select('volume').where('volume', 'in', volumes).execute()
  return new Set(rows.map(({ volume }) => volume))
}
