import { isDeepStrictEqual } from 'node:util'
import { importJWK, type CryptoKey, type JWK } from 'jose'
import { clock } from '#/basics/clock.ts'
import type { GatewayUser, Revocation } from '#/port/gateway.ts'
import { containsOpaqueSecret, kidIn, maxTokenWords, tokenStart, tokenWords } from './opaque-secrets.ts'
import { SignatureChecks, parseToken, tokenKeyId, type UnverifiedToken } from './signature-checks.ts'
import { endedSession, revocationRetention, sidOf } from './token-selection.ts'

/** Verified tokens remembered, so that a signature (about 100 us) is checked once and not at every request. */
const maxVerifiedTokens = 20_000

/** How far two clocks may be apart, in ms; a token from later than that was made before the clock was set back. */
const maxClockSkew = 60_000

/** The authenticated caller: the claims of a valid token. */
export interface Caller {
  readonly userId: number
  readonly jti: string
  /** The session that the token belongs to; of a token from before sessions its `jti`. */
  readonly sid: string
  /** What revokes its streams alone: see `endedSession`. */
  readonly endedSid: string
  /** Whether a request by cookie may renew it: it belongs to a session, and is its owner's own. */
  readonly isRenewable: boolean
  /** What `jti` begins with: see `Revocation`. */
  readonly era: string
  /** ms since 1970 */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Who acts for the user with it, as the claim `act` says; null when it is their own. */
  readonly acting: string | null
  /** `/{prefix}` of the only container that it opens, at its host; null for an access token, which is for all. */
  readonly audience: string | null
  /** What this person has open, whichever token opened it. */
  readonly active: { requests: number; webSockets: number }
  /** The token itself, for `forward_token: full`. */
  readonly token: string
  /** What its signature was checked with. */
  readonly key: Key
}

/** A public key of the control plane, in its own form and as it is used. */
interface Key {
  readonly jwk: Readonly<Record<string, unknown>>
  readonly imported: CryptoKey
}

/**
 * Token verifier: checks signatures against the control plane's public keys, caches the callers of tokens it has verified, and
 * holds the revocation list.
 */
export class TokenVerifier {
  readonly #users: UserCache
  #revoked = new Map<string, number>()
  #keys = new Map<unknown, Key>()
  readonly #verified = new Map<string, Caller>()
  readonly #checks = new SignatureChecks()
  /** By user; it lasts as long as a caller of theirs is remembered or has something open. */
  readonly #active = new Map<number, WeakRef<Caller['active']>>()

  constructor(users: UserCache) {
    this.#users = users
  }

  revoke({ jti, expiresAt }: Revocation): void {
    this.#revoked.set(jti, expiresAt)
  }

  replaceRevocations(revoked: readonly Revocation[]): void {
    this.#revoked = new Map(revoked.map(({ jti, expiresAt }) => [jti, expiresAt]))
  }

  /** Prunes revocations of tokens that expired long ago, expired callers, and counters of users without a connection. */
  prune(): void {
    for (const [jti, expiresAt] of this.#revoked)
      if (expiresAt + revocationRetention <= clock.wall) this.#revoked.delete(jti)
    for (const [token, { expiresAt }] of this.#verified) if (expiresAt <= clock.wall) this.#verified.delete(token)
    for (const [userId, active] of this.#active) if (active.deref() === undefined) this.#active.delete(userId)
  }

  /** Users whose open requests are counted, for tests of `prune`. */
  get counted(): number {
    return this.#active.size
  }

  /** What was signed with any other key counts no more. @param keys RFC 7517 public keys @throws when one is no key */
  async setKeys(keys: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const read = new Map<unknown, Key>()
    for (const jwk of keys) {
      const known = this.#keys.get(jwk['kid'])
      // The next control plane tells the same keys, and what was checked with them stays checked.
      read.set(jwk['kid'], known && isDeepStrictEqual(known.jwk, jwk) ? known : await readKey(jwk))
    }
    this.#keys = read
    this.#verified.clear()
    this.#checks.clear()
  }

  /** Whether this caller may act now; asked again at every request and for everything open. Source: specification, Authentication 3. */
  isValid(caller: Caller): boolean {
    return (
      caller.expiresAt > clock.wall && this.#keys.get(caller.key.jwk['kid']) === caller.key && this.isAllowed(caller)
    )
  }

  /** Whether a block ended their session: the token is answered, but opens no stream. */
  isSessionEnded({ endedSid }: Caller): boolean {
    return this.#revoked.has(endedSid)
  }

  /** Whether what this caller opened may stay open, if their session lasts: their token may have expired, with its key. */
  isAllowed({ userId, jti, sid, era, issuedAt }: Caller): boolean {
    const user = this.#users.get(userId)
    // A token issued before its user existed belongs to another user. Tokens count in whole seconds.
    return (
      user !== undefined &&
      issuedAt <= clock.wall + maxClockSkew &&
      !this.#revoked.has(jti) &&
      !this.#revoked.has(sid) &&
      !this.#revoked.has(era) &&
      issuedAt + 1_000 > user.createdAt
    )
  }

  /** The caller of a token that was verified before. */
  verifiedCaller(token: string): Caller | undefined {
    return this.#verified.get(token)
  }

  isRemembered(token: string): boolean {
    return this.#verified.has(token)
  }

  /** Whether a token says that it was signed with a key of ours, valid or not; junk costs no signature check. */
  hasOwnKeyId(token: string): boolean {
    return this.#keys.has(tokenKeyId(token))
  }

  /** Whether only its signature, which is not checked here, can be wrong, and was not rejected before. @param audience as in `Caller` */
  isPlausible(token: string, audience: string | null): boolean {
    return this.#callerIn(token)?.audience === audience && !this.#checks.isRejected(token)
  }

  /**
   * Whether a token says that it is for a container other than `audience`, and is not over. Its signature is not checked: to
   * say so of oneself earns nothing but a refusal.
   */
  isForAnotherContainer(token: string, audience: string): boolean {
    const read = parseToken(token)
    if (!read || !this.#keys.has(read.kid)) return false
    const { aud, exp } = read.claims
    return typeof aud === 'string' && aud !== audience && typeof exp === 'number' && exp * 1000 > clock.wall
  }

  /** How many of so many unknown tokens of one request may be checked; see `SignatureChecks`. */
  checksAllowed(address: string, wanted: number): number {
    return this.#checks.allowed(address, wanted)
  }

  /**
   * Whether one of our tokens, an API token or a renewal cookie stands anywhere in a header's value: bare, behind a scheme, in a
   * cookie of another name, or in `Basic` credentials. Linear in the length; a value with very many words of a token's form counts as holding one.
   */
  containsOwnToken(value: string): boolean {
    const words = tokenWords(value)
    return (
      containsOpaqueSecret(value) || words.length > maxTokenWords || words.some((word) => this.#keys.has(kidIn(word)))
    )
  }

  /** Predicate for the lines to remove from such a text: those with a token of this installation, or all candidates above the limit. */
  ownTokenLines(text: string): (line: string) => boolean {
    const isFull = tokenWords(text).length > maxTokenWords
    return (line) =>
      isFull
        ? line.includes(tokenStart) || containsOpaqueSecret(line) || /:[ \t]*basic /i.test(line)
        : this.containsOwnToken(line)
  }

  /**
   * The caller of a token with a good signature that has not expired; undefined for everything else.
   * @param address the client's, to whom a bad signature is charged
   */
  verify(token: string, address: string): Caller | undefined {
    const known = this.#verified.get(token)
    if (known) return known
    const caller = this.#callerIn(token)
    if (!caller || this.#checks.isRejected(token)) return undefined
    if (!this.#checks.isSigned(token, caller.key.imported, address)) return undefined
    if (this.#verified.size >= maxVerifiedTokens)
      for (const oldest of this.#verified.keys()) if (this.#verified.delete(oldest)) break
    // A part of a head would keep all of it in memory.
    const own = Buffer.from(token, 'latin1').toString('latin1')
    const verified = { ...caller, token: own, active: this.#activeOf(caller.userId) }
    this.#verified.set(own, verified)
    return verified
  }

  #activeOf(userId: number): Caller['active'] {
    const known = this.#active.get(userId)?.deref()
    if (known) return known
    const active = { requests: 0, webSockets: 0 }
    this.#active.set(userId, new WeakRef(active))
    return active
  }

  /** The caller that a token claims, if the claims are acceptable now; the signature is not checked. */
  #callerIn(token: string): Omit<Caller, 'active'> | undefined {
    const read = parseToken(token)
    const key = read && this.#keys.get(read.kid)
    return key && callerOf(read, key, token)
  }
}

/** Of the tokens with an audience only those of a session open anything: the container's host. What apps receive has none. */
function callerOf({ claims }: UnverifiedToken, key: Key, token: string): Omit<Caller, 'active'> | undefined {
  const { sub, jti, iat, exp, aud } = claims
  const acting = actingIn(claims)
  const sid = sidOf(claims)
  if (acting === undefined || typeof jti !== 'string' || typeof sid !== 'string') return undefined
  if (aud !== undefined && !(typeof aud === 'string' && 'sid' in claims)) return undefined
  if (typeof sub !== 'string' || !/^[1-9]\d{0,14}$/.test(sub)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp * 1000 <= clock.wall) return undefined
  const isRenewable = 'sid' in claims && acting === null
  const times = { issuedAt: iat * 1000, expiresAt: exp * 1000 }
  const terms = { isRenewable, acting, audience: aud ?? null }
  return { userId: Number(sub), jti, sid, endedSid: endedSession(sid), era: eraOf(jti), ...times, ...terms, token, key }
}

/** RFC 8693, 4.1. Undefined when the claim is none of ours. */
function actingIn({ act }: UnverifiedToken['claims']): string | null | undefined {
  if (act === undefined) return null
  const sub = typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined
  return typeof sub === 'string' && /^([1-9]\d{0,14}|operator)$/.test(sub) ? sub : undefined
}

async function readKey(jwk: Key['jwk']): Promise<Key> {
  // importJWK answers bytes for symmetric keys only.
  return { jwk, imported: (await importJWK(jwk as JWK, (jwk as JWK).alg)) as CryptoKey }
}

const eraOf = (jti: string) => jti.slice(0, Math.max(0, jti.indexOf('.')))

/**
 * User cache: the users who may own containers and tokens, by id and by slug. A user is the same object until a field
 * changes: whatever depends on a user's state compares objects.
 */
export class UserCache {
  #byId = new Map<number, GatewayUser>()
  #bySlug = new Map<string, GatewayUser>()

  get(userId: number): GatewayUser | undefined {
    return this.#byId.get(userId)
  }

  bySlug(slug: string): GatewayUser | undefined {
    return this.#bySlug.get(slug)
  }

  set(user: GatewayUser): void {
    if (this.#knownOrNew(user) !== user) return
    this.remove(user.userId)
    this.#byId.set(user.userId, user)
    this.#bySlug.set(user.slug, user)
  }

  remove(userId: number): void {
    const user = this.#byId.get(userId)
    if (!user) return
    this.#byId.delete(userId)
    this.#bySlug.delete(user.slug)
  }

  /** Makes exactly these users known. */
  replace(users: readonly GatewayUser[]): void {
    const next = users.map((user) => this.#knownOrNew(user))
    this.#byId = new Map(next.map((user) => [user.userId, user]))
    this.#bySlug = new Map(next.map((user) => [user.slug, user]))
  }

  /** A new control plane sends unchanged users as other objects. */
  #knownOrNew(user: GatewayUser): GatewayUser {
    const known = this.#byId.get(user.userId)
    return known && isSame(known, user) ? known : user
  }
}

/** All fields are primitive. */
function isSame(one: GatewayUser, other: GatewayUser): boolean {
  return (Object.keys(other) as (keyof GatewayUser)[]).every((field) => one[field] === other[field])
}
