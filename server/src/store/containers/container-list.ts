import { PostgresAdapter, sql, type SelectQueryBuilder } from 'kysely'
import type { Db } from '../database.ts'
import { readPage, type PageRequest } from '../keyset-pagination.ts'
import type { Schema } from '../schema.ts'
import { fromRow, type UserContainer } from './user-containers.ts'
import { matchesSearch } from '../users/user-list.ts'

/** Of which all of these hold. */
export interface ContainerFilter {
  /** Part of the owner's e-mail address or slug, as in `UserFilter`. */
  readonly q?: string | undefined
  readonly type?: string | undefined
  /** The record's own block; all records of a blocked user are blocked. */
  readonly isBlocked?: boolean | undefined
  readonly selection?: RecordSelection | undefined
}

/** Which records are meant, by something that the store does not know. */
export interface RecordSelection {
  readonly ids: readonly number[]
  /** True: these are not meant, and all others are. */
  readonly isInverted: boolean
  /** Of these types alone. */
  readonly types?: readonly string[]
  /** And all of other types than these. */
  readonly orOtherThanTypes?: readonly string[]
}

/** A record, and whose it is. */
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

/** A page of all records with their owners; costs as `listUsers`. */
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
    // Apart, so that owners are looked up for a page, and not for each of 100,000 rows that are sorted.
    let query = selectWithOwners(db)
      .selectAll('user_containers')
      .select(['users.email', 'users.slug'])
      .where('user_containers.id', 'in', ids)
    for (const term of orderBy) query = query.orderBy(term)
    return query.execute()
  })
  return rows.map((row) => ({ record: fromRow(row), email: row.email, slug: row.slug }))
}

/** How many there are of which a filter holds. */
export async function countContainers(db: Db, filter: ContainerFilter): Promise<number> {
  const { count } = await filtered(db, selectFor(db, filter), filter)
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

const selectWithOwners = (db: Db) =>
  db.selectFrom('user_containers').innerJoin('users', 'users.id', 'user_containers.user_id')

/** With owners where they matter. */
function selectFor(db: Db, { q }: ContainerFilter, page?: PageRequest): Query<object> {
  if (q || page?.order.by === 'email') return selectWithOwners(db)
  return db.selectFrom('user_containers') as unknown as Query<object>
}

type Query<O> = SelectQueryBuilder<Schema, 'user_containers' | 'users', O>

function filtered<O>(db: Db, query: Query<O>, { q, type, isBlocked, selection }: ContainerFilter): Query<O> {
  if (q) query = query.where(matchesSearch(q))
  if (type !== undefined) query = query.where('user_containers.container_type', '=', type)
  // Not "= 0": SQLite would take the index of blocked ones for that, and then read nearly all rows out of order.
  if (isBlocked !== undefined) query = query.where('user_containers.is_blocked', isBlocked ? '=' : '!=', 1)
  if (selection) query = query.where(isSelected(db, selection))
  return query
}

/**
 * One value for any number of ids, which a statement could not have each by itself. Each database by its own means: with
 * JSON, which both know, PostgreSQL took a second for 50,000. And "is true", because else it joins, and for each of them
 * looks into an index: it expects far fewer.
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
