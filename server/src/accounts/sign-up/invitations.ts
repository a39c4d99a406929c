import type { Language } from '@berth/api/boot.ts'
import type { Occasion } from '#/accounts/mail/link-email.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { acceptGroupInvitations } from '#/store/group-members.ts'
import { findUser, findUserByEmail, isActiveAdministrator, type User } from '#/store/users.ts'
import { parseNewEmail } from './email-address.ts'
import type { LinkLimits } from './link-limits.ts'
import type { IssuedLink, MagicLinks } from './magic-link.ts'
import { deleteNewAccount, type Registration } from './registration.ts'

/** Max parallel mails of all invitations together: sign-ins share the mail server with them. */
const maxParallel = 4
/** Timeout of one list, in ms; addresses that are left are reported as not invited, and can be invited again. */
const batchTimeout = 40_000
/** Timeout of an invitation that waits for other work on the address, and for a first user's mail, in ms. */
const mutexTimeout = 20_000

/** The inviting administrator, for the mail and the audit log; `id` is null for the operator. */
export interface Inviter {
  readonly id: number | null
  readonly email: string
  readonly address: string
  /** Language of the mails. */
  readonly language: Language
}

/** What an invitation is for beside the account, e.g. a group; then others than administrators may invite, too. */
export interface InvitationPurpose {
  /** For the mail. */
  readonly group: string
  /** Whether the links count for the rate limit of their addresses. */
  readonly isLimited: boolean
  /**
   * In the transaction that stores the link.
   * @returns the audit entry
   * @throws {Refusal} when the inviter may not, any more
   */
  readonly store: (tx: Tx, user: User) => Promise<AuditEntry>
  /** In the transaction that takes it back, because the mail was not accepted. @returns the audit entry */
  readonly takeBack: (tx: Db, user: User) => Promise<AuditEntry>
}

/** Result for one address; with `link` when the mail is not sent by Berth. */
export interface Invitation {
  readonly email: string
  readonly status: 'invited' | 'already-registered' | 'invalid' | 'failed'
  readonly link?: string
}

/** One list of addresses. */
interface Batch {
  readonly inviter: Inviter
  readonly isMailed: boolean
  readonly now: Date
  /** By `performance.now()`. */
  readonly deadline: number
  readonly report: (error: unknown) => void
  readonly purpose: InvitationPurpose | undefined
}

interface Invited {
  readonly user: User
  readonly link: IssuedLink
}

export interface InviteParts {
  readonly database: Database
  readonly links: MagicLinks
  readonly registration: Registration
  readonly limits: LinkLimits
  /** Lifetime of an invitation's link, in seconds. */
  readonly invitationExpiry: number
}

/** Invitations (`POST /api/admin/invitations`): accounts for users who cannot, or need not, sign up by themselves. */
export class Invite {
  readonly #parts: InviteParts
  readonly #concurrency = new KeyedMutex()

  constructor(parts: InviteParts) {
    this.#parts = parts
  }

  /**
   * Registers each unknown address, as sign-up would, and mails it a link with a long lifetime; unverified accounts are
   * invited again. Rate limits and the sign-up policy do not apply, because an administrator decided. After a mail that
   * was not accepted nothing is stored.
   * @param typed     input; duplicates count once
   * @param isMailed  false: the links are returned instead of mailed
   * @param report    called with the cause of each failure
   * @param purpose   what else is stored with each link
   */
  async run(
    typed: readonly string[],
    isMailed: boolean,
    inviter: Inviter,
    now: Date,
    report: (error: unknown) => void,
    purpose?: InvitationPurpose,
  ): Promise<Invitation[]> {
    const batch = { inviter, isMailed, now, deadline: performance.now() + batchTimeout, report, purpose }
    const read = typed.map((text) => ({ text, email: readAddress(text) }))
    const valid = new Set(read.flatMap(({ email }) => email ?? []))
    const invalid = new Set(read.flatMap(({ text, email }) => (email === null ? [text] : [])))
    const invited = [...valid].map((email, index) =>
      this.#concurrency.run(String(index % maxParallel), () => this.#inviteBeforeDeadline(email, batch)),
    )
    const refused = [...invalid].map((email): Invitation => ({ email, status: 'invalid' }))
    return [...(await Promise.all(invited)), ...refused]
  }

  async #inviteBeforeDeadline(email: string, batch: Batch): Promise<Invitation> {
    if (performance.now() > batch.deadline) return { email, status: 'failed' }
    try {
      const { registration } = this.#parts
      return await registration.runExclusive(email, mutexTimeout, (deadline) => this.#invite(email, batch, deadline))
    } catch (error) {
      // A limit that is reached is no fault.
      if (!(error instanceof Refusal) || error.status !== 429)
        batch.report(error instanceof Refusal ? (error.cause ?? error) : error)
      return { email, status: 'failed' }
    }
  }

  async #invite(email: string, batch: Batch, deadline: number): Promise<Invitation> {
    const user = await findUserByEmail(this.#parts.database.db, email)
    if (user && (user.state !== 'registered' || user.isBlocked)) return { email, status: 'already-registered' }
    const { link } = user ? await this.#again(user, batch) : await this.#register(email, batch, deadline)
    return { email, status: 'invited', ...(batch.isMailed ? {} : { link: this.#parts.links.urlOf(link) }) }
  }

  async #register(email: string, batch: Batch, deadline: number): Promise<Invited> {
    return this.#parts.registration.register({
      email,
      now: batch.now,
      deadline,
      store: async (tx, addUser) => this.#issue(tx, await addUser(), batch),
      deliver: (invited) => this.#deliver(invited, batch, (tx) => deleteNewAccount(tx, invited.user)),
    })
  }

  /** Their earlier links stay valid; those that were not mailed until the account is verified. */
  async #again(user: User, batch: Batch): Promise<Invited> {
    const invited = await this.#parts.database.transaction((tx) => this.#issue(tx, user, batch))
    await this.#deliver(invited, batch, async () => undefined)
    return invited
  }

  async #issue(tx: Tx, user: User, { inviter, isMailed, now, purpose }: Batch): Promise<Invited> {
    if (!purpose) await requireAdministrator(tx, inviter)
    const stored = await purpose?.store(tx, user)
    const { links, limits, invitationExpiry: expiry } = this.#parts
    const reservation = purpose?.isLimited ? await limits.reserve(tx, user.email, now) : null
    const occasion = occasionOf(inviter, purpose)
    const link = await links.issue(tx, user, { purpose: 'signup', occasion, reservation, expiry, isMailed }, now)
    await insertAuditEntries(tx, [stored ?? entry('user.invite', user, inviter, now, { is_mailed: isMailed })])
    return { user, link }
  }

  async #deliver({ user, link }: Invited, batch: Batch, takeBack: (tx: Db) => Promise<void>): Promise<void> {
    if (!batch.isMailed) return
    await this.#parts.links.mail(user, link, async (tx) => {
      const takenBack = await batch.purpose?.takeBack(tx, user)
      await takeBack(tx)
      await insertAuditEntries(tx, [takenBack ?? entry('user.invite-failed', user, batch.inviter, batch.now, {})])
    })
  }
}

const occasionOf = ({ id, email, address, language }: Inviter, purpose: InvitationPurpose | undefined): Occasion => ({
  kind: 'invited',
  address,
  language,
  by: id === null ? null : email,
  ...(purpose && { group: purpose.group }),
})

const entry = (
  action: AuditEntry['action'],
  user: User,
  actor: Inviter,
  at: Date,
  detail: Record<string, unknown>,
): AuditEntry => ({
  at,
  actor,
  action,
  target: `user:${user.id}`,
  detail,
  personal: { email: user.email },
})

/** @returns null when mail cannot be sent to it */
function readAddress(typed: string): string | null {
  try {
    return parseNewEmail(typed)
  } catch {
    return null
  }
}

/**
 * A list takes time: an administrator who is blocked or demoted meanwhile invites no further users. @throws {Refusal}
 * 403
 */
async function requireAdministrator(db: Db, { id }: Inviter): Promise<void> {
  if (id === null) return
  if (!isActiveAdministrator(await findUser(db, id))) throw refusals.notAdministrator()
}

/**
 * Makes a user who has just proved the address a member of the groups that it was invited to.
 * @param origin of the request, for the audit log @returns audit entries, to be written last in the transaction
 */
export async function joinInvitingGroups(tx: Tx, user: User, origin: string, now: Date): Promise<AuditEntry[]> {
  const accepted = await acceptGroupInvitations(tx, user, now)
  return accepted.map(({ groupId, role, by }) => ({
    at: now,
    actor: { id: user.id, email: user.email, address: origin },
    action: 'group.join',
    target: `group:${groupId}`,
    detail: { user: user.id, role },
    personal: { invited_by: by },
  }))
}
