import type { Actor } from '#/accounts/actor.ts'
import { maySignUp, parseNewEmail, type SignUpPolicy } from '#/accounts/sign-up/email-address.ts'
import type { InvitationPurpose, Invite } from '#/accounts/open-accounts.ts'
import { RecentCounts } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  deleteGroupInvitation,
  findGroupInvitation,
  findGroupInvitationById,
  listGroupInvitations,
  listInvitedAmong,
  listMembersAmong,
  restoreGroupInvitation,
  setGroupInvitation,
  type GroupRole,
  type StoredInvitation,
} from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { pageOf } from '#/store/pagination.ts'
import { findUser, findUsersByEmail, type User } from '#/store/users.ts'
import { refuseProviderGroup, requireManaged } from './managed-group.ts'

/** Max invitations of one manager that are mailed within an hour: one list, or a lecture. */
const maxPerHour = 500

export interface InviteToGroupParts {
  readonly database: Database
  readonly invite: Invite
  readonly policy: SignUpPolicy
}

/** Addresses that are added to a group. */
export interface Addition {
  readonly emails: readonly string[]
  /** Undefined: members, and invitations that are not accepted yet, keep theirs; others become members. */
  readonly role: GroupRole | undefined
  /** Names by lower-cased address, as the list has them; null takes one away. */
  readonly names?: ReadonlyMap<string, string | null>
}

/** What became of addresses without a verified account. */
export interface Invited {
  readonly invited: string[]
  /** Have signed up meanwhile. */
  readonly signedUp: string[]
  readonly refused: string[]
}

/** Invites addresses to an account and to a group by one mail; they join when the address is proved. */
export class InviteToGroup {
  readonly #parts: InviteToGroupParts
  /**
   * Invitations that each manager has mailed: managers need not be trusted as administrators are, and mail servers have a quota,
   * which sign-ins need.
   */
  readonly #mailed = new RecentCounts<number>({ window: 3_600_000, max: maxPerHour })

  constructor(parts: InviteToGroupParts) {
    this.#parts = parts
  }

  /**
   * For managers who are no administrators the allowed domains hold, and the rate limits of links per address and of
   * invitations per manager.
   * @param emails valid and lower-cased
   * @param report called with the cause of each mail that failed
   * @throws {Refusal} 429 too many invitations of this manager; then none is mailed
   */
  async run(
    actor: Actor,
    group: Pick<Group, 'id' | 'name'>,
    { emails, ...wanted }: Addition,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<Invited> {
    if (emails.length === 0) return { invited: [], signedUp: [], refused: [] }
    const { invite } = this.#parts
    const isAdmin = await this.#isAdmin(actor)
    const allowed = emails.filter((email) => isAdmin || this.#mayBeInvited(email))
    const purpose = purposeOf(actor, group, wanted, !isAdmin, now)
    // Before they are sent, so that many requests at once are no way around the limit.
    const counted = isAdmin || actor.id === null ? undefined : this.#mailed.add(actor.id, allowed.length)
    if (counted && counted.wait > 0) throw refusals.tooManyInvitations(maxPerHour, Math.ceil(counted.wait / 1_000))
    const results = await invite.run(allowed, true, actor, now, report, purpose)
    counted?.undo(results.filter(({ status }) => status !== 'invited').length)
    const withStatus = (...wanted: string[]) =>
      results.filter(({ status }) => wanted.includes(status)).map(({ email }) => email)
    return {
      invited: withStatus('invited'),
      signedUp: withStatus('already-registered'),
      refused: [...emails.filter((email) => !allowed.includes(email)), ...withStatus('invalid', 'failed')],
    }
  }

  /** Which valid, lower-cased addresses without an account this actor may invite. */
  async allowed(actor: Pick<Actor, 'id'>): Promise<(email: string) => boolean> {
    const isAdmin = await this.#isAdmin(actor)
    return (email) => isAdmin || this.#mayBeInvited(email)
  }

  /** The operator, who has no account, counts as one. */
  async #isAdmin({ id }: Pick<Actor, 'id'>): Promise<boolean> {
    return id === null || (await findUser(this.#parts.database.db, id))?.isAdmin === true
  }

  /** An invitation is what `SIGN_UP=invited` asks for. */
  #mayBeInvited(email: string): boolean {
    return maySignUp(email, { ...this.#parts.policy, signUp: 'open' })
  }
}

function purposeOf(
  actor: Actor,
  { id: groupId, name }: Pick<Group, 'id' | 'name'>,
  { role: wanted, names }: Omit<Addition, 'emails'>,
  isLimited: boolean,
  now: Date,
): InvitationPurpose {
  /** Invitations that were there before, by address: a mail that fails leaves them as they were. */
  const earlier = new Map<string, StoredInvitation | undefined>()
  const roleOf = ({ email }: User): GroupRole => wanted ?? earlier.get(email)?.role ?? 'member'
  const entryOf = (action: AuditEntry['action'], { id, email }: User, role: GroupRole): AuditEntry => ({
    at: now,
    actor,
    action,
    target: `group:${groupId}`,
    detail: { role, user: id },
    personal: { email },
  })
  return {
    group: name,
    isLimited,
    store: async (tx, user) => {
      await requireManaged(tx, actor, groupId)
      earlier.set(user.email, await findGroupInvitation(tx, groupId, user.email))
      const role = roleOf(user)
      const name = names?.get(user.email)
      const invitation = { groupId, email: user.email, role, by: actor.email, ...(name !== undefined && { name }) }
      await setGroupInvitation(tx, { ...invitation, now })
      return entryOf('group.invite', user, role)
    },
    takeBack: async (tx, user) => {
      const before = earlier.get(user.email)
      // The links of the earlier invitation stay valid, and lead into the group.
      if (before) await restoreGroupInvitation(tx, before)
      else await deleteGroupInvitation(tx, groupId, user.email)
      return entryOf('group.invite-failed', user, roleOf(user))
    },
  }
}

/** What an addition of an address will do. */
export type AdditionEffect = 'join' | 'invite' | 'member' | 'invited' | 'invalid' | 'not_allowed'

export interface PreviewMembersParts {
  readonly database: Database
  readonly invite: Pick<InviteToGroup, 'allowed'>
}

/** Says before an addition what it will do with each address. What it tells of accounts is what the addition tells; it is audited. */
export class PreviewMembers {
  readonly #parts: PreviewMembersParts

  constructor(parts: PreviewMembersParts) {
    this.#parts = parts
  }

  /** In the order of the addresses. @throws {Refusal} 404 · 403 · 409 a provider's group */
  async run(
    actor: Actor,
    groupId: number,
    typed: readonly string[],
    now: Date,
  ): Promise<{ readonly email: string; readonly effect: AdditionEffect }[]> {
    const { database, invite } = this.#parts
    refuseProviderGroup(await requireManaged(database.db, actor, groupId))
    const isAllowed = await invite.allowed(actor)
    const found: { email: string; effect: AdditionEffect }[] = []
    // A list of a course has hundreds: one by one each would be up to three queries, which all other requests wait for.
    for (let at = 0; at < typed.length; at += addressesAtOnce)
      found.push(...(await effectsOf(database.db, groupId, typed.slice(at, at + addressesAtOnce), isAllowed)))
    const [target, detail] = [`group:${groupId}`, { addresses: typed.length }]
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at: now, actor, action: 'group.preview-members', target, detail }]),
    )
    return found
  }
}

/** Addresses that are looked up together. */
const addressesAtOnce = 100

async function effectsOf(
  db: Db,
  groupId: number,
  typed: readonly string[],
  isAllowed: (email: string) => boolean,
): Promise<{ email: string; effect: AdditionEffect }[]> {
  const read = typed.map(readAddress)
  const emails = read.filter((email) => email !== undefined)
  const users = await findUsersByEmail(db, emails)
  const byEmail = new Map(users.map((user) => [user.email, user]))
  const ids = users.map(({ id }) => id)
  const [members, invited] = [await listMembersAmong(db, groupId, ids), await listInvitedAmong(db, groupId, emails)]
  const effectOf = (email: string | undefined): AdditionEffect => {
    if (email === undefined) return 'invalid'
    const user = byEmail.get(email)
    if (user && (user.state !== 'registered' || user.isBlocked)) return members.has(user.id) ? 'member' : 'join'
    if (!isAllowed(email)) return 'not_allowed'
    return invited.has(email) ? 'invited' : 'invite'
  }
  return typed.map((email, index) => ({ email, effect: effectOf(read[index]) }))
}

function readAddress(typed: string): string | undefined {
  try {
    return parseNewEmail(typed)
  } catch {
    return undefined
  }
}

/** How long an invitation to a group waits for its address to sign up, in ms. */
export const invitationLifetime = 90 * 24 * 3_600_000

export interface PendingInvitation extends StoredInvitation {
  readonly expiresAt: Date
}

/** Invitations to a group that are not accepted yet. */
export class PendingInvitations {
  readonly #database: Database
  readonly #invite: InviteToGroup

  constructor(database: Database, invite: InviteToGroup) {
    this.#database = database
    this.#invite = invite
  }

  /** A page, oldest first; `next` is the id after which the next page begins. @throws {Refusal} 404 · 403 */
  async list(
    actor: Pick<Actor, 'id'>,
    groupId: number,
    { limit, after }: { readonly limit: number; readonly after: number },
  ): Promise<{ invitations: PendingInvitation[]; next: number | null }> {
    const { db } = this.#database
    await requireManaged(db, actor, groupId)
    const found = await listGroupInvitations(db, groupId, { limit: limit + 1, after })
    const { rows, next } = pageOf(found, limit, ({ id }) => id)
    const invitations = rows.map((each) => ({
      ...each,
      expiresAt: new Date(each.createdAt.getTime() + invitationLifetime),
    }))
    return { invitations, next }
  }

  /** The account that was made stays, without the group. @throws {Refusal} 404 no such group or invitation · 403 · 409 a provider's group */
  async withdraw(actor: Actor, groupId: number, id: number, now: Date): Promise<void> {
    await this.#database.transaction(async (tx) => {
      refuseProviderGroup(await requireManaged(tx, actor, groupId))
      const invitation = await findGroupInvitationById(tx, groupId, id)
      if (!invitation) throw refusals.groupNotFound('invitation')
      const { email, role } = invitation
      await deleteGroupInvitation(tx, groupId, email)
      const entry = { target: `group:${groupId}`, detail: { role }, personal: { email } }
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.withdraw-invitation', ...entry }])
    })
  }

  /**
   * Mails it again; it counts from now on, when the mail is accepted. @param report called with the cause when the mail failed
   * @throws {Refusal} 404 · 403 · 409 a provider's group · 500 the mail was not accepted, or the address had too many
   */
  async resend(
    actor: Actor,
    groupId: number,
    id: number,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<string> {
    const group = await requireManaged(this.#database.db, actor, groupId)
    refuseProviderGroup(group)
    const invitation = await findGroupInvitationById(this.#database.db, groupId, id)
    if (!invitation) throw refusals.groupNotFound('invitation')
    const { email, role } = invitation
    const { invited } = await this.#invite.run(actor, group, { emails: [email], role }, now, report)
    if (invited.includes(email)) return email
    throw refusals.invitationNotMailed()
  }
}
