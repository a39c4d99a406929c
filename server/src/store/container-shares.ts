import { sql } from 'kysely'
import { deleteInBatches, type Db } from './database.ts'
import { coverageOf } from './groups.ts'
import type { ContainerSharesTable } from './schema.ts'

/** `look`: read requests alone; `use`: every request. */
export type ShareRight = ContainerSharesTable['may']

/**
 * With whom a container is shared: the account of an address, the members of a group, or a manager of a group that the
 * owner is in, who asked for it.
 */
export type ShareTarget =
  { readonly email: string } | { readonly groupId: number } | { readonly managerId: number; readonly askedInId: number }

/** A share, with its container and its owner. */
export interface ContainerShare {
  readonly id: number
  readonly recordId: number
  readonly owner: { readonly id: number; readonly email: string; readonly slug: string }
  readonly type: string
  /** Null for a share with a group; of a manager who asked for it, the address of the account. */
  readonly email: string | null
  readonly group: { readonly id: number; readonly name: string } | null
  /** The group whose manager asked to look; null for a share that its owner made unasked. */
  readonly askedIn: AskedIn | null
  readonly may: ShareRight
  /** Further port of the container that it opens and nothing else; null: the main one. */
  readonly port: number | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** End of the group, which ends the share, too; null for one that does not end, and without a group. */
  readonly groupExpiresAt: Date | null
}

/** The share counts for types of this group, while owner and visitor are in it, and the visitor manages it. */
export interface AskedIn {
  readonly id: number
  readonly name: string
  readonly types: readonly string[] | null
  readonly managerId: number
}

/** A page by id: those above `after`. */
interface Page {
  readonly limit: number
  readonly after: number
}

/**
 * Shares a container; a share of the same port with the same address or group gets these terms instead.
 * @throws when record or group is gone
 */
export async function setShare(
  tx: Db,
  share: {
    readonly recordId: number
    readonly to: ShareTarget
    readonly may: ShareRight
    /** Left out or null: the main one. */
    readonly port?: number | null
    readonly now: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  const { recordId, to, may, port, now, expiresAt } = share
  const askedIn = 'managerId' in to ? { asked_in_id: to.askedInId } : {}
  const terms = { may, expires_at: expiresAt.getTime(), ...askedIn }
  const target = columnOf(to)
  await tx
    .insertInto('container_shares')
    .values({ record_id: recordId, ...target, ...terms, port: port ?? 0, created_at: now.getTime() })
    .onConflict((conflict) => conflict.columns([keyOf(to), 'record_id', 'port']).doUpdateSet(terms))
    .execute()
}

const keyOf = (to: ShareTarget) => ('email' in to ? 'email' : 'groupId' in to ? 'group_id' : 'manager_id')

function columnOf(to: ShareTarget) {
  if ('email' in to) return { email: to.email }
  return 'groupId' in to ? { group_id: to.groupId } : { manager_id: to.managerId }
}

/** @returns false when it was gone already */
export async function deleteShare(tx: Db, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('container_shares').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows > 0
}

/** Deletes all shares with an address. */
export async function deleteSharesWith(tx: Db, email: string): Promise<void> {
  await tx.deleteFrom('container_shares').where('email', '=', email).execute()
}

export async function findShare(db: Db, id: number): Promise<ContainerShare | undefined> {
  const row = await selectShares(db).where('container_shares.id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** Shares of one container that have not ended, oldest first. There are as many as `Shares` lets a container have. */
export async function listSharesOf(db: Db, userId: number, type: string, now: Date): Promise<ContainerShare[]> {
  const rows = await selectShares(db)
    .where('user_containers.user_id', '=', userId)
    .where('user_containers.container_type', '=', type)
    .where('container_shares.expires_at', '>', now.getTime())
    .orderBy('container_shares.id')
    .execute()
  return rows.map(fromRow)
}

/** A page of the shares of all users that have not ended, or of one owner's, by id. */
export async function listShares(db: Db, page: Page, now: Date, ownerId?: number): Promise<ContainerShare[]> {
  let query = selectShares(db)
    .where('container_shares.expires_at', '>', now.getTime())
    .where('container_shares.id', '>', page.after)
  if (ownerId !== undefined) query = query.where('user_containers.user_id', '=', ownerId)
  const rows = await query.orderBy('container_shares.id').limit(page.limit).execute()
  return rows.map(fromRow)
}

/**
 * A page of the shares that open their containers to visitors: `listShares` without those whose group has ended, or
 * whose owner has left it.
 */
export async function listEffectiveShares(db: Db, page: Page, now: Date): Promise<ContainerShare[]> {
  const rows = await selectShares(db)
    .where('container_shares.expires_at', '>', now.getTime())
    .where('container_shares.id', '>', page.after)
    .where(isEffective(now))
    .orderBy('container_shares.id')
    .limit(page.limit)
    .execute()
  return rows.map(fromRow)
}

/** Shares of others with this user, by address or group, that let the user in; at most `limit`. */
export async function listSharedWith(
  db: Db,
  visitor: { readonly id: number; readonly email: string },
  now: Date,
  limit: number,
): Promise<ContainerShare[]> {
  const own = db.selectFrom('group_members').select('group_id').where('user_id', '=', visitor.id)
  const rows = await selectShares(db)
    .where('container_shares.expires_at', '>', now.getTime())
    .where('user_containers.user_id', '!=', visitor.id)
    .where('owners.is_blocked', '=', 0)
    .where((each) =>
      each.or([
        each('container_shares.email', '=', visitor.email),
        each('container_shares.group_id', 'in', own),
        each('container_shares.manager_id', '=', visitor.id),
      ]),
    )
    .where(isEffective(now))
    .orderBy('container_shares.id')
    .limit(limit)
    .execute()
  return rows.map(fromRow)
}

/** Addresses of the members of a group, a page by their ids. */
export async function listMemberEmails(
  db: Db,
  groupId: number,
  page: Page,
): Promise<{ readonly id: number; readonly email: string }[]> {
  return db
    .selectFrom('group_members')
    .innerJoin('users', 'users.id', 'group_members.user_id')
    .select(['users.id', 'users.email'])
    .where('group_members.group_id', '=', groupId)
    .where('users.id', '>', page.after)
    .orderBy('users.id')
    .limit(page.limit)
    .execute()
}

/**
 * Deletes shares that a manager asked for and whose reason is over: the group has ended, the owner has left it, or the
 * visitor manages it no more. A later promotion does not bring them back.
 */
export async function deleteGroundlessLooks(db: Db, now: Date): Promise<void> {
  const effective = db
    .selectFrom('container_shares as effective')
    .innerJoin('user_containers', 'user_containers.id', 'effective.record_id')
    .innerJoin('user_groups as asked_in', 'asked_in.id', 'effective.asked_in_id')
    .select('effective.id')
    .where(isLookEffective(now, 'effective'))
  await db
    .deleteFrom('container_shares')
    .where('manager_id', 'is not', null)
    .where('container_shares.id', 'not in', effective)
    .execute()
}

/** When the last look ends, whether it has a reason or not; undefined without any. */
export async function findLastLookEnd(db: Db): Promise<Date | undefined> {
  const row = await db
    .selectFrom('container_shares')
    .select('expires_at')
    .where('manager_id', 'is not', null)
    .orderBy('expires_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && new Date(row.expires_at)
}

/** Deletes shares that ended before this instant. Of very many some stay for the next call. */
export async function deleteEndedShares(db: Db, before: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db.selectFrom('container_shares').select('id').where('expires_at', '<=', before.getTime()).limit(limit)
    const { numDeletedRows } = await db.deleteFrom('container_shares').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

/** With a group: as long as it has not ended, and its owner is a member. With a manager: see `isLookEffective`. */
const isEffective = (now: Date) => sql<boolean>`((container_shares.group_id is null or (
  (user_groups.expires_at is null or user_groups.expires_at > ${now.getTime()}) and exists (
    select 1 from group_members where group_members.group_id = container_shares.group_id
    and group_members.user_id = user_containers.user_id)))
  and (container_shares.manager_id is null or ${isLookEffective(now, 'container_shares')}))`

/** Whether the group has not ended, the owner is in it, and the visitor manages it. */
const isLookEffective = (now: Date, table: string) => sql<boolean>`(
  (asked_in.expires_at is null or asked_in.expires_at > ${now.getTime()})
  and exists (select 1 from group_members as owned where owned.group_id = asked_in.id
    and owned.user_id = user_containers.user_id)
  and exists (select 1 from group_members as managed where managed.group_id = asked_in.id
    and managed.user_id = ${sql.ref(`${table}.manager_id`)} and managed.role = 'manager'))`

/** Shares with their containers, the groups and managers that they are for, and the groups in which was asked. */
export const joinShares = (db: Db) =>
  db
    .selectFrom('container_shares')
    .innerJoin('user_containers', 'user_containers.id', 'container_shares.record_id')
    .leftJoin('user_groups', 'user_groups.id', 'container_shares.group_id')
    .leftJoin('users as managers', 'managers.id', 'container_shares.manager_id')
    .leftJoin('user_groups as asked_in', 'asked_in.id', 'container_shares.asked_in_id')

const selectShares = (db: Db) =>
  joinShares(db)
    .innerJoin('users as owners', 'owners.id', 'user_containers.user_id')
    .select([
      'container_shares.id',
      'container_shares.record_id',
      'container_shares.email',
      'container_shares.manager_id',
      'managers.email as manager_email',
      'asked_in.id as asked_in_id',
      'asked_in.name as asked_in_name',
      'asked_in.types as asked_in_types',
      'asked_in.expires_at as asked_in_expires_at',
      'container_shares.group_id',
      'container_shares.may',
      'container_shares.port',
      'container_shares.created_at',
      'container_shares.expires_at',
      'user_containers.container_type',
      'owners.id as owner_id',
      'owners.email as owner_email',
      'owners.slug as owner_slug',
      'user_groups.name as group_name',
      'user_groups.expires_at as group_expires_at',
    ])

type Row = Awaited<ReturnType<ReturnType<typeof selectShares>['execute']>>[number]

const fromRow = (row: Row): ContainerShare => ({
  id: row.id,
  recordId: row.record_id,
  owner: { id: row.owner_id, email: row.owner_email, slug: row.owner_slug },
  type: row.container_type,
  email: row.email ?? row.manager_email,
  askedIn: askedInOf(row),
  group: row.group_id === null ? null : { id: row.group_id, name: row.group_name ?? '' },
  may: row.may,
  port: row.port === 0 ? null : row.port,
  createdAt: new Date(row.created_at),
  expiresAt: new Date(row.expires_at),
  groupExpiresAt: dateOf(row.group_expires_at ?? row.asked_in_expires_at),
})

const dateOf = (at: number | null) => (at === null ? null : new Date(at))

function askedInOf(row: Row): AskedIn | null {
  const { manager_id: managerId, asked_in_id: id, asked_in_name: name, asked_in_types: types } = row
  if (managerId === null || id === null) return null
  return { id, name: name ?? '', types: coverageOf(types), managerId }
}
