import type { Db } from './database.ts'
import type { BlockSource } from './user-containers.ts'

/** Administrator and time of a block. */
export interface Block {
  readonly by: number | null
  readonly at: Date
}

/**
 * Blocks records by themselves. One that is blocked so already keeps its date and administrator. A block with its owner
 * or with groups becomes the administrator's, with its date: neither an unblock of the owner nor a manager of a group
 * releases it.
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
    .where((field) => field.or([field('is_blocked', '=', 0), field('block_source', '!=', 'container')]))
    .returning('id')
    .execute()
  const changed = rows.map(({ id }) => id)
  await deleteGroupBlocks(db, changed)
  return changed
}

/** Blocks all records of these users that are not blocked yet, because their owners are. @returns ids of those */
export async function blockContainersOf(db: Db, userIds: readonly number[], block: Block): Promise<number[]> {
  if (userIds.length === 0) return []
  const rows = await blocking(db, block, 'user').where('user_id', 'in', userIds).execute()
  return rows.map(({ id }) => id)
}

/**
 * Blocks the records of these users and types, because a group of theirs is blocked. What is blocked with its owner, or
 * with other groups, is blocked with this group, too, with its first date and administrator: it stays blocked until
 * each of them is unblocked. What is blocked by itself is left alone.
 * @param group its types; null: every type
 * @returns ids of those that this group has blocked, and had not before
 */
export async function blockContainersOfGroup(
  db: Db,
  group: { readonly id: number; readonly types: readonly string[] | null },
  userIds: readonly number[],
  block: Block,
): Promise<number[]> {
  if (userIds.length === 0 || group.types?.length === 0) return []
  const source = `group:${group.id}` as const
  let due = db
    .selectFrom('user_containers')
    .select((field) => ['id', field.val(group.id).as('group_id')])
    .where('user_id', 'in', userIds)
    .where((field) => field.or([field('is_blocked', '=', 0), field('block_source', '!=', 'container')]))
  if (group.types) due = due.where('container_type', 'in', group.types)
  const rows = await db
    .insertInto('group_blocks')
    .columns(['record_id', 'group_id'])
    .expression(due)
    .onConflict((conflict) => conflict.doNothing())
    .returning('record_id')
    .execute()
  const ids = rows.map(({ record_id }) => record_id)
  if (ids.length === 0) return []
  await movingSource(db, source).where('block_source', '=', 'user').where('id', 'in', ids).execute()
  await blocking(db, block, source).where('id', 'in', ids).execute()
  return ids
}

const blocking = (db: Db, { by, at }: Block, source: BlockSource) =>
  db
    .updateTable('user_containers')
    .set({ is_blocked: 1, blocked_at: at.getTime(), blocked_by: by, block_source: source })
    .where('is_blocked', '=', 0)
    .returning('id')

/** Unblocks records, whatever has blocked them. @returns ids of those that were blocked */
export async function unblockContainers(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  await deleteGroupBlocks(db, ids)
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
 * Ends the block of this group of records, also of former members. Those that another group has blocked, or whose owner
 * is blocked, stay blocked. Call it with the lock `administrators`: a user who is unblocked in the same moment would
 * leave them blocked.
 * @param limit max records @returns ids of those that are unblocked, and of those that stay blocked
 */
export async function unblockContainersOfGroup(
  db: Db,
  groupId: number,
  limit: number,
): Promise<{ released: number[]; kept: number[] }> {
  const rows = await db
    .selectFrom('group_blocks')
    .innerJoin('user_containers', 'user_containers.id', 'group_blocks.record_id')
    .innerJoin('users', 'users.id', 'user_containers.user_id')
    .select(['user_containers.id', 'user_containers.block_source', 'users.is_blocked as isOwnerBlocked'])
    .where('group_id', '=', groupId)
    .orderBy('record_id')
    .limit(limit)
    .execute()
  await deleteGroupBlocks(
    db,
    rows.map(({ id }) => id),
    groupId,
  )
  const own = rows.filter(({ block_source }) => block_source === `group:${groupId}`)
  const others = await otherGroupsOf(db, own)
  const ofOwner = own.filter(({ id, isOwnerBlocked }) => isOwnerBlocked === 1 && !others.has(id)).map(({ id }) => id)
  const released = own.filter(({ id, isOwnerBlocked }) => isOwnerBlocked === 0 && !others.has(id)).map(({ id }) => id)
  for (const [group, records] of Map.groupBy(others, ([, group]) => group)) {
    const ids = records.map(([id]) => id)
    await movingSource(db, `group:${group}`).where('id', 'in', ids).execute()
  }
  if (ofOwner.length > 0) await movingSource(db, 'user').where('id', 'in', ofOwner).execute()
  const gone = new Set(released)
  const kept = rows.map(({ id }) => id).filter((id) => !gone.has(id))
  if (released.length === 0) return { released, kept }
  const unblocked = await unblocking(db).where('id', 'in', released).execute()
  return { released: unblocked.map(({ id }) => id), kept }
}

/** By record, one of the groups that have blocked it; without those that none has blocked. */
async function otherGroupsOf(db: Db, records: readonly { readonly id: number }[]): Promise<Map<number, number>> {
  if (records.length === 0) return new Map()
  const rows = await db
    .selectFrom('group_blocks')
    .select((field) => ['record_id', field.fn.min('group_id').as('group')])
    .where(
      'record_id',
      'in',
      records.map(({ id }) => id),
    )
    .groupBy('record_id')
    .execute()
  return new Map(rows.map(({ record_id, group }) => [record_id, Number(group)]))
}

/** @param groupId undefined: of all groups */
async function deleteGroupBlocks(db: Db, recordIds: readonly number[], groupId?: number): Promise<void> {
  if (recordIds.length === 0) return
  const all = db.deleteFrom('group_blocks').where('record_id', 'in', recordIds)
  await (groupId === undefined ? all : all.where('group_id', '=', groupId)).execute()
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
