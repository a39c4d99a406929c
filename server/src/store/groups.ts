import { sql, type Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { GroupFolder } from './group-folders.ts'
import type { UserGroupsTable } from './schema.ts'

/** Source of groups and memberships that are made in Berth; any other source is the id of a provider. */
export const localSource = 'local'

/** What each member may use at the same time in types of the group; null is no limit. */
export interface GroupLimits {
  /** Running or paused containers. */
  readonly running: number | null
  /** Bytes of memory of these containers together. */
  readonly memory: number | null
  /** Cores of these containers together. */
  readonly cpus: number | null
  /** GPUs of these containers together. */
  readonly gpus: number | null
  /** Bytes of homes, whether their containers run or not. */
  readonly disk: number | null
}

/** What an administrator sets. */
export interface GroupFields {
  /** Unique. */
  readonly name: string
  readonly description: string
  /** What limits, expiry, stops and blocks act on; null: every type. */
  readonly types: readonly string[] | null
  readonly limits: GroupLimits
  readonly expiresAt: Date | null
}

/** A class, team or course. */
export interface Group extends GroupFields {
  readonly id: number
  /** `local`, or the id of the provider whose affair its members are. */
  readonly source: string
  readonly createdAt: Date
  /** Hours; see `setTimetable`. */
  readonly timetable: Timetable | null
  /** See `setGroupFolder`. */
  readonly folder: GroupFolder | null
}

export type CountedGroup = Group & { readonly memberCount: number }

/** @returns undefined when there is a group of this name */
export async function insertGroup(
  tx: Db,
  fields: GroupFields & { readonly source: string; readonly createdAt: Date },
): Promise<Group | undefined> {
  const row = await tx
    .insertInto('user_groups')
    .values({ ...toRow(fields), source: fields.source, created_at: fields.createdAt.getTime() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow({ ...row, ...noFolder })
}

/** Call it in a transaction that holds `database.lock(tx, 'groups')`, after a query for another group of the name. */
export async function updateGroup(tx: Db, id: number, fields: GroupFields): Promise<void> {
  await tx.updateTable('user_groups').set(toRow(fields)).where('id', '=', id).execute()
}

/** Its types stop and refuse to launch from then on; null: never. */
export async function setGroupEnd(tx: Db, id: number, at: Date | null): Promise<void> {
  await tx
    .updateTable('user_groups')
    .set({ expires_at: at?.getTime() ?? null })
    .where('id', '=', id)
    .execute()
}

/** With its memberships and invitations. */
export async function deleteGroup(tx: Db, id: number): Promise<void> {
  await tx.deleteFrom('user_groups').where('id', '=', id).execute()
}

export async function findGroup(db: Db, id: number): Promise<CountedGroup | undefined> {
  const row = await selectCounted(db).where('user_groups.id', '=', id).executeTakeFirst()
  return row && countedFromRow(row)
}

export async function countGroupsOf(db: Db, source: string): Promise<number> {
  const { groups } = await db
    .selectFrom('user_groups')
    .select(({ fn }) => fn.countAll<number | string>().as('groups'))
    .where('source', '=', source)
    .executeTakeFirstOrThrow()
  return Number(groups)
}

export async function findGroupByName(db: Db, name: string): Promise<Group | undefined> {
  const row = await selectGroups(db).where('user_groups.name', '=', name).executeTakeFirst()
  return row && fromRow(row)
}

/** The group whose join code has this hash, and is good at `now`. */
export async function findGroupByJoinCode(db: Db, hash: string, now: Date): Promise<CountedGroup | undefined> {
  const row = await selectCounted(db)
    .where('join_code_hash', '=', hash)
    .where('join_code_expires_at', '>', now.getTime())
    .executeTakeFirst()
  return row && countedFromRow(row)
}

/** Hash and end of the join code of a group that is good at `now`. */
export async function findJoinCode(
  db: Db,
  id: number,
  now: Date,
): Promise<{ readonly hash: string; readonly expiresAt: Date } | undefined> {
  const row = await db
    .selectFrom('user_groups')
    .select(['join_code_hash', 'join_code_expires_at'])
    .where('id', '=', id)
    .where('join_code_expires_at', '>', now.getTime())
    .executeTakeFirst()
  const { join_code_hash: hash, join_code_expires_at: expiresAt } = row ?? {}
  return hash && expiresAt ? { hash, expiresAt: new Date(expiresAt) } : undefined
}

/** Replaces the join code of a group; null removes it. */
export async function setJoinCode(
  tx: Db,
  id: number,
  code: { readonly hash: string; readonly expiresAt: Date } | null,
): Promise<void> {
  const change = { join_code_hash: code?.hash ?? null, join_code_expires_at: code?.expiresAt.getTime() ?? null }
  await tx.updateTable('user_groups').set(change).where('id', '=', id).execute()
}

/** A page by id. @param page `after`: id of the last row of the page before @param q part of the name, ignoring case */
export async function listGroups(
  db: Db,
  page: { readonly limit: number; readonly after: number },
  q = '',
): Promise<CountedGroup[]> {
  let query = selectCounted(db).where('user_groups.id', '>', page.after).orderBy('user_groups.id').limit(page.limit)
  if (q !== '') {
    const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
    query = query.where(sql<boolean>`lower(user_groups.name) like ${pattern} escape '\\'`)
  }
  return (await query.execute()).map(countedFromRow)
}

/** All groups: what is known of them at each launch is kept in memory. */
export async function listAllGroups(db: Db): Promise<Group[]> {
  return (await selectGroups(db).orderBy('user_groups.id').execute()).map(fromRow)
}

const selectGroups = (db: Db) =>
  db
    .selectFrom('user_groups')
    .leftJoin('group_folders', 'group_folders.group_id', 'user_groups.id')
    .selectAll('user_groups')
    .select([
      'group_folders.name as folder_name',
      'group_folders.members as folder_members',
      'group_folders.volume as folder_volume',
    ])

const selectCounted = (db: Db) =>
  selectGroups(db).select((each) =>
    each
      .selectFrom('group_members')
      .whereRef('group_members.group_id', '=', 'user_groups.id')
      .select(({ fn }) => fn.countAll<number | string>().as('count'))
      .as('member_count'),
  )

/** A group with the folder that it has, or had: then without a name. */
type GroupRow = Selectable<UserGroupsTable> & {
  readonly folder_name: string | null
  readonly folder_members: GroupFolder['members'] | null
  readonly folder_volume: string | null
}

const noFolder = { folder_name: null, folder_members: null, folder_volume: null }

function toRow({ name, description, types, limits, expiresAt }: GroupFields) {
  return {
    name,
    description,
    types: types && JSON.stringify(types),
    max_running: limits.running,
    max_memory: limits.memory,
    max_cpus: limits.cpus,
    max_gpus: limits.gpus,
    max_disk: limits.disk,
    expires_at: expiresAt?.getTime() ?? null,
  }
}

const countedFromRow = (row: GroupRow & { member_count: number | string | null }): CountedGroup => ({
  ...fromRow(row),
  memberCount: Number(row.member_count),
})

function fromRow(row: GroupRow): Group {
  const { folder_name: name, folder_members: members, folder_volume: volume } = row
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    source: row.source,
    types: coverageOf(row.types),
    limits: {
      running: row.max_running,
      memory: row.max_memory,
      cpus: row.max_cpus,
      gpus: row.max_gpus,
      disk: row.max_disk,
    },
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    createdAt: new Date(row.created_at),
    timetable: row.timetable === null ? null : (JSON.parse(row.timetable) as Timetable),
    folder: name !== null && members && volume !== null ? { name, members, volume } : null,
  }
}

/** Types of a group as its row has them; null: every type. */
export const coverageOf = (text: string | null): string[] | null =>
  text === null ? null : (JSON.parse(text) as string[])

/** Names of these groups by id, as far as they exist. */
export async function listGroupNames(db: Db, ids: readonly number[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {}
  const rows = await db.selectFrom('user_groups').select(['id', 'name']).where('id', 'in', ids).execute()
  return Object.fromEntries(rows.map(({ id, name }) => [String(id), name]))
}

/** When containers of a type are needed. */
export interface LessonTime {
  /** Minutes since midnight. */
  readonly minutes: number
  readonly type: string
}

/** Every week. */
export interface Lesson extends LessonTime {
  /** 1 is Monday, 7 Sunday. Source: ISO 8601. */
  readonly days: readonly number[]
}

/** A day on which other times hold. */
export interface TimetableException {
  /** Date such as `2026-12-24`. */
  readonly date: string
  /** In place of those of the week; none: no lesson. */
  readonly lessons: readonly LessonTime[]
  /** Whether containers are stopped at `stopAt` of this day. */
  readonly stops: boolean
}

/** Hours of a group. */
export interface Timetable {
  /** Name of a time zone of IANA. */
  readonly timeZone: string
  readonly lessons: readonly Lesson[]
  /** Minutes since midnight at which containers of the group's types stop; null: they do not. */
  readonly stopAt: number | null
  readonly exceptions: readonly TimetableException[]
}

/** Replaces the hours of a group; null removes them. */
export async function setTimetable(tx: Db, groupId: number, timetable: Timetable | null): Promise<void> {
  const text = timetable && JSON.stringify(timetable)
  await tx.updateTable('user_groups').set({ timetable: text }).where('id', '=', groupId).execute()
}
