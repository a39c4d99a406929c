import type { ContainerStatus } from '@berth/api/schemas/administration/admin.ts'
import { parseNewEmail } from '#/accounts/sign-up/email-address.ts'
import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { listContainersOfAll, type UserContainer } from '#/store/user-containers.ts'
import type { Database, Tx } from '#/store/database.ts'
import {
  deleteMember,
  findMembership,
  listGroupsOf,
  listMembers,
  setMember,
  type GroupRole,
} from '#/store/group-members.ts'
import { localSource, type Group } from '#/store/groups.ts'
import { pageOf } from '#/store/pagination.ts'
import { findUserByEmail, type User } from '#/store/users.ts'
import { covers } from '#/templates/group-directory.ts'
import type { Addition, InviteToGroup } from './group-invitations.ts'
import { refuseProviderGroup, requireManaged } from './managed-group.ts'

/** A member, with records of the group's types alone: others are not the managers' affair. */
export interface GroupMember {
  readonly user: User
  readonly role: GroupRole
  /** As a manager's list has it. */
  readonly name: string | null
  readonly containers: readonly { readonly record: UserContainer; readonly status: ContainerStatus }[]
}

export interface GroupMembersParts {
  readonly database: Database
  readonly invite: InviteToGroup
  readonly statusOf: (record: UserContainer) => ContainerStatus
  /** Memberships have changed: what an expired group forbids may be others' containers now. */
  readonly onChange: () => void
}

/** What became of addresses; each is in one of the lists. */
export interface AddedMembers {
  readonly added: string[]
  readonly invited: string[]
  readonly refused: string[]
}

interface Page {
  readonly limit: number
  readonly after: number
  /** Only members of whom a container of the group's types is blocked, or none; undefined: all. */
  readonly isBlocked?: boolean | undefined
}

/** Members of a group, for its managers and administrators. */
export class GroupMembers {
  readonly #parts: GroupMembersParts

  constructor(parts: GroupMembersParts) {
    this.#parts = parts
  }

  /** A user's own groups, by name. */
  async groupsOf(userId: number): Promise<(Pick<Group, 'id' | 'name'> & { readonly role: GroupRole })[]> {
    return listGroupsOf(this.#parts.database.db, userId)
  }

  /** A page of members by id; `next` is the id after which the next page begins. @throws {Refusal} 404 · 403 */
  async list(
    actor: Pick<Actor, 'id'>,
    groupId: number,
    { limit, after, isBlocked }: Page,
  ): Promise<{ members: GroupMember[]; next: number | null }> {
    const { database, statusOf } = this.#parts
    const group = await requireManaged(database.db, actor, groupId)
    const filter = isBlocked === undefined ? undefined : { isBlocked, types: group.types }
    const found = await listMembers(database.db, groupId, { limit: limit + 1, after }, filter)
    const { rows, next } = pageOf(found, limit, ({ user }) => user.id)
    const ids = rows.map(({ user }) => user.id)
    const records = (await listContainersOfAll(database.db, ids)).filter(({ type }) => covers(group, type))
    const byOwner = Map.groupBy(records, ({ userId }) => userId)
    const members = rows.map(({ user, role, name }) => ({
      user,
      role,
      name,
      containers: (byOwner.get(user.id) ?? []).map((record) => ({ record, status: statusOf(record) })),
    }))
    return { members, next }
  }

  /**
   * Known users become members at once, or get the role; other addresses are invited, and join when they sign up.
   * @param role undefined: members keep theirs, others become members @param names who is not in it keeps the name
   * @param report called with the cause of each mail that failed @throws {Refusal} 404 · 403 · 409 a provider's group
   */
  async add(
    actor: Actor,
    groupId: number,
    { emails, ...wanted }: Addition,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<AddedMembers> {
    const { database, invite } = this.#parts
    const group = await requireManaged(database.db, actor, groupId)
    refuseProviderGroup(group)
    const { valid, invalid } = readAddresses(emails)
    const known = await this.#known(valid)
    const unknown = valid.filter((email) => !known.some((user) => user.email === email))
    const { invited, signedUp, refused } = await invite.run(actor, group, { emails: unknown, ...wanted }, now, report)
    // Who signed up while the others were invited is known by now.
    const users = [...known, ...(await this.#known(signedUp))]
    await this.#store(actor, groupId, users, wanted, now)
    return { added: users.map(({ email }) => email), invited, refused: [...refused, ...invalid] }
  }

  /** What runs keeps running. @throws {Refusal} 404 no such group or member · 403 · 409 a provider's affair */
  async remove(actor: Actor, groupId: number, userId: number, now: Date): Promise<void> {
    await this.#parts.database.transaction(async (tx) => {
      refuseProviderGroup(await requireManaged(tx, actor, groupId))
      const membership = await findMembership(tx, groupId, userId)
      if (!membership) throw refusals.groupNotFound('member')
      const { role, source } = membership
      if (source !== localSource) throw refusals.conflict(message('groups.providerMembership', { source }))
      await deleteMember(tx, groupId, userId)
      const [target, detail] = [`group:${groupId}`, { user: userId }]
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'group.remove-member', target, detail, before: { role } },
      ])
    })
    this.#parts.onChange()
  }

  /** Accounts that can sign in, or could: they were verified. */
  async #known(emails: readonly string[]): Promise<User[]> {
    const users: User[] = []
    for (const email of emails) {
      const user = await findUserByEmail(this.#parts.database.db, email)
      if (user && (user.state !== 'registered' || user.isBlocked)) users.push(user)
    }
    return users
  }

  async #store(
    actor: Actor,
    groupId: number,
    users: readonly User[],
    { role, names }: Omit<Addition, 'emails'>,
    now: Date,
  ): Promise<void> {
    if (users.length === 0) return
    await this.#parts.database.transaction(async (tx) => {
      await requireManaged(tx, actor, groupId)
      const entries: AuditEntry[] = []
      for (const { id, email } of users)
        entries.push(...(await setRole(tx, actor, { groupId, userId: id, role, name: names?.get(email) }, now)))
      await insertAuditEntries(tx, entries)
    })
    this.#parts.onChange()
  }
}

interface WantedMember {
  readonly groupId: number
  readonly userId: number
  readonly role: GroupRole | undefined
  readonly name: string | null | undefined
}

/**
 * By hand from now on, also when a provider's claim made the membership. @returns the audit entry of a change of rights:
 * what a list calls a member is none
 */
async function setRole(
  tx: Tx,
  actor: Actor,
  { groupId, userId, role, name }: WantedMember,
  now: Date,
): Promise<AuditEntry[]> {
  const before = await findMembership(tx, groupId, userId)
  const next = role ?? before?.role ?? 'member'
  const isSame = before?.role === next && before.source === localSource
  if (isSame && name === undefined) return []
  await setMember(tx, { groupId, userId, role: next, source: localSource, ...(name !== undefined && { name }), now })
  if (isSame) return []
  return [
    {
      at: now,
      actor,
      action: 'group.add-member',
      target: `group:${groupId}`,
      detail: { user: userId },
      before: before ? { role: before.role, source: before.source } : {},
      after: { role: next, source: localSource },
    },
  ]
}

function readAddresses(typed: readonly string[]): { valid: string[]; invalid: string[] } {
  const [valid, invalid] = [new Set<string>(), new Set<string>()]
  for (const text of typed)
    try {
      valid.add(parseNewEmail(text))
    } catch {
      invalid.add(text)
    }
  return { valid: [...valid], invalid: [...invalid] }
}
