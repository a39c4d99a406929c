import type { Db } from './database.ts'
import type { GroupMembersTable } from './schema.ts'
import { fromRow, type User } from './users.ts'
import type { Group } from './groups.ts'

/** `manager`: may manage members, and their containers of the group's types. */
export type GroupRole = GroupMembersTable['role']

export interface Membership {
  readonly groupId: number
  readonly userId: number
  readonly role: GroupRole
  /** `local`, or the id of the provider whose claim made it. */
  readonly source: string
}

/** Adds a member, or changes role and source of one. @throws when user or group is gone */
export async function setMember(
  tx: Db,
  { groupId, userId, role, source, now }: Membership & { readonly now: Date },
): Promise<void> {
  await tx
    .insertInto('group_members')
    .values({ group_id: groupId, user_id: userId, role, source, created_at: now.getTime() })
    .onConflict((conflict) => conflict.columns(['group_id', 'user_id']).doUpdateSet({ role, source }))
    .execute()
}

/** @returns false when there was no such member */
export async function deleteMember(tx: Db, groupId: number, userId: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('group_members')
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0
}

export async function findMembership(db: Db, groupId: number, userId: number): Promise<Membership | undefined> {
  const row = await selectMemberships(db)
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && toMembership(row)
}

/** All memberships of a user, oldest first. */
export async function listMembershipsOf(db: Db, userId: number): Promise<Membership[]> {
  return (await selectMemberships(db).where('user_id', '=', userId).orderBy('id').execute()).map(toMembership)
}

/** Ids of the groups of a user: one look-up in an index. */
export async function listGroupIdsOf(db: Db, userId: number): Promise<number[]> {
  const rows = await db.selectFrom('group_members').select('group_id').where('user_id', '=', userId).execute()
  return rows.map((row) => row.group_id)
}

/** Ids of the groups of each of these users; at most a page of users at a time. */
export async function listGroupIdsOfAll(db: Db, userIds: readonly number[]): Promise<Map<number, number[]>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('group_members')
    .select(['user_id', 'group_id'])
    .where('user_id', 'in', userIds)
    .execute()
  const byUser = Map.groupBy(rows, (row) => row.user_id)
  return new Map([...byUser].map(([userId, own]) => [userId, own.map((row) => row.group_id)]))
}

/** The groups of a user with the user's role in each, by name. */
export async function listGroupsOf(
  db: Db,
  userId: number,
): Promise<(Pick<Group, 'id' | 'name'> & { readonly role: GroupRole })[]> {
  const rows = await db
    .selectFrom('group_members')
    .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
    .select(['user_groups.id', 'user_groups.name', 'group_members.role'])
    .where('group_members.user_id', '=', userId)
    .orderBy('user_groups.name')
    .execute()
  return rows.map(({ id, name, role }) => ({ id, name, role }))
}

/** Members of a group by their ids as users. */
export interface MemberPage {
  readonly limit: number
  /** Id of the last user of the page before. */
  readonly after: number
}

const memberPage = (db: Db, groupId: number, { limit, after }: MemberPage) =>
  db
    .selectFrom('group_members')
    .where('group_members.group_id', '=', groupId)
    .where('group_members.user_id', '>', after)
    .orderBy('group_members.user_id')
    .limit(limit)

/** Members of whom a container is blocked, or none. */
export interface BlockedFilter {
  readonly isBlocked: boolean
  /** Which containers count; null: of every type. */
  readonly types: readonly string[] | null
}

/** A page of members. @param filter undefined: all */
export async function listMembers(
  db: Db,
  groupId: number,
  page: MemberPage,
  filter?: BlockedFilter,
): Promise<{ readonly user: User; readonly role: GroupRole }[]> {
  let members = memberPage(db, groupId, page)
  if (filter)
    members = members.where('group_members.user_id', filter.isBlocked ? 'in' : 'not in', blockedUsers(db, filter))
  const rows = await members
    .innerJoin('users', 'users.id', 'group_members.user_id')
    .selectAll('users')
    .select('group_members.role')
    .execute()
  return rows.map((row) => ({ user: fromRow(row), role: row.role }))
}

function blockedUsers(db: Db, { types }: BlockedFilter) {
  const blocked = db.selectFrom('user_containers').select('user_id').where('is_blocked', '=', 1)
  if (types === null) return blocked
  return blocked.where((field) => (types.length === 0 ? field.lit(false) : field('container_type', 'in', types)))
}

/** A page of the ids of members, ascending. */
export async function listMemberIds(db: Db, groupId: number, page: MemberPage): Promise<number[]> {
  const rows = await memberPage(db, groupId, page).select('user_id').execute()
  return rows.map((row) => row.user_id)
}

/** A page of members with their roles, by their ids as users. */
export async function listMemberRoles(
  db: Db,
  groupId: number,
  page: MemberPage,
): Promise<{ readonly userId: number; readonly role: GroupRole }[]> {
  const rows = await memberPage(db, groupId, page).select(['user_id', 'role']).execute()
  return rows.map((row) => ({ userId: row.user_id, role: row.role }))
}

const selectMemberships = (db: Db) => db.selectFrom('group_members').select(['group_id', 'user_id', 'role', 'source'])

const toMembership = (row: Pick<GroupMembersTable, 'group_id' | 'user_id' | 'role' | 'source'>): Membership => ({
  groupId: row.group_id,
  userId: row.user_id,
  role: row.role,
  source: row.source,
})
