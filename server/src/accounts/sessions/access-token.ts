import { SignJWT } from 'jose'
import { parseToken, SignatureChecks, type UnverifiedToken } from '#/tokens/signature-checks.ts'
import { algorithm, type SigningKeys } from './signing-keys.ts'

/** What a valid access token says. */
export interface Claims {
  readonly userId: number
  readonly jti: string
  readonly issuedAt: Date
  readonly expiresAt: Date
  /** Who acts for the user with it: an administrator's id, or `operator`; null when it is the user's own. Source: RFC 8693, 4.1. */
  readonly acting: string | null
}

/** The person a token is made for. */
export interface Subject {
  readonly id: number
  readonly isAdmin: boolean
}

/** A token that is about to be made, so that it can be written down before it exists. */
export interface PlannedToken {
  readonly jti: string
  /** Whole seconds, as in the token. */
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** What the app in a container sees of its user. */
export interface ScopedToken {
  readonly token: string
  /** ms since 1970 */
  readonly expiresAt: number
}

/** Verified tokens remembered, so that a signature (about 100 us) is checked once and not at every request. */
const maxRemembered = 10_000
/** Lifetime of the tokens that containers see, in seconds. */
export const scopedLifetime = 900
/** A scoped token is handed out again until it has less than this left, in ms. */
const scopedMinRemaining = 300_000
/** How far two clocks may be apart, in ms; a token from later than that was made before the clock was set back. */
const maxClockSkew = 60_000
const actingForm = /^([1-9]\d{0,14}|operator)$/

/** Makes and checks access tokens. Source: specification, Authentication 2. */
export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #issuer: string
  readonly #newId: () => string
  readonly #remembered = new Map<string, { readonly claims: Claims; readonly kid: string }>()
  readonly #scoped = new Map<string, ScopedToken>()
  readonly #checks = new SignatureChecks()
  /** Seconds. */
  readonly lifetime: number

  /** @param lifetime seconds @param newId makes the id of a token */
  constructor(keys: SigningKeys, issuer: string, lifetime: number, newId: () => string) {
    this.#newId = newId
    this.#keys = keys
    this.#issuer = issuer
    this.lifetime = lifetime
  }

  /** @param lifetime seconds */
  plan(now: Date, lifetime = this.lifetime): PlannedToken {
    const issuedAt = Math.floor(now.getTime() / 1_000)
    return {
      jti: this.#newId(),
      issuedAt: new Date(issuedAt * 1_000),
      expiresAt: new Date((issuedAt + lifetime) * 1_000),
    }
  }

  /** @param acting as in `Claims` */
  async issue(subject: Subject, planned: PlannedToken, acting: string | null = null): Promise<string> {
    return this.#sign(subject, planned, acting)
  }

  /**
   * A token for the app in a container: same person, same key, but short-lived and refused by the API, so that an app
   * (or whoever took it over) cannot act for the person. Handed out again while it lasts, and never to anybody else who
   * acts for them: an app may want to know. It says which container it is for (`aud`), so that an app does not take
   * another app's token for its visitor's.
   */
  async scoped(subject: Subject, prefix: string, acting: string | null, now: Date): Promise<ScopedToken> {
    const key = `${subject.id} ${subject.isAdmin} ${acting ?? ''} ${prefix}`
    const known = this.#scoped.get(key)
    if (known && known.expiresAt - now.getTime() > scopedMinRemaining) return known
    const token = await this.#sign(subject, this.plan(now, scopedLifetime), acting, `/${prefix}`)
    const scoped = { token, expiresAt: now.getTime() + scopedLifetime * 1000 }
    if (this.#scoped.size >= maxRemembered) this.#scoped.clear()
    this.#scoped.set(key, scoped)
    return scoped
  }

  /** Tokens that were made by another clock are not handed out again. */
  forgetScoped(): void {
    this.#scoped.clear()
  }

  isRemembered(token: string): boolean {
    return this.#remembered.has(token)
  }

  /** Whether only its signature and its time, which are not looked at, can be wrong, and the signature was not found bad before. */
  isPlausible(token: string): boolean {
    return this.#decode(token) !== undefined && !this.#checks.isRejected(token)
  }

  /** Whether it says that somebody acts for the user; nobody has checked that. */
  claimsActing(token: string): boolean {
    const known = this.#remembered.get(token) ?? this.#decode(token)
    return known !== undefined && known.claims.acting !== null
  }

  /** How many of so many unknown tokens of one request may be checked; see `TokenChecks`. */
  checksAllowed(address: string, wanted: number): number {
    return this.#checks.allowed(address, wanted)
  }

  /**
   * The claims of a token of ours that has not expired; undefined for everything else. Revocation is the caller's to check.
   * @param address the client's, to whom a bad signature is charged
   */
  async verify(token: string, now: Date, address = ''): Promise<Claims | undefined> {
    const decoded = this.#remembered.get(token) ?? this.#decode(token)
    // What has expired needs no signature to be refused.
    return decoded && isOfNow(decoded.claims, now) ? this.read(token, address) : undefined
  }

  /**
   * The claims of a token of ours, whether or not it has expired, for what only leads out of a session; undefined for
   * everything else. It lets nobody in.
   */
  async read(token: string, address = ''): Promise<Claims | undefined> {
    const known = this.#remembered.get(token)
    if (known) return this.#keys.accepted(known.kid) ? known.claims : undefined
    const decoded = this.#decode(token)
    const key = decoded && this.#keys.accepted(decoded.kid)
    if (!key || this.#checks.isRejected(token) || !this.#checks.isSigned(token, key, address)) return undefined
    if (this.#remembered.size >= maxRemembered)
      for (const oldest of this.#remembered.keys()) if (this.#remembered.delete(oldest)) break
    this.#remembered.set(token, decoded)
    return decoded.claims
  }

  async #sign(
    subject: Subject,
    { jti, issuedAt, expiresAt }: PlannedToken,
    acting: string | null,
    audience?: string,
  ): Promise<string> {
    // Who acts for an administrator administers nothing, so no app is to be told that they do.
    const claims = acting === null ? { is_admin: subject.isAdmin } : { is_admin: false, act: { sub: acting } }
    const jwt = new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid: this.#keys.kid, typ: 'JWT' })
      .setSubject(String(subject.id))
      .setJti(jti)
      .setIssuer(this.#issuer)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
    return (audience ? jwt.setAudience(audience) : jwt).sign(this.#keys.privateKey)
  }

  /** What a token says that has the form of ours and names a key of ours. */
  #decode(token: string): { readonly claims: Claims; readonly kid: string } | undefined {
    const read = parseToken(token)
    const claims = read && this.#keys.accepted(read.kid) && claimsOf(read)
    return claims && { claims, kid: read.kid }
  }
}

function claimsOf({ claims }: UnverifiedToken): Claims | undefined {
  const { sub, jti, iat, exp, aud } = claims
  const acting = actingIn(claims)
  // Only a container's token has an audience; the API is not it.
  if (aud !== undefined || acting === undefined || typeof jti !== 'string') return undefined
  if (typeof sub !== 'string' || !/^[1-9]\d{0,14}$/.test(sub)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  return { userId: Number(sub), jti, issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000), acting }
}

/** Undefined when the claim is none of ours. */
function actingIn({ act }: UnverifiedToken['claims']): string | null | undefined {
  if (act === undefined) return null
  const sub = typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined
  return typeof sub === 'string' && actingForm.test(sub) ? sub : undefined
}

const isOfNow = ({ issuedAt, expiresAt }: Claims, now: Date) =>
  expiresAt > now && issuedAt.getTime() <= now.getTime() + maxClockSkew
