import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { RenewedToken, RenewSession } from '#/accounts/sessions/renew-session.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { SessionUses } from '#/accounts/sessions/session-list.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { tokenCookieLines, type CookieSettings } from './set-token-cookies.ts'

/** What every request with a good token does for its session. */
export class SessionRenewal {
  readonly #renew: RenewSession
  readonly #uses: SessionUses
  readonly #cookie: CookieSettings
  readonly #log: Pick<Logger, 'warn'>

  constructor(renew: RenewSession, uses: SessionUses, cookie: CookieSettings, log: Pick<Logger, 'warn'>) {
    this.#renew = renew
    this.#uses = uses
    this.#cookie = cookie
    this.#log = log
  }

  /**
   * Notes the use; a request by cookie in the second half of its token's life gets a new one with its answer. A failure of
   * the store is logged, and the next request tries again. Never throws.
   */
  async keep({ claims, user, via, scopes }: Session, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // An API token belongs to no session.
    if (scopes) return
    const { now, headers } = request
    this.#uses.note(claims.sid, now)
    if (via !== 'cookie' || !user || !this.#renew.isDue(claims, now)) return
    const renewed = await tryOrLog(this.#log, `renewing a session of user ${user.id}`, () =>
      this.#renew.byToken(claims.sid, user, now),
    )
    if (renewed) void reply.header('set-cookie', renewedLines(renewed, now, headers.host, this.#cookie))
  }
}

/** The `Set-Cookie` lines of a renewed token. */
export function renewedLines(
  { sid, token, expiresAt, cookieLifetime }: RenewedToken,
  now: Date,
  host: string | undefined,
  cookie: CookieSettings,
): string[] {
  const lifetime = Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1_000))
  return tokenCookieLines({ text: token, sid, lifetime, bindingLifetime: cookieLifetime }, host, cookie)
}
