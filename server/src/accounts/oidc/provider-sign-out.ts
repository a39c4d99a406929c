import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { findProviderSession } from '#/store/provider-sessions.ts'
import { insertRevokedTokens, isTokenRevoked } from '#/store/revoked-tokens.ts'
import type { EndSessions } from '../sessions/end-sessions.ts'
import { LogoutTokenInvalid, LogoutTokenVerifier } from './logout-token.ts'
import type { ProviderRegistry, RegisteredProvider } from './provider-registry.ts'
import { idTokenContext, type Seal } from './seal.ts'

/** How long a sign-out waits for a provider whose discovery is not cached, in ms. */
const discoveryTimeout = 2_000

export interface ProviderSignOutParts {
  readonly registry: ProviderRegistry
  /** Public address of the front end. */
  readonly frontendUrl: string
  readonly database: Database
  readonly seal: Seal
  readonly endSessions: Pick<EndSessions, 'atProvider'>
  readonly log: Pick<Logger, 'warn'>
}

/** Sign-out at OpenID Connect providers, and by them. */
export class ProviderSignOut {
  readonly #parts: ProviderSignOutParts
  readonly #verifiers = new Map<string, { readonly jwksUri: string; readonly verifier: LogoutTokenVerifier }>()

  constructor(parts: ProviderSignOutParts) {
    this.#parts = parts
  }

  /**
   * Where a browser signs out at the provider that a session began at, and comes back from to the login page. Sources:
   * OpenID Connect RP-Initiated Logout, 2. Call it once the session here has ended: the provider may not answer.
   * @param sids claims `sid` of the sessions that ended
   * @returns null for sessions that began otherwise, and for providers without such an address
   */
  async logoutUrl(sids: readonly string[]): Promise<string | null> {
    const { registry, database, log } = this.#parts
    if (registry.providers.length === 0) return null
    const session = await findProviderSession(database.db, sids)
    const registered = session && registry.find(session.provider)
    if (!session || !registered) return null
    const url = await tryOrLog(log, `finding the sign-out address of provider ${session.provider}`, () =>
      withTimeout(discoveryTimeout, this.#addressAt(registered, session.idToken)),
    )
    return url ?? null
  }

  async #addressAt({ discovery }: RegisteredProvider, sealedIdToken: string): Promise<string | undefined> {
    const configuration = await discovery.configuration()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    const { buildEndSessionUrl } = await import('openid-client')
    const idToken = this.#parts.seal.open(sealedIdToken, idTokenContext)
    const parameters = {
      client_id: configuration.clientMetadata().client_id,
      post_logout_redirect_uri: `${this.#parts.frontendUrl}/login`,
      // Without it Keycloak asks the person whether they mean it, and leads them nowhere.
      ...(idToken === undefined ? {} : { id_token_hint: idToken }),
    }
    return buildEndSessionUrl(configuration, parameters).href
  }

  /**
   * Ends the sessions that a provider asks to end. Source: OpenID Connect Back-Channel Logout, 2.5 to 2.8.
   * @param token its logout token
   * @throws {Refusal} 404 no such provider · 400 not a valid token, or one that was used before
   */
  async endByProvider(providerId: string, token: string, now: Date): Promise<void> {
    const registered = this.#parts.registry.require(providerId)
    const request = await this.#verify(registered, token, now)
    await this.#parts.endSessions.atProvider(request, 'provider', now)
    // Afterwards: a token whose sessions could not be ended is sent again by the provider.
    const used = { jti: request.tokenId, expiresAt: request.tokenExpiresAt }
    await insertRevokedTokens(this.#parts.database.db, [used])
  }

  async #verify(registered: RegisteredProvider, token: string, now: Date) {
    const { id } = registered.provider
    try {
      const request = await (await this.#verifierOf(registered)).verify(token, now)
      if (await isTokenRevoked(this.#parts.database.db, request.tokenId))
        throw new LogoutTokenInvalid('it was used before')
      return request
    } catch (error) {
      const why = error instanceof LogoutTokenInvalid ? error.message : (error as Error).message
      this.#parts.log.warn({ provider: id, why }, 'a logout token of a provider was refused')
      throw refusals.badLogoutToken()
    }
  }

  /** One for each provider, because it caches the keys; another when the provider moves its keys. */
  async #verifierOf({ provider, discovery }: RegisteredProvider): Promise<LogoutTokenVerifier> {
    const { jwks_uri: jwksUri, issuer } = (await discovery.configuration()).serverMetadata()
    if (jwksUri === undefined) throw new LogoutTokenInvalid('the provider publishes no keys')
    const known = this.#verifiers.get(provider.id)
    if (known?.jwksUri === jwksUri) return known.verifier
    const verifier = new LogoutTokenVerifier(jwksUri, issuer, provider.clientId)
    this.#verifiers.set(provider.id, { jwksUri, verifier })
    return verifier
  }
}
