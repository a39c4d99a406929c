import type { Db } from './database.ts'

/** A record with its owner's fields: all that decides whether its container should run. */
export interface OwnedRecord {
  readonly id: number
  readonly userId: number
  readonly slug: string
  readonly type: string
  readonly containerId: string | null
  /** Whether the record or its owner is blocked. */
  readonly isBlocked: boolean
  /** Whether its desired state is running. */
  readonly shouldRun: boolean
  /** Time of the last use, stop or creation; ms since 1970. */
  readonly lastUse: number
}

/** Max ids in one statement. */
const batchSize = 500

/**
 * Page of records that have a container, or of those that should run, by id, oldest first; an index finds them.
 * @param page `after` is the last id of the page before
 */
export async function listOwnedRecords(
  db: Db,
  kind: 'with a container' | 'should run',
  page: { limit: number; after: number },
): Promise<OwnedRecord[]> {
  const column = kind === 'should run' ? 'user_containers.running_since' : 'user_containers.container_id'
  const rows = await selectOwned(db)
    .where(column, 'is not', null)
    .where('user_containers.id', '>', page.after)
    .orderBy('user_containers.id')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

/** All records of these users. */
export async function listOwnedRecordsOf(db: Db, userIds: readonly number[]): Promise<OwnedRecord[]> {
  const records: OwnedRecord[] = []
  for (let start = 0; start < userIds.length; start += batchSize) {
    const some = userIds.slice(start, start + batchSize)
    const rows = await selectOwned(db).where('user_containers.user_id', 'in', some).execute()
    for (const row of rows) records.push(fromRow(row))
  }
  return records
}

export async function findOwnedRecord(db: Db, userId: number, type: string): Promise<OwnedRecord | undefined> {
  const row = await selectOwned(db)
    .where('user_containers.user_id', '=', userId)
    .where('user_containers.container_type', '=', type)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Stores the id of an existing engine container that a record adopts. */
export async function storeAdopted(db: Db, id: number, found: { id: string; port: number | null }): Promise<void> {
  const change = { container_id: found.id, container_port: found.port, retired_at: null }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/** Stores that a record has no engine container any more. */
export async function clearContainer(db: Db, id: number): Promise<void> {
  const change = { container_id: null, container_port: null, running_since: null }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/**
 * Stores a retirement: the unused container is removed from the engine. Record and home stay, and the next launch
 * creates a new one.
 */
export async function storeRetired(db: Db, id: number, at: Date): Promise<void> {
  const change = { container_id: null, container_port: null, running_since: null, retired_at: at.getTime() }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/** Sets the desired state of records to running, unless Berth has stopped them since `unlessStoppedSince`. */
export async function noteShouldRun(
  db: Db,
  ids: readonly number[],
  since: Date,
  unlessStoppedSince: Date,
): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize)
    await db
      .updateTable('user_containers')
      .set({ running_since: since.getTime(), stopped_at: null, stop_reason: null, is_stop_requested: null })
      .where('id', 'in', ids.slice(start, start + batchSize))
      .where('running_since', 'is', null)
      .where((each) => each.or([each('stopped_at', 'is', null), each('stopped_at', '<', unlessStoppedSince.getTime())]))
      .execute()
}

/** Sets the desired state of records to stopped, because their programs ended by themselves. */
export async function noteShouldStayStopped(db: Db, ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize)
    await db
      .updateTable('user_containers')
      .set({ running_since: null })
      .where('id', 'in', ids.slice(start, start + batchSize))
      .execute()
}

const selectOwned = (db: Db) =>
  db
    .selectFrom('user_containers')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select([
      'user_containers.id',
      'user_containers.user_id',
      'user_containers.container_type',
      'user_containers.container_id',
      'user_containers.is_blocked',
      'user_containers.stopped_at',
      'user_containers.running_since',
      'user_containers.last_used',
      'user_containers.created_at',
      'users.slug',
      'users.is_blocked as is_owner_blocked',
    ])

type Row = NonNullable<Awaited<ReturnType<ReturnType<typeof selectOwned>['executeTakeFirst']>>>

/** Id, owner, type and engine container of a row of containers, or of their removals. */
export const ownerFromRow = (row: Pick<Row, 'id' | 'user_id' | 'slug' | 'container_type' | 'container_id'>) => ({
  id: row.id,
  userId: row.user_id,
  slug: row.slug,
  type: row.container_type,
  containerId: row.container_id,
})

function fromRow(row: Row): OwnedRecord {
  return {
    ...ownerFromRow(row),
    isBlocked: row.is_blocked === 1 || row.is_owner_blocked === 1,
    shouldRun: row.running_since !== null,
    lastUse: Math.max(row.last_used ?? 0, row.stopped_at ?? 0, row.created_at),
  }
}
