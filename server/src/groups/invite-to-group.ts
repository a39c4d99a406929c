import type { Invite, InvitationPurpose } from '#/accounts/sign-up/invitations.ts'
import { maySignUp, type SignUpPolicy } from '#/accounts/sign-up/sign-up-policy.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteGroupInvitation,
  findGroupInvitation,
  restoreGroupInvitation,
  setGroupInvitation,
  type StoredInvitation,
} from '#/store/group-invitations.ts'
import type { GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { findUser, type User } from '#/store/users.ts'
import { requireManaged } from './group-rights.ts'
import type { InvitationLimit } from './invitation-limit.ts'

export interface InviteToGroupParts {
  readonly database: Database
  readonly invite: Invite
  readonly policy: SignUpPolicy
  readonly limit: InvitationLimit
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

  constructor(parts: InviteToGroupParts) {
    this.#parts = parts
  }

  /**
   * For managers who are no administrators the allowed domains hold, and the rate limits of links per address and of
   * invitations per manager.
   * @param emails valid and lower-cased @param role undefined: an invitation that is not accepted yet keeps its role
   * @param report called with the cause of each mail that failed
   * @throws {Refusal} 429 too many invitations of this manager; then none is mailed
   */
  async run(
    actor: Actor,
    group: Pick<Group, 'id' | 'name'>,
    { emails, role }: { readonly emails: readonly string[]; readonly role: GroupRole | undefined },
    now: Date,
    report: (error: unknown) => void,
  ): Promise<Invited> {
    if (emails.length === 0) return { invited: [], signedUp: [], refused: [] }
    const { invite } = this.#parts
    const isAdmin = await this.#isAdmin(actor)
    const allowed = emails.filter((email) => isAdmin || this.#mayBeInvited(email))
    const purpose = purposeOf(actor, group, role, !isAdmin, now)
    const settle = isAdmin || actor.id === null ? undefined : this.#parts.limit.count(actor.id, allowed.length)
    const results = await invite.run(allowed, true, actor, now, report, purpose)
    settle?.(results.filter(({ status }) => status !== 'invited').length)
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
  wanted: GroupRole | undefined,
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
      await setGroupInvitation(tx, { groupId, email: user.email, role, by: actor.email, now })
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
