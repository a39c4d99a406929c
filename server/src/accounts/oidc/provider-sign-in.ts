import { hash } from 'node:crypto'
import type { Database } from '#/store/database.ts'
import { insertProviderSession } from '#/store/identities.ts'
import { onceOnlyId, useUpToken } from '#/store/session-ends.ts'
import { lockUser, touchUser, type User } from '#/store/users.ts'
import type { BeginSession, SignedIn } from '#/accounts/sessions/begin-session.ts'
import type { ClientInfo } from '#/accounts/actor.ts'
import {
  authorizationRequest,
  exchangeCode,
  type ProviderAnswer,
  type ProviderIdentity,
} from './authorization-code-flow.ts'
import { isAdminByGroups, membershipGroups, requireAllowedGroup, type ProviderAccounts } from './provider-account.ts'
import type { ProviderRegistry } from './provider-discovery.ts'
import { attemptLifetime, callbackPath, type Provider, type SignInAttempt } from './provider-settings.ts'
import type { Seal } from '#/machine/seal.ts'
import { idTokenContext } from './provider-sign-out.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** What a provider's groups say of a user who signs in there, beside whether the user may come in. */
export interface GroupsClaim {
  readonly userId: number
  /** Id of the provider. */
  readonly provider: string
  /** Address that the request came from, for the audit log. */
  readonly address: string
  /** Names of groups to be a member of; undefined: the provider does not say, and nothing changes. */
  readonly memberships: readonly string[] | undefined
  /** Whether the user is to be an administrator; undefined likewise. */
  readonly isAdmin: boolean | undefined
}

type GroupsListener = (claim: GroupsClaim, now: Date) => Promise<void>

export interface ProviderSignInParts {
  readonly registry: ProviderRegistry
  /** Public address of the front end; redirect addresses begin with it, whatever host a request names. */
  readonly frontendUrl: string
  readonly database: Database
  readonly accounts: ProviderAccounts
  readonly sessions: BeginSession
  readonly seal: Seal
}

/** Sign-in by OpenID Connect: authorization code flow with PKCE. Sources: OpenID Connect Core, 3.1; RFC 9700, 2.1. */
export class ProviderSignIn {
  readonly #parts: ProviderSignInParts
  readonly #onGroups: GroupsListener[] = []
  readonly #onJoin: (() => void)[] = []

  constructor(parts: ProviderSignInParts) {
    this.#parts = parts
  }

  /** @param listener called before the session begins, one after the other; a failure ends the sign-in */
  onGroups(listener: GroupsListener): void {
    this.#onGroups.push(listener)
  }

  /** @param listener called when an invitation has made its user a member of a group */
  onJoin(listener: () => void): void {
    this.#onJoin.push(listener)
  }

  /**
   * Begins a sign-in. @param next path of ours to go on to
   * @returns the address at the provider, and what this browser has to remember
   * @throws {Refusal} 404 no such provider @throws {SignInProblem} provider-unavailable · untrusted-answer
   */
  async start(providerId: string, next: string): Promise<{ location: string; attempt: SignInAttempt }> {
    const { provider, discovery } = this.#parts.registry.require(providerId)
    return authorizationRequest(await discovery.configuration(), provider, this.#redirectUriOf(provider), next)
  }

  /**
   * Finishes a sign-in with the provider's answer. @param answer query of the callback
   * @throws {Refusal} 404 no such provider · 500, 503 as sign-up
   * @throws {SignInProblem} for every other refusal; then no account and no session was made
   */
  async finish(
    { answer, attempt }: { answer: string; attempt: SignInAttempt },
    client: ClientInfo,
    now: Date,
  ): Promise<SignedIn> {
    const { provider, discovery } = this.#parts.registry.require(attempt.provider)
    const configuration = await discovery.configuration()
    const redirectUri = this.#redirectUriOf(provider)
    const answered = await exchangeCode(configuration, provider, { redirectUri, answer, attempt }).catch(
      (error: unknown) => {
        // The code is used up, so that this sign-in is lost; the next one has the new keys.
        if (error instanceof SignInProblem && error.code === 'untrusted-answer') discovery.renew()
        throw error
      },
    )
    await this.#useUp(attempt, now)
    const { identity } = answered
    requireAllowedGroup(provider, identity.groups)
    const { user, hasJoined } = await this.#parts.accounts.accountOf(identity, now)
    if (hasJoined) for (const listener of this.#onJoin) listener()
    const claim = groupsClaimOf(user, provider, identity, client)
    for (const listener of this.#onGroups) await listener(claim, now)
    return this.#signIn(user, answered, client, now)
  }

  /**
   * The provider redeems a code once, and the browser has forgotten the attempt by now; this holds also where neither
   * does. Only what a provider has vouched for is stored, so that unknown clients fill no table. Source: RFC 9700,
   * 4.2.4.
   */
  async #useUp({ state }: SignInAttempt, now: Date): Promise<void> {
    const jti = onceOnlyId('attempt', hash('sha256', state, 'base64url'))
    const expiresAt = new Date(now.getTime() + attemptLifetime * 1_000)
    const isFirst = await useUpToken(this.#parts.database.db, { jti, expiresAt })
    if (!isFirst) throw new SignInProblem('attempt-lost', 'this attempt has signed a user in before')
  }

  #redirectUriOf({ id }: Provider): string {
    return this.#parts.frontendUrl + callbackPath(id)
  }

  /**
   * The order is that of a sign-in by a link: the session is stored before its token exists, and no block is missed.
   */
  async #signIn({ id }: User, { identity, idToken }: ProviderAnswer, client: ClientInfo, now: Date): Promise<SignedIn> {
    const { database, sessions, seal } = this.#parts
    const { user, begun } = await database.transaction(async (tx) => {
      const current = await lockUser(tx, id)
      if (!current) throw new SignInProblem('failed', `account ${id} was deleted meanwhile`)
      if (current.isBlocked) throw new SignInProblem('blocked', `account ${id} is blocked`)
      await touchUser(tx, id, now)
      const stored = await sessions.store(tx, id, `oidc:${identity.provider}`, client, now)
      await insertProviderSession(tx, stored.sid, { ...identity, idToken: seal.close(idToken, idTokenContext) })
      return { user: current, begun: stored }
    })
    // The browser is led on at once; its page shows how the launch goes.
    return sessions.finish(user, begun, { awaitsContainer: false })
  }
}

const groupsClaimOf = (
  { id, isAdmin }: User,
  provider: Provider,
  { groups }: ProviderIdentity,
  { address }: ClientInfo,
): GroupsClaim => {
  const isNamed = isAdminByGroups(provider, groups)
  return {
    userId: id,
    provider: provider.id,
    address,
    memberships: groups && membershipGroups(provider, groups),
    isAdmin: isNamed === isAdmin ? undefined : isNamed,
  }
}
