import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import type { AccessTokens, Claims } from './access-token.ts'
import type { RenewSession } from './renew-session.ts'
import type { Revocations } from './revocations.ts'

export interface HostSignInParts {
  readonly database: Database
  readonly tokens: AccessTokens
  readonly revocations: Revocations
  readonly renewSession: RenewSession
  /** Address of a container's host, by its label. */
  readonly originOf: (label: string) => string
}

/** A token of one container's host, for one browser. */
export interface HostToken {
  readonly token: string
  readonly sid: string
  /** Seconds for which the browser keeps it. */
  readonly lifetime: number
  /** Seconds for which the browser remembers whose session it is. */
  readonly bindingLifetime: number
}

/** What a code was exchanged for. */
export interface HostSignedIn {
  readonly grant: EntryGrant
  readonly host: HostToken
}

/**
 * Signs a browser that is signed in at the platform in at the host of a container: by a code, which the browser carries
 * there (decision 064). Who may use the container is decided by the gateway, at each request.
 */
export class HostSignIn {
  readonly #parts: HostSignInParts
  readonly #codes = new EntryCodes()

  constructor(parts: HostSignInParts) {
    this.#parts = parts
  }

  /**
   * The address that takes a browser into a container's host.
   * @param label of the host: the prefix, or that of one of its ports @param browser hash of what it holds there
   * @param next path and query at that host
   */
  addressFor(
    claims: Claims,
    { prefix, label }: { readonly prefix: string; readonly label: string },
    browser: string,
    next: string,
  ): string {
    const { userId, sid, acting, isRenewable, expiresAt } = claims
    const code = this.#codes.issue({ prefix, browser, userId, sid, acting, isRenewable, expiresAt, next })
    return `${this.#parts.originOf(label)}/.berth/enter?code=${code}`
  }

  /**
   * @returns undefined when the code does not count, or its session is over
   * @throws {StoreFailure} the code is used up
   */
  async redeem(
    code: string,
    prefix: string,
    browsers: readonly string[],
    now: Date,
  ): Promise<HostSignedIn | undefined> {
    const { database, revocations } = this.#parts
    const grant = this.#codes.redeem(code, prefix, browsers)
    if (!grant || revocations.has(grant.sid)) return undefined
    const user = await findUser(database.db, grant.userId)
    const host = user && (await this.#tokenFor(user, grant, now))
    return host && { grant, host }
  }

  /**
   * A token for the rest of the session; undefined when that is over, or the user is blocked.
   * @throws {StoreFailure}
   */
  async renew(sid: string, userId: number, prefix: string, now: Date): Promise<HostToken | undefined> {
    const user = await findUser(this.#parts.database.db, userId)
    return user && this.#renewed(user, sid, prefix, now)
  }

  /** Without a renewal, as of a takeover or a blocked user, it lasts as long as the token that the browser had. */
  async #tokenFor(user: User, grant: EntryGrant, now: Date): Promise<HostToken | undefined> {
    const { sid, prefix, acting, isRenewable, expiresAt } = grant
    const renewed = isRenewable ? await this.#renewed(user, sid, prefix, now) : undefined
    return renewed ?? this.#issue(user, { sid, prefix, acting, expiresAt }, now)
  }

  /**
   * The token ends with the session's present token: that is how long a sign-out is remembered (`tokenExpiresAt`), so
   * that no token of a host outlives the end of its session.
   */
  async #renewed(user: User, sid: string, prefix: string, now: Date): Promise<HostToken | undefined> {
    const renewed = await this.#parts.renewSession.byToken(sid, user, now)
    if (!renewed) return undefined
    const { expiresAt, cookieLifetime } = renewed
    return this.#issue(user, { sid, prefix, acting: null, expiresAt }, now, cookieLifetime)
  }

  async #issue(
    user: User,
    { sid, prefix, acting, expiresAt }: Pick<EntryGrant, 'sid' | 'prefix' | 'acting' | 'expiresAt'>,
    now: Date,
    bindingLifetime?: number,
  ): Promise<HostToken | undefined> {
    const lifetime = Math.floor((expiresAt.getTime() - now.getTime()) / 1_000)
    if (lifetime < 1) return undefined
    const { tokens } = this.#parts
    const token = await tokens.forHost(user, tokens.plan(now, lifetime, sid), prefix, acting)
    return { token, sid, lifetime, bindingLifetime: bindingLifetime ?? lifetime }
  }
}

/** Lifetime of a code, in ms. */
const lifetime = 60_000
/** Codes that one session, and all together, may have unused; of more the oldest are forgotten. */
const [maxPerSession, maxCodes] = [50, 10_000]

/** What a code stands for. */
interface EntryGrant {
  /** `{slug}-{type}`: the only container whose host takes the code. */
  readonly prefix: string
  /** Hash of what the browser holds at that host. */
  readonly browser: string
  readonly userId: number
  readonly sid: string
  /** The same as in `Claims`. */
  readonly acting: string | null
  readonly isRenewable: boolean
  /** When the token ends that the browser had. */
  readonly expiresAt: Date
  /** Path and query to go on to. */
  readonly next: string
}

interface Kept {
  readonly grant: EntryGrant
  /** By `performance.now()`: a clock that is set back revives none. */
  readonly ends: number
}

/**
 * Codes by which a browser that is signed in gets into a container's host: single use, one minute. Only their hashes
 * are kept, in memory: after a restart of the API a browser asks for another one.
 */
class EntryCodes {
  readonly #byHash = new Map<string, Kept>()

  issue(grant: EntryGrant): string {
    this.#makeRoom(grant.sid)
    const code = randomBytes(32).toString('base64url')
    this.#byHash.set(hashOf(code), { grant, ends: performance.now() + lifetime })
    return code
  }

  /**
   * What a code stands for, which is used up by this. With another container or another browser it is not: a client
   * that has seen the address must not be able to lock the right browser out.
   * @param browsers hashes of what the browser holds
   */
  redeem(code: string, prefix: string, browsers: readonly string[]): EntryGrant | undefined {
    const hash = hashOf(code)
    const kept = this.#byHash.get(hash)
    if (!kept || kept.ends <= performance.now()) return undefined
    if (kept.grant.prefix !== prefix || !browsers.includes(kept.grant.browser)) return undefined
    this.#byHash.delete(hash)
    return kept.grant
  }

  #makeRoom(sid: string): void {
    const now = performance.now()
    const own: string[] = []
    for (const [hash, { grant, ends }] of this.#byHash) {
      if (ends <= now) this.#byHash.delete(hash)
      else if (grant.sid === sid) own.push(hash)
    }
    for (const hash of own.slice(0, Math.max(0, own.length - maxPerSession + 1))) this.#byHash.delete(hash)
    const [oldest] = this.#byHash.size >= maxCodes ? this.#byHash.keys() : []
    if (oldest !== undefined) this.#byHash.delete(oldest)
  }
}

const hashOf = (code: string) => createHash('sha256').update(code).digest('base64url')
