import type { StopReason } from '@berth/api/schemas/container.ts'
import { PostgresAdapter, sql, type SelectQueryBuilder, type Selectable } from 'kysely'
import type { Db } from './database.ts'
import { readPage, type PageRequest } from './pagination.ts'
import type { Schema, UserContainersTable } from './schema.ts'
import { matchesSearch, noteUserActive } from './users.ts'

/** A container by its owner and type: at most one each. */
export interface ContainerRef {
  readonly userId: number
  readonly type: string
}

/** The pair as one text, for maps and queues. An id has no space in it, so no two pairs share a key. */
export const containerKey = ({ userId, type }: ContainerRef) => `${userId} ${type}`

export type BlockSource = 'container' | 'user' | `group:${number}`

/** The record of one user's container of one type. Source: specification, UserContainer. */
export interface UserContainer {
  readonly id: number
  readonly userId: number
  readonly type: string
  /** The engine's id; null until the first creation succeeded. */
  readonly containerId: string | null
  readonly port: number | null
  readonly image: string
  readonly createdAt: Date
  readonly lastUsed: Date | null
  readonly isBlocked: boolean
  readonly blockedAt: Date | null
  readonly blockedBy: number | null
  /** Whether it was blocked by itself, with its owner or with a group; null while it is not. */
  readonly blockSource: BlockSource | null
  /** When Berth stopped it last; null after a start. */
  readonly stoppedAt: Date | null
  /** Why, if it was stored. */
  readonly stopReason: StopReason | null
  /** Whether it was stopped by request, and not because it was idle; false after a start. */
  readonly isStopRequested: boolean
  /** Since when its desired state is running; null when Berth stopped it, or it ended by itself. */
  readonly runningSince: Date | null
  /** When it was retired; null while it has a container, or never had one. */
  readonly retiredAt: Date | null
  /** What its owner chose for parameters of the template, by name. */
  readonly parameters: ChosenParameters
  /** Folders of groups that it was created with, by `folderText`. */
  readonly groupFolders: string | null
  /** Why its program cannot write to its home; null: it can, as far as is known. */
  readonly homeProblem: HomeProblem | null
  /** Bytes outside of its home for which Berth stopped it; its next start makes it anew. Null: none. */
  readonly fullLayer: number | null
}

/** Accounts of a program and of the home that it cannot write to, by their numbers. */
export interface HomeProblem {
  readonly program: number
  readonly owner: number
}

export type ChosenParameters = Readonly<Record<string, string | number | boolean>>

/** All records of one user, oldest first. */
export async function listContainersOf(db: Db, userId: number): Promise<UserContainer[]> {
  const rows = await db.selectFrom('user_containers').selectAll().where('user_id', '=', userId).orderBy('id').execute()
  return rows.map(fromRow)
}

/** All records of these users, oldest first; at most a page of users at a time. */
export async function listContainersOfAll(db: Db, userIds: readonly number[]): Promise<UserContainer[]> {
  if (userIds.length === 0) return []
  const rows = await db
    .selectFrom('user_containers')
    .selectAll()
    .where('user_id', 'in', userIds)
    .orderBy('id')
    .execute()
  return rows.map(fromRow)
}

/** Fields that a route depends on: not the whole record, because those of all users are read at the start. */
export type RoutableContainer = Pick<
  UserContainer,
  | 'id'
  | 'userId'
  | 'type'
  | 'containerId'
  | 'isBlocked'
  | 'stoppedAt'
  | 'stopReason'
  | 'isStopRequested'
  | 'runningSince'
  | 'retiredAt'
  | 'fullLayer'
>

/** Records of the users whose ids are in this range, oldest first; at most a page of users at a time. */
export async function listRoutableContainers(
  db: Db,
  owners: { after: number; upTo: number },
): Promise<RoutableContainer[]> {
  const rows = await db
    .selectFrom('user_containers')
    .select([
      'id',
      'user_id',
      'container_type',
      'container_id',
      'is_blocked',
      'stopped_at',
      'stop_reason',
      'is_stop_requested',
      'running_since',
      'retired_at',
      'full_layer',
    ])
    .where('user_id', '>', owners.after)
    .where('user_id', '<=', owners.upTo)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    type: row.container_type,
    containerId: row.container_id,
    isBlocked: row.is_blocked === 1,
    stoppedAt: date(row.stopped_at),
    stopReason: row.stop_reason,
    isStopRequested: row.is_stop_requested === 1,
    runningSince: date(row.running_since),
    retiredAt: date(row.retired_at),
    fullLayer: row.full_layer,
  }))
}

export async function findContainer(db: Db, userId: number, type: string): Promise<UserContainer | undefined> {
  const row = await db
    .selectFrom('user_containers')
    .selectAll()
    .where('user_id', '=', userId)
    .where('container_type', '=', type)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findContainers(db: Db, ids: readonly number[]): Promise<UserContainer[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('user_containers').selectAll().where('id', 'in', ids).orderBy('id').execute()
  return rows.map(fromRow)
}

/**
 * The record of (user, type), created without a container id when there is none.
 * Written before the engine is called: a crash in between leaves a record that the next launch completes, not an
 * orphan.
 */
export async function ensureContainer(
  db: Db,
  userId: number,
  type: string,
  image: string,
  now: Date,
): Promise<UserContainer> {
  const found = await findContainer(db, userId, type)
  if (found) return found
  await db
    .insertInto('user_containers')
    .values({
      user_id: userId,
      container_type: type,
      container_id: null,
      container_port: null,
      template_image: image,
      created_at: now.getTime(),
      last_used: null,
      is_blocked: 0,
      blocked_at: null,
      blocked_by: null,
      block_source: null,
      stopped_at: null,
      running_since: null,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'container_type']).doNothing())
    .execute()
  const made = await findContainer(db, userId, type)
  if (!made) throw new Error(`no record of type ${type} for user ${userId} after storing it`)
  return made
}

/** Stores the engine container of the record, whose writable layer is not known to be full. */
export async function storeContainer(
  db: Db,
  id: number,
  container: {
    containerId: string | null
    port: number | null
    image: string
    /** With which it was created; absent: as before. */
    folders?: readonly object[]
  },
): Promise<void> {
  await db
    .updateTable('user_containers')
    .set({
      container_id: container.containerId,
      container_port: container.port,
      template_image: container.image,
      retired_at: null,
      full_layer: null,
      ...(container.folders && { group_folders: folderText(container.folders) }),
    })
    .where('id', '=', id)
    .execute()
}

/** Folders of groups as a record has them; null for none. */
export const folderText = (folders: readonly object[]) => (folders.length === 0 ? null : JSON.stringify(folders))

/** Stores why its program cannot write to its home, or (null) that it can. */
export async function setHomeProblem(db: Db, id: number, problem: HomeProblem | null): Promise<void> {
  const change = { home_problem: problem && JSON.stringify(problem) }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/**
 * Stores how many bytes a container has written outside of its home, for which it is stopped and made anew, or (null)
 * that it could not be stopped.
 * @returns id of the record; undefined when none has this container any more
 */
export async function noteFullLayer(db: Db, containerId: string, bytes: number | null): Promise<number | undefined> {
  const row = await db
    .updateTable('user_containers')
    .set({ full_layer: bytes })
    .where('container_id', '=', containerId)
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Stores what its owner chose for parameters of the template. */
export async function storeParameters(db: Db, id: number, chosen: ChosenParameters): Promise<void> {
  const change = { parameters: JSON.stringify(chosen) }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/**
 * Stores a launch of the container, which runs now: an earlier stop does not count any more.
 * @param isStarted false: it ran before, and since when stays
 */
export async function touchContainer(db: Db, id: number, now: Date, isStarted = true): Promise<void> {
  const at = now.getTime()
  const running_since = isStarted ? at : sql<number>`coalesce(running_since, ${at})`
  const change = { last_used: at, stopped_at: null, stop_reason: null, is_stop_requested: null, running_since }
  await db.updateTable('user_containers').set(change).where('id', '=', id).execute()
}

/** Moves `last_used` of the container and of its owner forward, never back. */
export async function noteUse(db: Db, userId: number, type: string, at: Date): Promise<void> {
  // The owner first, as a block does: transactions that lock in the same order cannot deadlock.
  await noteUserActive(db, userId, at)
  await db
    .updateTable('user_containers')
    .set({ last_used: at.getTime() })
    .where('user_id', '=', userId)
    .where('container_type', '=', type)
    .where((each) => each.or([each('last_used', 'is', null), each('last_used', '<', at.getTime())]))
    .execute()
}

/**
 * Stores that Berth stops it now, or (null) that it was started again or could not be stopped. @param why null where its
 * owner has no use for it, as of a type that is not configured any more @param isRequested whether the stop was asked for;
 * otherwise any request of its owner starts it again
 */
export async function noteStopped(
  db: Db,
  userId: number,
  type: string,
  at: Date | null,
  why: StopReason | null = null,
  isRequested = false,
): Promise<void> {
  await db
    .updateTable('user_containers')
    .set({
      stopped_at: at?.getTime() ?? null,
      stop_reason: why,
      is_stop_requested: at && isRequested ? 1 : null,
      running_since: at ? null : Date.now(),
    })
    .where('user_id', '=', userId)
    .where('container_type', '=', type)
    .execute()
}

/** Stores that its stop was asked for when it did not run. */
export async function noteStopRequested(db: Db, userId: number, type: string): Promise<void> {
  await db
    .updateTable('user_containers')
    .set({ is_stop_requested: 1, running_since: null })
    .where('user_id', '=', userId)
    .where('container_type', '=', type)
    .execute()
}

/** Sets the desired state to running since then, or (null) to stopped, because it ended by itself. */
export async function noteRunning(db: Db, userId: number, type: string, since: Date | null): Promise<void> {
  await db
    .updateTable('user_containers')
    .set({ running_since: since?.getTime() ?? null })
    .where('user_id', '=', userId)
    .where('container_type', '=', type)
    .execute()
}

/** Deletes a record. @returns the record; undefined when there is none, also when it was deleted concurrently */
export async function deleteContainer(db: Db, id: number): Promise<UserContainer | undefined> {
  const row = await db.deleteFrom('user_containers').where('id', '=', id).returningAll().executeTakeFirst()
  return row && fromRow(row)
}

const date = (ms: number | null) => (ms === null ? null : new Date(ms))

/** For the queries of this folder. */
function fromRow(row: Selectable<UserContainersTable>): UserContainer {
  return {
    id: row.id,
    userId: row.user_id,
    type: row.container_type,
    containerId: row.container_id,
    port: row.container_port,
    image: row.template_image,
    createdAt: new Date(row.created_at),
    lastUsed: date(row.last_used),
    isBlocked: row.is_blocked === 1,
    blockedAt: date(row.blocked_at),
    blockedBy: row.blocked_by,
    blockSource: row.block_source,
    stoppedAt: date(row.stopped_at),
    stopReason: row.stop_reason,
    isStopRequested: row.is_stop_requested === 1,
    runningSince: date(row.running_since),
    retiredAt: date(row.retired_at),
    parameters: row.parameters === null ? {} : (JSON.parse(row.parameters) as ChosenParameters),
    groupFolders: row.group_folders,
    homeProblem: row.home_problem ? (JSON.parse(row.home_problem) as HomeProblem) : null,
    fullLayer: row.full_layer,
  }
}

/** All conditions must hold. */
export interface ContainerFilter {
  /** Part of the owner's e-mail address or slug, as in `UserFilter`. */
  readonly q?: string | undefined
  readonly type?: string | undefined
  /** The record's own block; all records of a blocked user are blocked. */
  readonly isBlocked?: boolean | undefined
  readonly selection?: RecordSelection | undefined
}

/** Selects records by a property that the store does not have, such as the status. */
export interface RecordSelection {
  readonly ids: readonly number[]
  /** True: selects all others. */
  readonly isInverted: boolean
  /** Only of these types. */
  readonly types?: readonly string[]
  /** And all records of other types than these. */
  readonly orOtherThanTypes?: readonly string[]
}

/** A record and its owner. */
export interface ContainerOfOwner {
  readonly record: UserContainer
  readonly email: string
  readonly slug: string
}

const listColumns = {
  id: 'user_containers.id',
  email: 'users.email',
  last_used: 'user_containers.last_used',
  created_at: 'user_containers.created_at',
}

/** A page of all records with their owners; costs as much as `listUsers`. */
export async function listContainersWithOwners(
  db: Db,
  page: PageRequest,
  filter: ContainerFilter = {},
): Promise<ContainerOfOwner[]> {
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '')
  const rows = await readPage(page, listColumns, isFiltered, async ({ where, orderBy }, limit) => {
    let ids = filtered(db, selectFor(db, filter, page), filter)
      .select('user_containers.id')
      .limit(limit)
    if (where) ids = ids.where(where)
    for (const term of orderBy) ids = ids.orderBy(term)
    // A separate query: owners are looked up for one page, and not for each of 100,000 rows that are sorted.
    let query = selectWithOwners(db)
      .selectAll('user_containers')
      .select(['users.email', 'users.slug'])
      .where('user_containers.id', 'in', ids)
    for (const term of orderBy) query = query.orderBy(term)
    return query.execute()
  })
  return rows.map((row) => ({ record: fromRow(row), email: row.email, slug: row.slug }))
}

/** Number of records that match a filter. */
export async function countContainers(db: Db, filter: ContainerFilter): Promise<number> {
  const { count } = await filtered(db, selectFor(db, filter), filter)
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

const selectWithOwners = (db: Db) =>
  db.selectFrom('user_containers').innerJoin('users', 'users.id', 'user_containers.user_id')

/** Joins the owners where the filter or the order needs them. */
function selectFor(db: Db, { q }: ContainerFilter, page?: PageRequest): Query<object> {
  if (q || page?.order.by === 'email') return selectWithOwners(db)
  return db.selectFrom('user_containers') as unknown as Query<object>
}

type Query<O> = SelectQueryBuilder<Schema, 'user_containers' | 'users', O>

function filtered<O>(db: Db, query: Query<O>, { q, type, isBlocked, selection }: ContainerFilter): Query<O> {
  if (q) query = query.where(matchesSearch(q))
  if (type !== undefined) query = query.where('user_containers.container_type', '=', type)
  // Not "= 0": SQLite would use the index of blocked records for that, and then read nearly all rows out of order.
  if (isBlocked !== undefined) query = query.where('user_containers.is_blocked', isBlocked ? '=' : '!=', 1)
  if (selection) query = query.where(isSelected(db, selection))
  return query
}

/**
 * One parameter for any number of ids; a statement cannot have each as a parameter. By the means of each database: with
 * JSON, which both support, PostgreSQL took a second for 50,000. "is true" prevents a join with an index look-up for
 * each id: PostgreSQL expects far fewer.
 */
function isSelected(db: Db, { ids, isInverted, types, orOtherThanTypes }: RecordSelection) {
  const id = sql.ref('user_containers.id')
  const isOneOf =
    db.getExecutor().adapter instanceof PostgresAdapter
      ? sql`(${id} in (select unnest(cast(${`{${ids.join(',')}}`} as bigint[])))) is true`
      : sql`${id} in (select value from json_each(${`[${ids.join(',')}]`}))`
  const isMeant = isInverted ? sql<boolean>`not (${isOneOf})` : sql<boolean>`(${isOneOf})`
  const type = sql.ref('user_containers.container_type')
  if (orOtherThanTypes) return sql<boolean>`(${type} not in (${sql.join(orOtherThanTypes)}) or ${isMeant})`
  return types ? sql<boolean>`(${type} in (${sql.join(types)}) and ${isMeant})` : isMeant
}
