import type { Selectable } from 'kysely'
import type { Db } from './database.ts'
import type { GroupInvitationsTable } from './schema.ts'
import { findUserByEmail } from './users.ts'
import { findMembership, setMember, type GroupRole } from './group-members.ts'
import { localSource } from './groups.ts'

/** An address that becomes a member when it signs up. */
export interface GroupInvitation {
  readonly groupId: number
  /** Lower-cased. */
  readonly email: string
  readonly role: GroupRole
  /** Address of who invited, or another name. */
  readonly by: string
}

/** An invitation that is not accepted yet. */
export interface StoredInvitation extends GroupInvitation {
  readonly id: number
  readonly createdAt: Date
}

/** Stores an invitation; an earlier one of the address to the group is replaced. */
export async function setGroupInvitation(tx: Db, invitation: GroupInvitation & { readonly now: Date }): Promise<void> {
  const { groupId, email, role, by, now } = invitation
  const change = { role, invited_by: by, created_at: now.getTime() }
  await tx
    .insertInto('group_invitations')
    .values({ group_id: groupId, email, ...change })
    .onConflict((conflict) => conflict.columns(['group_id', 'email']).doUpdateSet(change))
    .execute()
}

/** Gives an invitation that was replaced meanwhile its earlier content; none that was accepted or withdrawn meanwhile. */
export async function restoreGroupInvitation(tx: Db, earlier: StoredInvitation): Promise<void> {
  const { groupId, email, role, by, createdAt } = earlier
  await tx
    .updateTable('group_invitations')
    .set({ role, invited_by: by, created_at: createdAt.getTime() })
    .where('group_id', '=', groupId)
    .where('email', '=', email)
    .execute()
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
 * already stay as they are. An invitation as manager makes a member alone when its author may make no managers any more:
 * one who was removed could otherwise come back by another address. @returns the invitations, which are used up
 */
export async function acceptGroupInvitations(
  tx: Db,
  user: { readonly id: number; readonly email: string },
  now: Date,
): Promise<GroupInvitation[]> {
  const rows = await tx
    .deleteFrom('group_invitations')
    .where('email', '=', user.email)
    .returning(['group_id', 'email', 'role', 'invited_by'])
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
    await setMember(tx, { groupId: row.group_id, userId: user.id, role, source: localSource, now })
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
  createdAt: new Date(row.created_at),
})
