import { sql } from 'kysely'
import { deleteInBatches } from '../batch-deletion.ts'
import type { Db } from '../database.ts'
import type { ContainerSharesTable } from '../schema.ts'

/** `look`: read requests alone; `use`: every request. */
export type ShareRight = ContainerSharesTable['may']

/** With whom a container is shared: the account of an address, or the members of a group. */
export type ShareTarget = { readonly email: string } | { readonly groupId: number }

/** A share, with its container and its owner. */
export interface ContainerShare {
  readonly id: number
  /** Of the container. */
  readonly recordId: number
  readonly owner: { readonly id: number; readonly email: string; readonly slug: string }
  readonly type: string
  /** Null for a share with a group. */
  readonly email: string | null
  readonly group: { readonly id: number; readonly name: string } | null
  readonly may: ShareRight
  readonly createdAt: Date
  readonly expiresAt: Date
  /** End of the group, which ends the share, too; null for one that does not end, and without a group. */
  readonly groupExpiresAt: Date | null
}

/** A page by id: those above `after`. */
interface Page {
  readonly limit: number
  readonly after: number
}

/** Shares a container; a share with the same address or group gets these terms instead. @throws when record or group is gone */
export async function setShare(
  tx: Db,
  share: {
    readonly recordId: number
    readonly to: ShareTarget
    readonly may: ShareRight
    readonly now: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  const { recordId, to, may, now, expiresAt } = share
  const terms = { may, expires_at: expiresAt.getTime() }
  const target = 'email' in to ? { email: to.email, group_id: null } : { email: null, group_id: to.groupId }
  await tx
    .insertInto('container_shares')
    .values({ record_id: recordId, ...target, ...terms, created_at: now.getTime() })
    .onConflict((conflict) => conflict.columns(['record_id', 'email' in to ? 'email' : 'group_id']).doUpdateSet(terms))
    .execute()
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

/** As `listShares`, those that open the container to visitors: not of a group that has ended, or that their owner has left. */
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
      each.or([each('container_shares.email', '=', visitor.email), each('container_shares.group_id', 'in', own)]),
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

/** Deletes shares that ended before this instant. Of very many some stay for the next call. */
export async function deleteEndedShares(db: Db, before: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db.selectFrom('container_shares').select('id').where('expires_at', '<=', before.getTime()).limit(limit)
    const { numDeletedRows } = await db.deleteFrom('container_shares').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

/** With a group: as long as it has not ended, and its owner is a member. */
const isEffective = (now: Date) => sql<boolean>`(container_shares.group_id is null or (
  (user_groups.expires_at is null or user_groups.expires_at > ${now.getTime()}) and exists (
    select 1 from group_members where group_members.group_id = container_shares.group_id
    and group_members.user_id = user_containers.user_id)))`

const selectShares = (db: Db) =>
  db
    .selectFrom('container_shares')
    .innerJoin('user_containers', 'user_containers.id', 'container_shares.record_id')
    .innerJoin('users as owners', 'owners.id', 'user_containers.user_id')
    .leftJoin('user_groups', 'user_groups.id', 'container_shares.group_id')
    .select([
      'container_shares.id',
      'container_shares.record_id',
      'container_shares.email',
      'container_shares.group_id',
      'container_shares.may',
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
  email: row.email,
  group: row.group_id === null ? null : { id: row.group_id, name: row.group_name ?? '' },
  may: row.may,
  createdAt: new Date(row.created_at),
  expiresAt: new Date(row.expires_at),
  groupExpiresAt: row.group_expires_at === null ? null : new Date(row.group_expires_at),
})
