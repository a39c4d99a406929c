import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { HomeArchivesTable } from './schema.ts'

/** An archive of a home, whole and on the disk. */
export interface StoredArchive {
  readonly id: number
  readonly memberId: number
  readonly type: string
  /** Relative to the folder of archives. */
  readonly file: string
  /** Size of the file. */
  readonly bytes: number
  /** State of the container's record when it was made; another one says that the home may have changed since. */
  readonly recordState: string
}

/** What the holder of a link may download. */
export interface LinkedArchives {
  readonly memberId: number
  readonly userId: number
  readonly groupName: string
  readonly keepUntil: Date
  readonly downloads: number
  readonly archives: readonly StoredArchive[]
}

/** Stores an archive in place of an earlier one of the home. */
export async function setHomeArchive(
  db: Db,
  archive: Omit<StoredArchive, 'id'> & { readonly now: Date },
): Promise<void> {
  const { memberId, type, file, bytes, recordState, now } = archive
  const change = { file, bytes, record_state: recordState, created_at: now.getTime() }
  await db
    .insertInto('home_archives')
    .values({ member_id: memberId, container_type: type, ...change })
    .onConflict((conflict) => conflict.columns(['member_id', 'container_type']).doUpdateSet(change))
    .execute()
}

/**
 * Notes that a home was written without a start of its container: archives of it are made again before it is removed.
 */
export async function noteHomeWritten(db: Db, userId: number, type: string): Promise<void> {
  await db
    .updateTable('home_archives')
    .set({ record_state: 'written' })
    .where('container_type', '=', type)
    .where('member_id', 'in', (each) => each.selectFrom('term_end_members').select('id').where('user_id', '=', userId))
    .execute()
}

/** The row alone. */
export async function deleteHomeArchive(db: Db, id: number): Promise<void> {
  await db.deleteFrom('home_archives').where('id', '=', id).execute()
}

/** By type. */
export async function listArchivesOf(db: Db, memberId: number): Promise<StoredArchive[]> {
  const rows = await db
    .selectFrom('home_archives')
    .selectAll()
    .where('member_id', '=', memberId)
    .orderBy('container_type')
    .execute()
  return rows.map(fromRow)
}

/** Archives of these members, at most a page of members at a time. */
export async function listArchivesOfAll(db: Db, memberIds: readonly number[]): Promise<StoredArchive[]> {
  if (memberIds.length === 0) return []
  const rows = await db
    .selectFrom('home_archives')
    .selectAll()
    .where('member_id', 'in', memberIds)
    .orderBy('container_type')
    .execute()
  return rows.map(fromRow)
}

/** Files of all archives of an end of term. */
export async function listArchiveFiles(db: Db, termEndId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('home_archives')
    .innerJoin('term_end_members', 'term_end_members.id', 'home_archives.member_id')
    .select('home_archives.file')
    .where('term_end_members.term_end_id', '=', termEndId)
    .execute()
  return rows.map(({ file }) => file)
}

/** Bytes of all archives of an end of term. */
export async function sumArchives(
  db: Db,
  termEndId: number,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const row = await db
    .selectFrom('home_archives')
    .innerJoin('term_end_members', 'term_end_members.id', 'home_archives.member_id')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.sum<number | string | null>('home_archives.bytes').as('bytes'),
    ])
    .where('term_end_members.term_end_id', '=', termEndId)
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), bytes: Number(row.bytes ?? 0) }
}

/** Stores a link before it is mailed; earlier ones stay good. */
export async function insertArchiveLink(db: Db, memberId: number, tokenHash: string, now: Date): Promise<void> {
  await db
    .insertInto('archive_links')
    .values({ member_id: memberId, token_hash: tokenHash, created_at: now.getTime(), accepted_at: null })
    .execute()
}

/** The mail server has accepted its mail. */
export async function noteLinkAccepted(db: Db, tokenHash: string, now: Date): Promise<void> {
  await db
    .updateTable('archive_links')
    .set({ accepted_at: now.getTime() })
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** Whether a mail with a link was accepted for this member. */
export async function hasAcceptedLink(db: Db, memberId: number): Promise<boolean> {
  const row = await db
    .selectFrom('archive_links')
    .select('id')
    .where('member_id', '=', memberId)
    .where('accepted_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The archives of a link that is good at `now`; none while its holder is blocked. */
export async function findLinkedArchives(db: Db, tokenHash: string, now: Date): Promise<LinkedArchives | undefined> {
  const row = await db
    .selectFrom('archive_links')
    .innerJoin('term_end_members', 'term_end_members.id', 'archive_links.member_id')
    .innerJoin('term_ends', 'term_ends.id', 'term_end_members.term_end_id')
    .leftJoin('users', 'users.id', 'term_end_members.user_id')
    .select([
      'term_end_members.id',
      'term_end_members.user_id',
      'term_end_members.downloads',
      'term_ends.group_name',
      'term_ends.keep_until',
    ])
    .where('archive_links.token_hash', '=', tokenHash)
    .where('term_ends.phase', '!=', 'cancelled')
    .where('term_ends.keep_until', '>', now.getTime())
    .where((each) => each.or([each('users.is_blocked', 'is', null), each('users.is_blocked', '=', 0)]))
    .executeTakeFirst()
  if (!row) return undefined
  return {
    memberId: row.id,
    userId: row.user_id,
    groupName: row.group_name,
    keepUntil: new Date(row.keep_until),
    downloads: row.downloads,
    archives: await listArchivesOf(db, row.id),
  }
}

/** Counts a download. @returns false when there were `max` already */
export async function countDownload(db: Db, memberId: number, max: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('term_end_members')
    .set(({ eb }) => ({ downloads: eb('downloads', '+', 1) }))
    .where('id', '=', memberId)
    .where('downloads', '<', max)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

const fromRow = (row: Selectable<HomeArchivesTable>): StoredArchive => ({
  id: row.id,
  memberId: row.member_id,
  type: row.container_type,
  file: row.file,
  bytes: row.bytes,
  recordState: row.record_state,
})
