import { maySignUp, type SignUpPolicy } from '#/accounts/sign-up/email-address.ts'
import { joinInvitingGroups } from '#/accounts/sign-up/invitations.ts'
import type { Registration } from '#/accounts/sign-up/registration.ts'
import { insertAuditEntries, listAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { findSubjectOf, findUserByIdentity, hasIdentity, insertIdentity } from '#/store/identities.ts'
import { findUserByEmail, moveUserState, type User } from '#/store/users.ts'
import type { ProviderIdentity } from './authorization-code-flow.ts'
import type { Provider } from './provider-settings.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** How long a sign-in may wait for other business of its address, in ms; as a sign-up. */
const turnTimeout = 4_000

export interface ProviderAccountParts {
  readonly database: Database
  readonly registration: Registration
  readonly policy: SignUpPolicy
  /** Ends all sessions of a user and removes their API tokens. @param provider who has it done, for the audit log */
  readonly endAccess: (userId: number, provider: string, now: Date) => Promise<void>
}

/** A user whose identity is stored. */
interface Bound {
  readonly user: User
  /** Whether an invitation has made the user a member of a group. */
  readonly hasJoined: boolean
}

/** Which account an identity of a provider signs in to. */
export class ProviderAccounts {
  readonly #parts: ProviderAccountParts

  constructor(parts: ProviderAccountParts) {
    this.#parts = parts
  }

  /**
   * The account of this identity: the one that it signed in to before, whatever its address is now; else the one of its
   * verified address, whichever way that signed up; else a new one, by the rules of sign-up. An
   * account that the provider vouches for is verified.
   * @throws {SignInProblem} email-missing · email-unverified · email-taken · not-invited · blocked; nothing is stored
   * @throws {Refusal} 500 when the address's turn does not come · 503 too many sign-ins
   */
  async accountOf(identity: ProviderIdentity, now: Date): Promise<Bound> {
    const known = await findUserByIdentity(this.#parts.database.db, identity)
    if (known) return { user: refuseBlocked(known), hasJoined: false }
    const email = verifiedAddressOf(identity)
    return this.#parts.registration.runExclusive(email, turnTimeout, async (deadline) => {
      const found = await findUserByEmail(this.#parts.database.db, email)
      return found ? this.#link(refuseBlocked(found), identity, now) : this.#register(email, identity, now, deadline)
    })
  }

  /**
   * The provider has proved the address, and a used link that was mailed has, too; without a used link no person has
   * had access to the account, so that an address that was only typed before gives no access to it. A link that was not
   * mailed proves nothing: what its holder has begun ends here.
   */
  async #link(user: User, identity: ProviderIdentity, now: Date): Promise<Bound> {
    const { database, endAccess } = this.#parts
    await requireUnlinked(database.db, user, identity)
    // First: if this fails, the next sign-in comes here again.
    if (await mayHaveUnmailedLink(database.db, user)) await endAccess(user.id, identity.provider, now)
    return database.transaction(async (tx) => {
      await requireUnlinked(tx, user, identity)
      return bind(tx, user, identity, now)
    })
  }

  async #register(email: string, identity: ProviderIdentity, now: Date, deadline: number): Promise<Bound> {
    const { registration, policy } = this.#parts
    if (!maySignUp(email, policy)) throw new SignInProblem('not-invited', 'the settings let this address not sign up')
    return registration.register({
      email,
      now,
      deadline,
      store: async (tx, addUser) => bind(tx, await addUser(), identity, now),
      // There is no mail that could fail.
      deliver: async () => undefined,
    })
  }
}

/** @throws {SignInProblem} email-taken */
async function requireUnlinked(db: Db, { id }: User, { issuer }: ProviderIdentity): Promise<void> {
  if ((await findSubjectOf(db, id, issuer)) !== undefined)
    throw new SignInProblem('email-taken', `another subject of the provider signs in to account ${id}`)
}

/**
 * Whether an invitation without a mail may have verified the account; false when a provider has proved its address
 * since.
 */
async function mayHaveUnmailedLink(db: Db, { id }: User): Promise<boolean> {
  if (await hasIdentity(db, id)) return false
  const { entries } = await listAuditEntries(db, { limit: 1_000 }, { target: `user:${id}`, action: 'user.invite' })
  return entries.some(({ detail }) => detail.is_mailed === false)
}

async function bind(tx: Tx, user: User, { provider, issuer, subject }: ProviderIdentity, now: Date): Promise<Bound> {
  await insertIdentity(tx, { userId: user.id, issuer, subject, now })
  await moveUserState(tx, user.id, 'registered', 'verified')
  const joined = await joinInvitingGroups(tx, user, `provider ${provider}`, now)
  await insertAuditEntries(tx, joined)
  return {
    user: user.state === 'registered' ? { ...user, state: 'verified' } : user,
    hasJoined: joined.length > 0,
  }
}

function verifiedAddressOf({ email, emailDoubts }: ProviderIdentity): string {
  const because = emailDoubts.length === 0 ? '' : `: ${emailDoubts.join(', ')}`
  if (!email)
    throw new SignInProblem('email-missing', `neither ID token nor userinfo holds an e-mail address${because}`)
  if (!email.isVerified)
    throw new SignInProblem('email-unverified', `the provider does not say that the address is verified${because}`)
  return email.address
}

function refuseBlocked(user: User): User {
  if (user.isBlocked) throw new SignInProblem('blocked', `account ${user.id} is blocked`)
  return user
}

/**
 * Whether the groups of a person let them in. @param groups undefined: the provider does not say
 * @throws {SignInProblem} not-in-group · groups-unknown
 */
export function requireAllowedGroup({ allowedGroups }: Provider, groups: readonly string[] | undefined): void {
  if (allowedGroups === null) return
  if (groups === undefined)
    throw new SignInProblem('groups-unknown', 'allowed_groups is set, and the provider sent no list of groups')
  if (!allowedGroups.some((group) => groups.includes(group)))
    throw new SignInProblem('not-in-group', 'the user is in none of allowed_groups')
}

/** The groups that become memberships: those that `member_groups` names, all of them without it. */
export function membershipGroups({ memberGroups }: Provider, groups: readonly string[]): readonly string[] {
  if (memberGroups === null) return groups
  const [prefixes, names] = [[] as string[], new Set<string>()]
  for (const each of memberGroups)
    if (each.endsWith('*')) prefixes.push(each.slice(0, -1))
    else names.add(each)
  return groups.filter((group) => names.has(group) || prefixes.some((prefix) => group.startsWith(prefix)))
}

/** Whether the groups make a person an administrator; undefined: they say nothing, so nothing changes. */
export function isAdminByGroups({ adminGroups }: Provider, groups: readonly string[] | undefined): boolean | undefined {
  if (adminGroups === null || groups === undefined) return undefined
  return adminGroups.some((group) => groups.includes(group))
}
