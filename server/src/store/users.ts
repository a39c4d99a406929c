import { sql, type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, type Selectable } from 'kysely'
import type { Db, Tx } from './database.ts'
import { readPage, type PageRequest } from './pagination.ts'
import type { Schema, UsersTable } from './schema.ts'
import { deleteUsageOfUser } from './usage-sums.ts'

type UserState = UsersTable['state']

/** An account. Source: specification, User. */
export interface User {
  readonly id: number
  readonly email: string
  readonly slug: string
  readonly state: UserState
  readonly isAdmin: boolean
  readonly isBlocked: boolean
  readonly lastUsed: Date | null
  readonly createdAt: Date
  /** Bytes that the homes may have beyond every disk limit. */
  readonly extraDisk?: number | null
}

/** Whether someone may act as an administrator: one who is blocked may not. @param user undefined: deleted */
export const isActiveAdministrator = (user: Pick<User, 'isAdmin' | 'isBlocked'> | undefined): boolean =>
  user !== undefined && user.isAdmin && !user.isBlocked

export async function findUser(db: Db, id: number): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/**
 * The user as the last transaction left them, and as they stay until this one ends: one that blocks or deletes them
 * waits, and sees what this one has stored. PostgreSQL would let a block commit between a read and what depends on it.
 */
export async function lockUser(tx: Tx, id: number): Promise<User | undefined> {
  // Changes nothing; SQLite, whose transactions that write exclude each other, has no other statement for it.
  const row = await tx
    .updateTable('users')
    .set(({ ref }) => ({ state: ref('state') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Existing users of these ids, ordered by id; at most a page of them at a time. */
export async function findUsers(db: Db, ids: readonly number[]): Promise<User[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('users').selectAll().where('id', 'in', ids).orderBy('id').execute()
  return rows.map(fromRow)
}

/** Users of these addresses, in no order; at most a page of them at a time. @param emails lower-cased, as stored */
export async function findUsersByEmail(db: Db, emails: readonly string[]): Promise<User[]> {
  if (emails.length === 0) return []
  return (await db.selectFrom('users').selectAll().where('email', 'in', emails).execute()).map(fromRow)
}

/** @param email lower-cased, as stored */
export async function findUserByEmail(db: Db, email: string): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
  return row && fromRow(row)
}

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Users who may reach a container: verified, or owner of a record. Page by id, oldest first; `after` is the last id of
 * the page before.
 */
export async function listReachableUsers(db: Db, page: { limit: number; after: number }): Promise<User[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('id', '>', page.after)
    .where((each) =>
      each.or([
        each('state', '!=', 'registered'),
        each.exists(
          each
            .selectFrom('user_containers')
            .select('user_containers.id')
            .whereRef('user_containers.user_id', '=', 'users.id'),
        ),
      ]),
    )
    .orderBy('id')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

/** Stores a new account; the caller decides `isAdmin`. */
export async function insertUser(
  db: Db,
  user: { email: string; slug: string; isAdmin: boolean; now: Date },
): Promise<User> {
  const row = await db
    .insertInto('users')
    .values({
      email: user.email,
      slug: user.slug,
      state: 'registered',
      is_admin: Number(user.isAdmin),
      is_blocked: 0,
      last_used: null,
      created_at: user.now.getTime(),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Changes the state (compare-and-swap, as in optimistic locking); does nothing when it is not `from` any more. */
export async function moveUserState(db: Db, id: number, from: UserState, to: UserState): Promise<void> {
  await db.updateTable('users').set({ state: to }).where('id', '=', id).where('state', '=', from).execute()
}

/**
 * How far `last_used` of a user may lag behind that of their containers, in ms: most uses then cost no second write.
 */
const maxLag = 60_000

/** Moves `last_used` forward when it is more than a minute behind, never back. */
export async function noteUserActive(db: Db, id: number, at: Date): Promise<void> {
  await db
    .updateTable('users')
    .set({ last_used: at.getTime() })
    .where('id', '=', id)
    .where((each) => each.or([each('last_used', 'is', null), each('last_used', '<', at.getTime() - maxLag)]))
    .execute()
}

export async function touchUser(db: Db, id: number, now: Date): Promise<void> {
  await db.updateTable('users').set({ last_used: now.getTime() }).where('id', '=', id).execute()
}

/** A block deletes their API tokens, in whichever transaction it is stored. */
export async function setUsersBlocked(db: Db, ids: readonly number[], isBlocked: boolean): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('users')
    .set({ is_blocked: Number(isBlocked) })
    .where('id', 'in', ids)
    .execute()
  if (isBlocked) await deleteApiTokensOf(db, ids)
}

/** A demotion deletes their API tokens with an administrator's scope. @returns these */
export async function setUserAdmin(db: Db, id: number, isAdmin: boolean): Promise<DeletedApiToken[]> {
  await db
    .updateTable('users')
    .set({ is_admin: Number(isAdmin) })
    .where('id', '=', id)
    .execute()
  return isAdmin ? [] : deleteAdminApiTokensOf(db, id)
}

/** Number of administrators other than `id` who are not blocked and have signed in before. */
export async function countOthersInCharge(db: Db, id: number): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('is_admin', '=', 1)
    .where('is_blocked', '=', 0)
    .where('state', '!=', 'registered')
    .where('id', '!=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Those of these ids that are accounts. @param ids some hundred at most */
export async function listExistingUserIds(db: Db, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('users').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

export async function deleteUser(db: Db, id: number): Promise<void> {
  await deleteUsageOfUser(db, id)
  await db.deleteFrom('users').where('id', '=', id).execute()
}

/** Claims a slug for ever. @returns false when it is taken */
export async function claimSlug(db: Db, slug: string): Promise<boolean> {
  const row = await db
    .insertInto('used_slugs')
    .values({ slug })
    .onConflict((conflict) => conflict.doNothing())
    .returning('slug')
    .executeTakeFirst()
  return row !== undefined
}

/** Claims slugs for ever that containers or homes use already. @returns the number of newly claimed ones */
export async function claimSlugs(db: Db, slugs: readonly string[]): Promise<number> {
  if (slugs.length === 0) return 0
  const taken = await db.selectFrom('used_slugs').select('slug').where('slug', 'in', slugs).execute()
  const known = new Set(taken.map(({ slug }) => slug))
  const free = slugs.filter((slug) => !known.has(slug))
  if (free.length === 0) return 0
  const rows = await db
    .insertInto('used_slugs')
    .values(free.map((slug) => ({ slug })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('slug')
    .execute()
  return rows.length
}

/** Releases a slug that was never published: its first mail was not accepted. */
export async function releaseSlug(db: Db, slug: string): Promise<void> {
  await db.deleteFrom('used_slugs').where('slug', '=', slug).execute()
}

/** The account of a row, for the queries of this room. */
export function fromRow(row: Selectable<UsersTable>): User {
  return {
    id: row.id,
    email: row.email,
    slug: row.slug,
    state: row.state,
    isAdmin: row.is_admin === 1,
    isBlocked: row.is_blocked === 1,
    lastUsed: row.last_used === null ? null : new Date(row.last_used),
    createdAt: new Date(row.created_at),
    extraDisk: row.extra_disk,
  }
}

/** Bytes beyond disk limits by the id of their user, of all who have some. */
export async function listExtraDisk(db: Db): Promise<ReadonlyMap<number, number>> {
  const rows = await db.selectFrom('users').select(['id', 'extra_disk']).where('extra_disk', '>', 0).execute()
  return new Map(rows.map(({ id, extra_disk: bytes }) => [id, bytes ?? 0]))
}

/** @param bytes null: none */
export async function setExtraDisk(tx: Tx, id: number, bytes: number | null): Promise<void> {
  await tx.updateTable('users').set({ extra_disk: bytes }).where('id', '=', id).execute()
}

/** E-mail addresses by id, of users who still exist. @param ids at most some thousands; duplicates count once */
export async function listAddresses(db: Db, ids: readonly number[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {}
  const rows = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return Object.fromEntries(rows.map(({ id, email }) => [String(id), email]))
}

/** All conditions must hold. */
export interface UserFilter {
  /** Part of the e-mail address or of the slug, ignoring case; the empty text is part of all. */
  readonly q?: string | undefined
  readonly state?: UserState | undefined
  readonly isAdmin?: boolean | undefined
  readonly isBlocked?: boolean | undefined
}

const listColumns = {
  id: 'users.id',
  email: 'users.email',
  last_used: 'users.last_used',
  created_at: 'users.created_at',
}

/** A page of users. Reads at most 100,000 rows, in about 20 ms; without a filter only those of the page. */
export async function listUsers(db: Db, page: PageRequest, filter: UserFilter = {}): Promise<User[]> {
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '')
  const rows = await readPage(page, listColumns, isFiltered, async ({ where, orderBy }, limit) => {
    let query = filtered(db.selectFrom('users'), filter).selectAll().limit(limit)
    if (where) query = query.where(where)
    for (const term of orderBy) query = query.orderBy(term)
    return query.execute()
  })
  return rows.map(fromRow)
}

/** Number of users who match a filter. */
export async function countUsers(db: Db, filter: UserFilter): Promise<number> {
  const { count } = await filtered(db.selectFrom('users'), filter)
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function filtered<O>(
  query: SelectQueryBuilder<Schema, 'users', O>,
  { q, state, isAdmin, isBlocked }: UserFilter,
): SelectQueryBuilder<Schema, 'users', O> {
  if (q) query = query.where(matchesSearch(q))
  if (state) query = query.where('users.state', '=', state)
  if (isAdmin !== undefined) query = query.where('users.is_admin', isAdmin ? '=' : '!=', 1)
  if (isBlocked !== undefined) query = query.where('users.is_blocked', isBlocked ? '=' : '!=', 1)
  return query
}

/** Whether a user's address or slug has this part, ignoring case; wildcards match literally. */
export function matchesSearch(q: string): RawBuilder<boolean> {
  const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  // SQLite has no escape character in LIKE unless one is named.
  return sql<boolean>`(users.email like ${pattern} escape '\\' or users.slug like ${pattern} escape '\\')`
}

/**
 * Users who used a container of this type since then and are not blocked, by id.
 * @param page `after` is the last id of the page before
 */
export async function listRecentUsersOf(
  db: Db,
  type: string,
  since: Date,
  page: { readonly after: number; readonly limit: number },
): Promise<User[]> {
  const rows = await db
    .selectFrom('user_containers')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select('user_containers.user_id')
    .where('user_containers.container_type', '=', type)
    .where('user_containers.last_used', '>=', since.getTime())
    .where('user_containers.is_blocked', '=', 0)
    .where('users.is_blocked', '=', 0)
    .where('user_containers.user_id', '>', page.after)
    .orderBy('user_containers.user_id')
    .limit(page.limit)
    .execute()
  return findUsers(
    db,
    rows.map((row) => row.user_id),
  )
}

/**
 * The latest registration of the accounts that are meant, and the time at which links are compared with their expiry.
 */
export interface UnverifiedCutoff {
  readonly before: Date
  readonly now: Date
}

/**
 * Accounts that were never verified and cannot be verified any more: registered before the cutoff, without a usable
 * link, not an administrator's, not blocked, without containers. The oldest first. None while a clock jump adjusts
 * instants.
 */
export async function listExpiredUnverifiedUsers(
  db: Db,
  page: UnverifiedCutoff & { limit: number },
): Promise<{ id: number; email: string }[]> {
  return db
    .selectFrom('users')
    .select(['id', 'email'])
    .where(isExpiredUnverified(page))
    .orderBy('created_at')
    .limit(page.limit)
    .execute()
}

/** @returns the slug of the deleted account; undefined when it is no such account, or no longer */
export async function deleteExpiredUnverifiedUser(
  db: Db,
  id: number,
  cutoff: UnverifiedCutoff,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('users')
    .where('id', '=', id)
    .where(isExpiredUnverified(cutoff))
    .returning('slug')
    .executeTakeFirst()
  return row?.slug
}

/**
 * @returns false when there is none of this id, they have verified their address, or a link by which they may is still
 * valid
 */
export async function deleteUnverifiedUser(db: Db, id: number): Promise<boolean> {
  const row = await db
    .deleteFrom('users')
    .where('id', '=', id)
    .where('state', '=', 'registered')
    .where((each) => each.not(each.exists(unusedLinks(each).where('magic_links.token_type', '=', 'signup'))))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

const isExpiredUnverified =
  ({ before, now }: UnverifiedCutoff) =>
  (each: ExpressionBuilder<Schema, 'users'>) =>
    each.and([
      each.not(each.exists(each.selectFrom('clock_moves').select('clock_moves.table_name'))),
      each('users.state', '=', 'registered'),
      each('users.created_at', '<', before.getTime()),
      each('users.is_admin', '=', 0),
      each('users.is_blocked', '=', 0),
      each.not(each.exists(unusedLinks(each).where('magic_links.expires_at', '>', now.getTime()))),
      each.not(
        each.exists(
          each
            .selectFrom('user_containers')
            .select('user_containers.id')
            .whereRef('user_containers.user_id', '=', 'users.id'),
        ),
      ),
    ])

const unusedLinks = (each: ExpressionBuilder<Schema, 'users'>) =>
  each
    .selectFrom('magic_links')
    .select('magic_links.id')
    .whereRef('magic_links.user_id', '=', 'users.id')
    .where('magic_links.used_at', 'is', null)

/** An API token that was deleted, and whose it was. */
export interface DeletedApiToken {
  readonly id: number
  readonly userId: number
}

/** Deletes the API tokens of users who are blocked now; they do not come back with an unblock. */
async function deleteApiTokensOf(tx: Db, userIds: readonly number[]): Promise<void> {
  if (userIds.length > 0) await tx.deleteFrom('api_tokens').where('user_id', 'in', userIds).execute()
}

/** Deletes the API tokens with an administrator's scope of a user who is no administrator any more. */
async function deleteAdminApiTokensOf(tx: Db, userId: number): Promise<DeletedApiToken[]> {
  const rows = await tx
    .deleteFrom('api_tokens')
    .where('user_id', '=', userId)
    .where('scopes', 'like', '%admin:%')
    .returning(['id', 'user_id'])
    .execute()
  return rows.map((row) => ({ id: row.id, userId: row.user_id }))
}
