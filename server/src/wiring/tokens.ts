import { AccessTokens } from '#/accounts/access-token.ts'
import { Revocations, type Revoked } from '#/accounts/revocations.ts'
import { ScopedTokens } from '#/accounts/scoped-tokens.ts'
import type { AppParts } from '#/app.ts'
import type { Addresses } from '#/config.ts'
import { OpenStreams } from '#/containers/open-streams.ts'

/** Tokens, who was refused before their time, and the streams that hang on both. @param soon called when something is left to be stored */
export function wireTokens({ config, database, gateway, key }: AppParts, { spawnerUrl }: Addresses, soon: () => void) {
  const streams = new OpenStreams()
  const tell = (revoked: readonly Revoked[]) =>
    gateway.apply(
      revoked.map(({ jti, expiresAt }) => ({
        kind: 'revoked' as const,
        revocation: { jti, expiresAt: expiresAt.getTime() },
      })),
    )
  const revocations = new Revocations(database, {
    onRevoked: async (sessions) => {
      for (const { userId, jti } of sessions) streams.endToken(userId, jti)
      await tell(sessions)
    },
    onEraEnded: (era) => tell([era]),
    onUnsaved: soon,
  })
  const tokens = new AccessTokens(key, spawnerUrl, config.accessTokenExpires, () => revocations.newId())
  return { streams, tokens, revocations, scopedTokens: new ScopedTokens(database, tokens) }
}

export type Tokens = ReturnType<typeof wireTokens>
