import { AccessTokens, ScopedTokenIssuer } from '#/accounts/sessions/access-token.ts'
import { RenewSession } from '#/accounts/sessions/renew-session.ts'
import { Revocations, type Revocable } from '#/accounts/sessions/revocations.ts'
import { HostSignIn } from '#/accounts/sessions/host-sign-in.ts'
import { SessionCookies, SessionLifetimes } from '#/accounts/sessions/begin-session.ts'
import { SessionUses } from '#/accounts/sessions/session-list.ts'
import type { AppParts } from './app-parts.ts'
import type { Addresses } from '#/config/config.ts'
import { OpenStreams } from '#/containers/open-streams.ts'

/** Access tokens, sessions, revocations, and the open streams that end with them. @param activate requests a run of the reconciler, when a revocation is not stored yet */
export function wireTokens(
  { config, database, gateway, key, maxStreams }: AppParts,
  { spawnerUrl, containerOrigin }: Addresses,
  activate: () => void,
) {
  const streams = new OpenStreams(maxStreams)
  const publish = (revoked: readonly Revocable[]) =>
    gateway.apply(
      revoked.map(({ jti, expiresAt }) => ({
        kind: 'revoked' as const,
        revocation: { jti, expiresAt: expiresAt.getTime() },
      })),
    )
  const revocations = new Revocations(database, {
    onRevoked: async (sessions) => {
      for (const { userId, jti } of sessions) streams.endSession(userId, jti)
      await publish(sessions)
    },
    onEraEnded: (era) => publish([era]),
    onUnsaved: activate,
  })
  const tokens = new AccessTokens(key, spawnerUrl, config.accessTokenExpires, () => revocations.newId())
  const lifetimes = new SessionLifetimes(config)
  const cookies = new SessionCookies(key.hmacKeyFor('session'))
  const uses = new SessionUses(database, lifetimes.limits)
  const renewSession = new RenewSession({ database, tokens, lifetimes, cookies, uses, revocations })
  return {
    streams,
    tokens,
    revocations,
    lifetimes,
    cookies,
    uses,
    renewSession,
    /** Null when containers are below paths. */
    hostSignIn:
      containerOrigin && new HostSignIn({ database, tokens, revocations, renewSession, originOf: containerOrigin }),
    scopedTokens: new ScopedTokenIssuer(database, tokens),
  }
}

export type Tokens = ReturnType<typeof wireTokens>
