import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import { localSource, type Group } from './groups.ts'
import type { GroupInvitationsTable, GroupMembersTable } from './schema.ts'
import { findUserByEmail, fromRow, type User } from './users.ts'

/** `manager`: may manage members, and their containers of the group's types. */
export type GroupRole = GroupMembersTable['role']

export interface Membership {
  readonly groupId: number
  readonly userId: number
  readonly role: GroupRole
  /** `local`, or the id of the provider whose claim made it. */
  readonly source: string
  /** As a manager's list has it; null: none had one. Left out, a change keeps it. */
  readonly name?: string | null
}

/** Adds a member, or changes role and source of one, and the name where one is given. @throws when user or group is gone */
export async function setMember(
  tx: Db,
  { groupId, userId, role, source, name, now }: Membership & { readonly now: Date },
): Promise<void> {
  const change = { role, source, ...(name !== undefined && { name }) }
  await tx
    .insertInto('group_members')
    .values({ group_id: groupId, user_id: userId, created_at: now.getTime(), ...change })
    .onConflict((conflict) => conflict.columns(['group_id', 'user_id']).doUpdateSet(change))
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

/** Which of these users are members of the group; at most a page of them at a time. */
export async function listMembersAmong(db: Db, groupId: number, userIds: readonly number[]): Promise<Set<number>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('group_members')
    .select('user_id')
    .where('group_id', '=', groupId)
    .where('user_id', 'in', userIds)
    .execute()
  return new Set(rows.map((row) => row.user_id))
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
): Promise<(Pick<Membership, 'role'> & { readonly user: User; readonly name: string | null })[]> {
  let members = memberPage(db, groupId, page)
  if (filter)
    members = members.where('group_members.user_id', filter.isBlocked ? 'in' : 'not in', blockedUsers(db, filter))
  const rows = await members
    .innerJoin('users', 'users.id', 'group_members.user_id')
    .selectAll('users')
    .select(['group_members.role', 'group_members.name'])
    .execute()
  return rows.map((row) => ({ user: fromRow(row), role: row.role, name: row.name }))
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

const selectMemberships = (db: Db) =>
  db.selectFrom('group_members').select(['group_id', 'user_id', 'role', 'source', 'name'])

type MembershipRow = Pick<Selectable<GroupMembersTable>, 'group_id' | 'user_id' | 'role' | 'source' | 'name'>

const toMembership = (row: MembershipRow): Membership => ({
  groupId: row.group_id,
  userId: row.user_id,
  role: row.role,
  source: row.source,
  name: row.name,
})

/** An address that becomes a member when it signs up. */
export interface GroupInvitation {
  readonly groupId: number
  /** Lower-cased. */
  readonly email: string
  readonly role: GroupRole
  /** Address of who invited, or another name. */
  readonly by: string
  /** Of who is invited, as the list has it; null: it had none. Left out, an earlier invitation keeps it. */
  readonly name?: string | null
}

/** An invitation that is not accepted yet. */
export interface StoredInvitation extends GroupInvitation {
  readonly id: number
  readonly createdAt: Date
}

/** Stores an invitation; an earlier one of the address to the group is replaced, but for its name when none is given. */
export async function setGroupInvitation(tx: Db, invitation: GroupInvitation & { readonly now: Date }): Promise<void> {
  const { groupId, email, role, by, name, now } = invitation
  const change = { role, invited_by: by, created_at: now.getTime(), ...(name !== undefined && { name }) }
  await tx
    .insertInto('group_invitations')
    .values({ group_id: groupId, email, ...change })
    .onConflict((conflict) => conflict.columns(['group_id', 'email']).doUpdateSet(change))
    .execute()
}

/**
 * Gives an invitation that was replaced meanwhile its earlier content; none that was accepted or withdrawn meanwhile.
 */
export async function restoreGroupInvitation(tx: Db, earlier: StoredInvitation): Promise<void> {
  const { groupId, email, role, by, name, createdAt } = earlier
  await tx
    .updateTable('group_invitations')
    .set({ role, invited_by: by, name: name ?? null, created_at: createdAt.getTime() })
    .where('group_id', '=', groupId)
    .where('email', '=', email)
    .execute()
}

/** Which of these addresses are invited to the group; at most a page of them at a time. */
export async function listInvitedAmong(db: Db, groupId: number, emails: readonly string[]): Promise<Set<string>> {
  if (emails.length === 0) return new Set()
  const rows = await selectInvitations(db, groupId).where('email', 'in', emails).execute()
  return new Set(rows.map((row) => row.email))
}

export async function findGroupInvitation(
  db: Db,
  groupId: number,
  email: string,
): Promise<StoredInvitation | undefined> {
  const row = await selectInvitations(db, groupId).where('email', '=', email).executeTakeFirst()
  return row && toInvitation(row)
}

export async function findGroupInvitationById(
  db: Db,
  groupId: number,
  id: number,
): Promise<StoredInvitation | undefined> {
  const row = await selectInvitations(db, groupId).where('id', '=', id).executeTakeFirst()
  return row && toInvitation(row)
}

/** A page of a group's invitations, oldest first. @param page `after`: id of the last one of the page before */
export async function listGroupInvitations(
  db: Db,
  groupId: number,
  page: { readonly limit: number; readonly after: number },
): Promise<StoredInvitation[]> {
  const rows = await selectInvitations(db, groupId)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute()
  return rows.map(toInvitation)
}

/** Deletes all invitations of a user who is deleted, and the address from those that the user made. */
export async function forgetInGroupInvitations(
  tx: Db,
  { id, email }: { readonly id: number; readonly email: string },
): Promise<void> {
  await tx.deleteFrom('group_invitations').where('email', '=', email).execute()
  await tx
    .updateTable('group_invitations')
    .set({ invited_by: `user:${id}` })
    .where('invited_by', '=', email)
    .execute()
}

/** Takes an invitation back, e.g. because its mail was not accepted. */
export async function deleteGroupInvitation(tx: Db, groupId: number, email: string): Promise<void> {
  await tx.deleteFrom('group_invitations').where('group_id', '=', groupId).where('email', '=', email).execute()
}

/**
 * Makes a user who has proved an address a member of the groups to which it was invited. Groups that the user is in
 * already stay as they are. An invitation as manager makes a member alone when its author may make no managers any
 * more: one who was removed could otherwise come back by another address.
 * @returns the invitations, which are used up
 */
export async function acceptGroupInvitations(
  tx: Db,
  user: { readonly id: number; readonly email: string },
  now: Date,
): Promise<GroupInvitation[]> {
  const rows = await tx
    .deleteFrom('group_invitations')
    .where('email', '=', user.email)
    .returning(['group_id', 'email', 'role', 'invited_by', 'name'])
    .execute()
  if (rows.length === 0) return []
  const joined = new Set(
    (await tx.selectFrom('group_members').select('group_id').where('user_id', '=', user.id).execute()).map(
      (row) => row.group_id,
    ),
  )
  const accepted = rows.filter((row) => !joined.has(row.group_id))
  const joining: GroupInvitation[] = []
  for (const row of accepted) {
    const role =
      row.role === 'member' || (await mayMakeManagers(tx, row.invited_by, row.group_id)) ? row.role : 'member'
    const { group_id: groupId, name } = row
    await setMember(tx, { groupId, userId: user.id, role, source: localSource, name, now })
    joining.push({ groupId: row.group_id, email: row.email, role, by: row.invited_by })
  }
  return joining
}

/** Names of the operator; an address begins with no word and a space, but the name of a login may have an `@`. */
const operatorName = /^operator(?: |$)/

/** @param by as stored: an address, `user:` and the id of a deleted account, or the name of the operator */
async function mayMakeManagers(db: Db, by: string, groupId: number): Promise<boolean> {
  if (operatorName.test(by)) return true
  const author = await findUserByEmail(db, by)
  if (!author || author.isBlocked) return false
  return author.isAdmin || (await findMembership(db, groupId, author.id))?.role === 'manager'
}

/** Forgets invitations that were not accepted for this long: addresses of people who never signed up are not kept. */
export async function deleteGroupInvitations(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('group_invitations').where('created_at', '<', before.getTime()).execute()
}

const selectInvitations = (db: Db, groupId: number) =>
  db.selectFrom('group_invitations').selectAll().where('group_id', '=', groupId)

const toInvitation = (row: Selectable<GroupInvitationsTable>): StoredInvitation => ({
  id: row.id,
  groupId: row.group_id,
  email: row.email,
  role: row.role,
  by: row.invited_by,
  name: row.name,
  createdAt: new Date(row.created_at),
})
