import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Scope } from '@berth/api/scopes.ts'
import type { Database } from '#/store/database.ts'
import { findUser, isActiveAdministrator, type User } from '#/store/users.ts'
import {
  candidateTokens,
  hasCompanion,
  maxTokensChecked,
  selectTrustedToken,
  tokenCookie,
} from '@berth/gateway/tokens/token-selection.ts'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { AccessTokens, Claims } from './access-token.ts'
import type { Revocations } from './revocations.ts'

/** Session of a request, by its token. */
export interface Session {
  readonly claims: Claims
  readonly token: string
  /** Undefined when the account was deleted after the token was issued. */
  readonly user: User | undefined
  /**
   * A browser sends a cookie with every request, also those that another page makes; only a holder of the token sends a
   * header.
   */
  readonly via: 'header' | 'cookie'
  /** What an API token may do; undefined for an access token, which may do all that its user may. */
  readonly scopes?: readonly Scope[]
}

/** Result of the authentication of a request's headers. */
export interface AuthenticationResult {
  readonly session: Session | undefined
  /** Distinguishes a missing token from an invalid one. */
  readonly wasSent: boolean
  /** Whether there is no session because of tossed cookies; the browser has to drop them all. */
  readonly isTossed: boolean
  /** Whether a browser sent tokens as cookies without their companion, so that none of them counts. */
  readonly isUnbound: boolean
  /** Tokens of the cookies that were looked at, for `endedTakeover`: a page without a session scans its cookies once. */
  readonly candidates: readonly string[]
}

/** Authenticates requests by their headers. */
export class SessionAuthenticator {
  readonly #database: Database
  readonly #tokens: AccessTokens
  readonly #revocations: Pick<Revocations, 'has'>
  readonly #csrfKey: KeyObject
  readonly #requiresCompanion: boolean

  /** @param requiresCompanion whether tokens in cookies of browsers count with their companion alone */
  constructor(
    database: Database,
    tokens: AccessTokens,
    revocations: Pick<Revocations, 'has'>,
    csrfKey: KeyObject,
    requiresCompanion: boolean,
  ) {
    this.#requiresCompanion = requiresCompanion
    this.#database = database
    this.#tokens = tokens
    this.#revocations = revocations
    this.#csrfKey = csrfKey
  }

  /**
   * The session of a request; undefined without a valid, unrevoked token.
   * An `Authorization` header alone counts when there is one: falling back to the cookie would hide a bad token.
   */
  async authenticate(headers: IncomingHttpHeaders, now: Date): Promise<AuthenticationResult> {
    const { authorization, cookie } = headers
    const address = addressIn(headers)
    if (authorization !== undefined) {
      const [only] = await this.#verified(bearerTokens(authorization), now, address)
      return {
        session: only && (await this.#sessionFor(only, 'header')),
        wasSent: true,
        isTossed: false,
        isUnbound: false,
        candidates: [],
      }
    }
    const needsCompanion = this.#needsCompanion(headers)
    const candidates = this.#candidates(cookie, address)
    const verified = await this.#verified(candidates, now, address)
    const believed = selectTrustedToken(
      verified,
      cookie,
      ({ claims }) => claims.sid,
      () => needsCompanion,
    )
    const isTossed = believed === 'tossed'
    const session = believed === undefined || isTossed ? undefined : await this.#sessionFor(believed, 'cookie')
    const wasSent = cookieValues(cookie, tokenCookie).length > 0
    const isUnbound = wasSent && needsCompanion && !hasCompanion(cookie)
    return { session, wasSent, isTossed, isUnbound, candidates }
  }

  /**
   * The ended takeover of a browser, expired or revoked: who acted, and for whom, so that the browser can return to the
   * administrator's session. It authenticates no request, and has no `user`.
   * @param candidates of the authentication of the same headers
   */
  async endedTakeover(headers: IncomingHttpHeaders, candidates: readonly string[]): Promise<Session | undefined> {
    const { authorization, cookie } = headers
    if (authorization !== undefined) return undefined
    const address = addressIn(headers)
    const takeovers: VerifiedToken[] = []
    // Signatures that the authentication has found bad are not checked again.
    const acting = candidates.filter(
      (token) =>
        this.#tokens.claimsActing(token) && (this.#tokens.isRemembered(token) || this.#tokens.isPlausible(token)),
    )
    if (acting.length === 0 || !this.#mayBeChecked(acting, address)) return undefined
    for (const token of acting) {
      const claims = await this.#tokens.read(token, address)
      if (claims && claims.acting !== null) takeovers.push({ claims, token })
    }
    const believed = selectTrustedToken(
      takeovers,
      cookie,
      ({ claims }) => claims.sid,
      () => this.#needsCompanion(headers),
    )
    if (believed === undefined || believed === 'tossed') return undefined
    return { claims: believed.claims, token: believed.token, via: 'cookie', user: undefined }
  }

  /**
   * The valid token among these that is this user's own, not one of a takeover.
   * @returns undefined when there is none, or more than one: then another page tossed one in
   */
  async ownOf(userId: number, tokens: readonly string[], now: Date): Promise<Session | undefined> {
    // The same maximum as for the token's own cookie; only requests with an account get here.
    const good = await this.#verified([...new Set(tokens)].slice(-maxTokensChecked), now, '')
    const [own, ...more] = good.filter(({ claims }) => claims.userId === userId && claims.acting === null)
    return own && more.length === 0 ? this.#sessionFor(own, 'cookie') : undefined
  }

  /**
   * A proof that a page of ours made the request, as long as its session lasts. Put into documents that a person
   * navigated to, where no container's page on the same origin can read it.
   */
  csrfToken(claims: Pick<Claims, 'sid'>): string {
    return createHmac('sha256', this.#csrfKey).update(claims.sid).digest('base64url')
  }

  isCsrfToken(claims: Pick<Claims, 'sid'>, token: string): boolean {
    const expected = Buffer.from(this.csrfToken(claims))
    const given = Buffer.from(token)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  /**
   * Tokens with a valid signature that are neither expired nor revoked. None while more signatures have to be checked
   * than the client's budget allows; one is checked then, so that its next request has fewer.
   */
  async #verified(tokens: readonly string[], now: Date, address: string): Promise<VerifiedToken[]> {
    const isDecided = this.#mayBeChecked(tokens, address)
    const good: VerifiedToken[] = []
    for (const token of isDecided ? tokens : this.#unknown(tokens).slice(-1)) {
      const claims = await this.#tokens.verify(token, now, address)
      if (claims && !this.#isRevoked(claims)) good.push({ claims, token })
    }
    return isDecided ? good : []
  }

  #candidates(cookie: string | undefined, address: string): string[] {
    return candidateTokens(cookie, this.#tokens, () => this.#tokens.checksAllowed(address, maxTokensChecked))
  }

  #needsCompanion(headers: IncomingHttpHeaders): boolean {
    return this.#requiresCompanion && isBrowser(headers)
  }

  #isRevoked({ jti, sid }: Claims): boolean {
    return this.#revocations.has(jti) || this.#revocations.has(sid)
  }

  #mayBeChecked(tokens: readonly string[], address: string): boolean {
    const unknown = this.#unknown(tokens).length
    return this.#tokens.checksAllowed(address, unknown) >= unknown
  }

  #unknown(tokens: readonly string[]): readonly string[] {
    return tokens.filter((token) => !this.#tokens.isRemembered(token))
  }

  async #sessionFor({ claims, token }: VerifiedToken, via: Session['via']): Promise<Session | undefined> {
    const user = await findUser(this.#database.db, claims.userId)
    if (user && isOlderThanUser(claims, user)) return undefined
    return (await this.#mayAct(claims)) ? { claims, token, via, user } : undefined
  }

  /**
   * The actor of a takeover must still be an administrator. Takeovers are revoked when that ends; this check covers the
   * moment in between.
   */
  async #mayAct({ acting }: Claims): Promise<boolean> {
    if (acting === null || acting === 'operator') return true
    return isActiveAdministrator(await findUser(this.#database.db, Number(acting)))
  }
}

/** No script can leave this header out; `Sec-Fetch-Mode` alone is sent by programs, too. Source: Fetch Metadata Request Headers, 2. */
const isBrowser = (headers: IncomingHttpHeaders) => headers['sec-fetch-site'] !== undefined

/** Of the client, as the gateway sends it; no other proxy reaches this process. */
const addressIn = (headers: IncomingHttpHeaders) => String(headers['x-forwarded-for'] ?? '')

interface VerifiedToken {
  readonly claims: Claims
  readonly token: string
}

/**
 * A token from before its user existed belongs to a former user: after an older store is restored, ids are assigned
 * again.
 * Tokens count in whole seconds.
 */
const isOlderThanUser = ({ issuedAt }: Claims, { createdAt }: User) => issuedAt.getTime() + 1_000 <= createdAt.getTime()

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
function bearerTokens(authorization: string): string[] {
  const match = /^Bearer +(\S+)$/i.exec(authorization)
  return match?.[1] ? [match[1]] : []
}
