import { SignJWT } from 'jose'
import { SignatureChecks, parseToken, type UnverifiedToken } from '@berth/gateway/tokens/signature-checks.ts'
import { sidOf } from '@berth/gateway/tokens/token-selection.ts'
import { setLatest } from '#/machine/recent-counts.ts'
import type { Database } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'
import { algorithm, type SigningKeys } from './signing-keys.ts'

/** Claims of a valid access token. */
export interface Claims {
  readonly userId: number
  readonly jti: string
  /** The session that it belongs to; of a token from before sessions its `jti`. */
  readonly sid: string
  /** Whether a request by cookie may renew it: it belongs to a session, and is its owner's. */
  readonly isRenewable: boolean
  readonly issuedAt: Date
  readonly expiresAt: Date
  /**
   * Who acts for the user: an administrator's id, or `operator`; null for the user's own token. Source: RFC 8693, 4.1.
   */
  readonly acting: string | null
}

/** The user of a new token. */
export interface Subject {
  readonly id: number
  readonly isAdmin: boolean
}

/** A token before it is signed, so that it can be stored before it exists. */
export interface PlannedToken {
  readonly jti: string
  readonly sid: string
  /** Whole seconds, as in the token. */
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** The scoped token that a container's app receives. */
interface ScopedToken {
  readonly token: string
  /** ms since 1970 */
  readonly expiresAt: number
}

/**
 * Max verified tokens that are cached, so that a signature (about 100 us) is checked once and not for every request.
 */
const maxRemembered = 10_000
/** Lifetime of scoped tokens, in seconds. */
export const scopedLifetime = 900
/** Max difference of two clocks, in ms; a token from a later time was issued before the clock was set back. */
const maxClockSkew = 60_000
const actingForm = /^([1-9]\d{0,14}|operator)$/

/** What signs tokens, and verifies them. */
export type TokenKeys = Pick<SigningKeys, 'accepted' | 'kid' | 'privateKey'>

/** Issues and verifies access tokens. Source: specification, Authentication 2. */
export class AccessTokens {
  readonly #keys: TokenKeys
  readonly #issuer: string
  readonly #newId: () => string
  readonly #remembered = new Map<string, { readonly claims: Claims; readonly kid: string }>()
  readonly #checks = new SignatureChecks()
  /** Seconds. */
  readonly lifetime: number

  /** @param lifetime seconds @param newId creates the id of a token */
  constructor(keys: TokenKeys, issuer: string, lifetime: number, newId: () => string) {
    this.#newId = newId
    this.#keys = keys
    this.#issuer = issuer
    this.lifetime = lifetime
  }

  /** @param lifetime seconds @param sid the session that it belongs to, when that has begun */
  plan(now: Date, lifetime = this.lifetime, sid = this.#newId()): PlannedToken {
    const issuedAt = Math.floor(now.getTime() / 1_000)
    return {
      jti: this.#newId(),
      sid,
      issuedAt: new Date(issuedAt * 1_000),
      expiresAt: new Date((issuedAt + lifetime) * 1_000),
    }
  }

  /** @param acting as in `Claims` */
  async issue(subject: Subject, planned: PlannedToken, acting: string | null = null): Promise<string> {
    return this.#sign(subject, planned, acting, { sid: planned.sid })
  }

  /**
   * Scoped token for a container's app: same user and key, but short-lived and refused by the API, so that an app (or
   * an attacker in it) cannot act for the user. It names its container (`aud`), so that no app accepts another app's
   * token. Each call issues another one; the gateway knows how long it may use one on.
   */
  async scoped(subject: Subject, prefix: string, acting: string | null, now: Date): Promise<ScopedToken> {
    const token = await this.#sign(subject, this.plan(now, scopedLifetime), acting, { aud: `/${prefix}` })
    return { token, expiresAt: now.getTime() + scopedLifetime * 1000 }
  }

  /**
   * A token that opens one container's host to one browser, as long as its session lasts. The API refuses it, as it
   * does scoped ones; apps do not receive it.
   */
  async forHost(subject: Subject, planned: PlannedToken, prefix: string, acting: string | null): Promise<string> {
    return this.#sign(subject, planned, acting, { aud: `/${prefix}`, sid: planned.sid })
  }

  isRemembered(token: string): boolean {
    return this.#remembered.has(token)
  }

  /**
   * Whether everything but signature and expiry, which are not checked, is valid, and the signature was not found bad
   * before.
   */
  isPlausible(token: string): boolean {
    return this.#decode(token) !== undefined && !this.#checks.isRejected(token)
  }

  /** Whether its unverified claims name an actor. */
  claimsActing(token: string): boolean {
    const known = this.#remembered.get(token) ?? this.#decode(token)
    return known !== undefined && known.claims.acting !== null
  }

  /** Number of unknown tokens of one request that may be checked; see `SignatureChecks`. */
  checksAllowed(address: string, wanted: number): number {
    return this.#checks.allowed(address, wanted)
  }

  /**
   * Claims of a valid token of ours that has not expired; otherwise undefined. The caller checks revocation.
   * @param address of the client, to whom a bad signature is charged
   */
  async verify(token: string, now: Date, address = ''): Promise<Claims | undefined> {
    const decoded = this.#remembered.get(token) ?? this.#decode(token)
    // An expired token is refused without a signature check.
    return decoded && isOfNow(decoded.claims, now) ? this.read(token, address) : undefined
  }

  /**
   * Claims of a token of ours, expired or not, for operations that only end a session; otherwise undefined. It
   * authenticates no request.
   */
  async read(token: string, address = ''): Promise<Claims | undefined> {
    const known = this.#remembered.get(token)
    if (known) return this.#keys.accepted(known.kid) ? known.claims : undefined
    const decoded = this.#decode(token)
    const key = decoded && this.#keys.accepted(decoded.kid)
    if (!key || this.#checks.isRejected(token) || !this.#checks.isSigned(token, key, address)) return undefined
    setLatest(this.#remembered, token, decoded, maxRemembered)
    return decoded.claims
  }

  async #sign(
    subject: Subject,
    { jti, issuedAt, expiresAt }: PlannedToken,
    acting: string | null,
    scope: { readonly aud?: string; readonly sid?: string },
  ): Promise<string> {
    // A takeover of an administrator has no administrator's rights, so the claim for apps says no.
    const claims = acting === null ? { is_admin: subject.isAdmin } : { is_admin: false, act: { sub: acting } }
    return new SignJWT({ ...claims, ...scope })
      .setProtectedHeader({ alg: algorithm, kid: this.#keys.kid, typ: 'JWT' })
      .setSubject(String(subject.id))
      .setJti(jti)
      .setIssuer(this.#issuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#keys.privateKey)
  }

  /** Claims of a token in our format that names one of our keys. */
  #decode(token: string): { readonly claims: Claims; readonly kid: string } | undefined {
    const read = parseToken(token)
    const claims = read && this.#keys.accepted(read.kid) && claimsOf(read)
    return claims && { claims, kid: read.kid }
  }
}

function claimsOf({ claims }: UnverifiedToken): Claims | undefined {
  const { sub, jti, iat, exp, aud } = claims
  const acting = actingIn(claims)
  const sid = sidOf(claims)
  // Only a container's token has an audience; the API is not it.
  if (aud !== undefined || acting === undefined || typeof jti !== 'string') return undefined
  if (typeof sid !== 'string') return undefined
  if (typeof sub !== 'string' || !/^[1-9]\d{0,14}$/.test(sub)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  const isRenewable = 'sid' in claims && acting === null
  const times = { issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000) }
  return { userId: Number(sub), jti, sid, isRenewable, ...times, acting }
}

/** Undefined when the claim is not in our format. */
function actingIn({ act }: UnverifiedToken['claims']): string | null | undefined {
  if (act === undefined) return null
  const sub = typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined
  return typeof sub === 'string' && actingForm.test(sub) ? sub : undefined
}

const isOfNow = ({ issuedAt, expiresAt }: Claims, now: Date) =>
  expiresAt > now && issuedAt.getTime() <= now.getTime() + maxClockSkew

/** Issues scoped tokens for the apps in containers, by the present state of their user in the store. */
export class ScopedTokenIssuer {
  readonly #database: Database
  readonly #tokens: AccessTokens

  constructor(database: Database, tokens: AccessTokens) {
    this.#database = database
    this.#tokens = tokens
  }

  /**
   * @param prefix of the container whose app sees it
   * @param acting as in `Claims`
   * @throws {Error} when there is no such user, or they are blocked
   */
  async issue(userId: number, prefix: string, acting: string | null, now: Date): Promise<ScopedToken> {
    const user = await findUser(this.#database.db, userId)
    if (!user || user.isBlocked) throw new Error(`user ${userId} is gone or blocked`)
    return this.#tokens.scoped(user, prefix, acting, now)
  }
}
