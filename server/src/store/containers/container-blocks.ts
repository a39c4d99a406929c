import { sql } from 'kysely'
import type { Db } from '../database.ts'
import { fromRow, type BlockSource, type UserContainer } from './user-containers.ts'

/** Blocked records; those of blocked users are found by `listBlockedUserIds`. */
export async function listBlockedContainers(db: Db): Promise<UserContainer[]> {
  const rows = await db.selectFrom('user_containers').selectAll().where('is_blocked', '=', 1).execute()
  return rows.map(fromRow)
}

/** Administrator and time of a block. */
export interface Block {
  readonly by: number | null
  readonly at: Date
}

/**
 * Blocks records that are not blocked yet; a blocked one keeps its first date and administrator. A block of a group
 * becomes the administrator's, with its date, so that no manager of the group can release it.
 * @returns ids of the records that changed
 */
export async function blockContainers(db: Db, ids: readonly number[], block: Block): Promise<number[]> {
  if (ids.length === 0) return []
  // One statement: once it is stored the block is enforced, even if the store takes nothing more.
  const rows = await db
    .updateTable('user_containers')
    .set((field) => ({
      is_blocked: 1,
      blocked_at: field.fn.coalesce('blocked_at', field.val(block.at.getTime())),
      blocked_by: block.by,
      block_source: 'container',
    }))
    .where('id', 'in', ids)
    .where((field) =>
      field.or([field('is_blocked', '=', 0), field(sql.ref<string>('block_source'), 'like', 'group:%')]),
    )
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** As `blockContainers`, all records of these users, because their owners are blocked. */
export async function blockContainersOf(db: Db, userIds: readonly number[], block: Block): Promise<number[]> {
  if (userIds.length === 0) return []
  const rows = await blocking(db, block, 'user').where('user_id', 'in', userIds).execute()
  return rows.map(({ id }) => id)
}

/**
 * As `blockContainers`, the records of these users and types, because a group of theirs is blocked. What is blocked with its
 * owner becomes the group's, with its first date and administrator, so that it stays blocked when the owner is unblocked.
 * @param group its types; null: every type @returns ids of both
 */
export async function blockContainersOfGroup(
  db: Db,
  group: { readonly id: number; readonly types: readonly string[] | null },
  userIds: readonly number[],
  block: Block,
): Promise<number[]> {
  if (userIds.length === 0 || group.types?.length === 0) return []
  const source = `group:${group.id}` as const
  let taking = movingSource(db, source).where('block_source', '=', 'user').where('user_id', 'in', userIds)
  let query = blocking(db, block, source).where('user_id', 'in', userIds)
  if (group.types) {
    taking = taking.where('container_type', 'in', group.types)
    query = query.where('container_type', 'in', group.types)
  }
  const taken = await taking.execute()
  return [...taken, ...(await query.execute())].map(({ id }) => id)
}

const blocking = (db: Db, { by, at }: Block, source: BlockSource) =>
  db
    .updateTable('user_containers')
    .set({ is_blocked: 1, blocked_at: at.getTime(), blocked_by: by, block_source: source })
    .where('is_blocked', '=', 0)
    .returning('id')

/** @returns ids of those that were blocked */
export async function unblockContainers(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await unblocking(db).where('id', 'in', ids).execute()
  return rows.map(({ id }) => id)
}

/** Unblocks the records of these users that are blocked because their owners were. @returns ids of those */
export async function unblockContainersOf(db: Db, userIds: readonly number[]): Promise<number[]> {
  if (userIds.length === 0) return []
  const rows = await unblocking(db).where('user_id', 'in', userIds).where('block_source', '=', 'user').execute()
  return rows.map(({ id }) => id)
}

/**
 * Unblocks records that a block of this group has blocked, also of former members. Those of blocked users stay blocked with
 * their owners. Call it with the lock `administrators`: a user who is unblocked in the same moment would leave them blocked.
 * @param limit max records @returns ids of those that are unblocked, and of those that are the owner's block now
 */
export async function unblockContainersOfGroup(
  db: Db,
  groupId: number,
  limit: number,
): Promise<{ released: number[]; kept: number[] }> {
  const rows = await db
    .selectFrom('user_containers')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select(['user_containers.id', 'users.is_blocked as isOwnerBlocked'])
    .where('block_source', '=', `group:${groupId}`)
    .orderBy('user_containers.id')
    .limit(limit)
    .execute()
  const idsWhere = (isOwnerBlocked: number) =>
    rows.filter((row) => row.isOwnerBlocked === isOwnerBlocked).map(({ id }) => id)
  const [released, kept] = [idsWhere(0), idsWhere(1)]
  if (kept.length > 0) await movingSource(db, 'user').where('id', 'in', kept).execute()
  return { released: await unblockContainers(db, released), kept }
}

/** Moves a block to another source; its date and its administrator stay. */
const movingSource = (db: Db, source: BlockSource) =>
  db.updateTable('user_containers').set({ block_source: source }).where('is_blocked', '=', 1).returning('id')

const unblocking = (db: Db) =>
  db
    .updateTable('user_containers')
    .set({ is_blocked: 0, blocked_at: null, blocked_by: null, block_source: null })
    .where('is_blocked', '=', 1)
    .returning('id')
