import type { Db } from './database.ts'

/** What members of a group may do in its folder; managers write. */
export type FolderRight = 'read' | 'write'

/** The folder that a group has. */
export interface GroupFolder {
  /** Of folders unique, and a part of its path in containers. */
  readonly name: string
  readonly members: FolderRight
  /** The engine's name of it. */
  readonly volume: string
}

/** The group that has a folder of this name; undefined when the name is free. */
export async function findFolderGroup(db: Db, name: string): Promise<number | undefined> {
  const row = await db.selectFrom('group_folders').select('group_id').where('name', '=', name).executeTakeFirst()
  return row?.group_id ?? undefined
}

/**
 * Gives a group its folder: the one that it has or had under any name, else a new one. Call it in a transaction that holds
 * `database.lock(tx, 'groups')`, after a look for the name.
 * @param volume name of a new one
 */
export async function setGroupFolder(
  tx: Db,
  groupId: number,
  { name, members, volume }: GroupFolder,
): Promise<GroupFolder> {
  await tx
    .insertInto('group_folders')
    .values({ group_id: groupId, name, members, volume, remove_after: null })
    .onConflict((conflict) => conflict.column('group_id').doUpdateSet({ name, members }))
    .execute()
  const row = await tx
    .selectFrom('group_folders')
    .select('volume')
    .where('group_id', '=', groupId)
    .executeTakeFirstOrThrow()
  return { name, members, volume: row.volume }
}

/** Takes its folder from a group, and keeps what is in it: the group has it again when it gets one. */
export async function takeGroupFolder(tx: Db, groupId: number): Promise<void> {
  await tx.updateTable('group_folders').set({ name: null }).where('group_id', '=', groupId).execute()
}

/**
 * The folder of this group, also one that was taken away, is removed then; another one that the group gets is new.
 * @returns false when the group has had none
 */
export async function dropGroupFolder(tx: Db, groupId: number, removeAfter: Date): Promise<boolean> {
  const change = { name: null, group_id: null, remove_after: removeAfter.getTime() }
  const { numUpdatedRows } = await tx
    .updateTable('group_folders')
    .set(change)
    .where('group_id', '=', groupId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

/** Volumes of folders that are due, by their names. @param after the last one of the page before; '' begins anew */
export async function listDueFolders(db: Db, now: Date, limit: number, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('group_folders')
    .select('volume')
    .where('remove_after', '<=', now.getTime())
    .where('volume', '>', after)
    .orderBy('volume')
    .limit(limit)
    .execute()
  return rows.map(({ volume }) => volume)
}

/** Drops the row of a folder that the engine has removed. */
export async function forgetFolder(db: Db, volume: string): Promise<void> {
  await db.deleteFrom('group_folders').where('volume', '=', volume).execute()
}

/** Containers, by the engine's id, that were created with this folder. */
export async function listContainersWithFolder(db: Db, volume: string): Promise<string[]> {
  const rows = await db
    .selectFrom('user_containers')
    .select(['container_id', 'group_folders'])
    .where('group_folders', 'is not', null)
    .where('container_id', 'is not', null)
    .execute()
  return rows.flatMap(({ container_id: id, group_folders: text }) => (id && text?.includes(`"${volume}"`) ? [id] : []))
}
