import { PostgresAdapter, sql, type SelectQueryBuilder } from 'kysely'
import type { Db } from './database.ts'
import { readPage, type PageRequest } from './keyset-pagination.ts'
import type { Schema } from './schema.ts'
import { fromRow, type UserContainer } from './user-containers.ts'
import { matchesSearch } from './user-list.ts'

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

const columns = {
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
  const rows = await readPage(page, columns, isFiltered, async ({ where, orderBy }, limit) => {
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
