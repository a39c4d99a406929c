import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Database } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import type { AccessTokens, Claims } from './access-token.ts'
import type { Revocations } from './revocations.ts'

/** Name of the cookie that carries the token. Source: specification, Authentication 5. */
export const cookieName = 'spawner_token'

/** Who sends a request, as far as their token says. */
export interface Session {
  readonly claims: Claims
  readonly token: string
  /** Undefined when the account was deleted after the token was made. */
  readonly user: User | undefined
  /** A cookie is sent by the browser whoever made the request; a header only by who has the token. */
  readonly via: 'header' | 'cookie'
}

/** Turns the headers of a request into a session. */
export class Sessions {
  readonly #database: Database
  readonly #tokens: AccessTokens
  readonly #revocations: Revocations
  readonly #csrfSecret: Buffer

  constructor(database: Database, tokens: AccessTokens, revocations: Revocations, csrfSecret: Buffer) {
    this.#database = database
    this.#tokens = tokens
    this.#revocations = revocations
    this.#csrfSecret = csrfSecret
  }

  /**
   * The session of a request; undefined without a valid, unrevoked token.
   * An `Authorization` header alone counts when there is one: falling back to the cookie would hide a bad token.
   * @returns `wasSent` tells a missing token from a bad one
   */
  async identify(headers: IncomingHttpHeaders, now: Date): Promise<{ session: Session | undefined; wasSent: boolean }> {
    const { authorization } = headers
    const via = authorization === undefined ? 'cookie' : 'header'
    const candidates = authorization === undefined ? cookieValues(headers.cookie) : bearerTokens(authorization)
    const session = await this.#theOneValid(candidates, via, now)
    return { session, wasSent: authorization !== undefined || candidates.length > 0 }
  }

  /**
   * A proof that a page of ours made the request. Put into documents that a person navigated to, where no container's
   * page on the same origin can read it.
   */
  csrfToken(claims: Claims): string {
    return createHmac('sha256', this.#csrfSecret).update(claims.jti).digest('base64url')
  }

  isCsrfToken(claims: Claims, token: string): boolean {
    const expected = Buffer.from(this.csrfToken(claims))
    const given = Buffer.from(token)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  /**
   * With several different cookies of our name somebody tossed some in: only a single valid one is believed. All of them
   * are looked at, however many (the size of a head bounds them): a look at the first few only would let junk cookies
   * with longer paths, which browsers send first, push the real one out.
   */
  async #theOneValid(candidates: readonly string[], via: Session['via'], now: Date): Promise<Session | undefined> {
    const valid: { claims: Claims; token: string }[] = []
    for (const token of new Set(candidates)) {
      const claims = await this.#tokens.verify(token, now)
      if (claims && !this.#revocations.has(claims.jti)) valid.push({ claims, token })
    }
    const [only] = valid
    if (!only || valid.length > 1) return undefined
    const user = await findUser(this.#database.db, only.claims.userId)
    if (user && isOlder(only.claims, user)) return undefined
    return (await this.#mayAct(only.claims)) ? { ...only, via, user } : undefined
  }

  /**
   * Whoever acts for somebody must be an administrator still. Their takeovers are revoked when they are not any more;
   * this holds in the moment between the change and that.
   */
  async #mayAct({ acting }: Claims): Promise<boolean> {
    if (acting === null || acting === 'operator') return true
    const admin = await findUser(this.#database.db, Number(acting))
    return admin !== undefined && admin.isAdmin && !admin.isBlocked
  }
}

/**
 * A token from before its user existed is somebody else's: after an older store was restored, ids are given again.
 * Tokens count in whole seconds.
 */
const isOlder = ({ issuedAt }: Claims, { createdAt }: User) => issuedAt.getTime() + 1_000 <= createdAt.getTime()

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
function bearerTokens(authorization: string): string[] {
  const match = /^Bearer +(\S+)$/i.exec(authorization)
  return match?.[1] ? [match[1]] : []
}

/** Every value of our cookie, in the order sent: a page can add a second one of the same name. */
function cookieValues(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .map((pair) => pair.slice(cookieName.length + 1))
    .filter((value) => value !== '')
}
