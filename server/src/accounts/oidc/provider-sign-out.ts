import { hash } from 'node:crypto'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose'
import type { Logger } from 'pino'
import type { EndSessions } from '#/accounts/sessions/session-list.ts'
import type { Seal } from '#/machine/seal.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { findProviderSession } from '#/store/identities.ts'
import { insertRevokedTokens, isTokenRevoked, onceOnlyId } from '#/store/session-ends.ts'
import { isSubject } from './authorization-code-flow.ts'
import { providerFetch, renewEvery, type ProviderRegistry, type RegisteredProvider } from './provider-discovery.ts'

/** What sealed ID tokens belong to, see `Seal`. */
export const idTokenContext = 'ID token'

/** Max characters of a sign-out address: servers and proxies refuse longer ones, some from 2,048 on. */
const maxAddressLength = 2_000

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
    }
    const withoutHint = buildEndSessionUrl(configuration, parameters).href
    if (idToken === undefined) return withoutHint
    // With the hint a provider does not ask the person whether they mean it. A person in 180 groups has one of 9,000
    // characters, and an address that the provider refuses would leave the session there open.
    const withHint = buildEndSessionUrl(configuration, { ...parameters, id_token_hint: idToken }).href
    return withHint.length > maxAddressLength ? withoutHint : withHint
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

/** The event that a logout token is about. Source: OpenID Connect Back-Channel Logout, 2.4. */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** Signatures by a key pair only: with an HMAC the public key could pass for the key (RFC 8725, 3.1). */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** How far the clocks of the two may be apart, and how old a token may be, in seconds. */
const [clockTolerance, maxTokenAge] = [60, 600]
/** Timeout of a request for the keys, and how long they are kept, in ms. */
const [keyTimeout, keyMaxAge] = [5_000, 600_000]

/**
 * Whose sessions a provider asks to end: all of a subject's, those of one session at the provider, or those of both.
 */
export interface LogoutRequest {
  readonly issuer: string
  readonly subject: string | undefined
  readonly sid: string | undefined
  /** Id of the token, of a fixed length and unique among those of all providers; it may be used once. */
  readonly tokenId: string
  /** From then on the token is refused for its age. */
  readonly tokenExpiresAt: Date
}

/** A logout token that does not count; the message says why, without a value of it. */
export class LogoutTokenInvalid extends Error {
  override readonly name = 'LogoutTokenInvalid'
}

/** Verifies the logout tokens of one provider. */
export class LogoutTokenVerifier {
  readonly #keys: ReturnType<typeof createRemoteJWKSet>
  readonly #expected: { readonly issuer: string; readonly audience: string }
  /** When the keys may be fetched again because of a signature; ms, monotonic. */
  #nextReload = 0

  /**
   * @param audience id of the client at the provider
   * @throws {LogoutTokenInvalid} when the keys are at an address without https although the issuer has it
   */
  constructor(jwksUri: string, issuer: string, audience: string) {
    this.#expected = { issuer, audience }
    const keys = new URL(jwksUri)
    // openid-client demands it of all other addresses of a provider, and `jose` of none.
    if (keys.protocol !== 'https:' && new URL(issuer).protocol === 'https:')
      throw new LogoutTokenInvalid('the provider publishes its keys without https')
    this.#keys = createRemoteJWKSet(keys, {
      timeoutDuration: keyTimeout,
      cacheMaxAge: keyMaxAge,
      [customFetch]: providerFetch,
    })
  }

  /**
   * Checks a token; whether it was used before is for the caller to know. Source: OpenID Connect Back-Channel Logout,
   * 2.6.
   * @throws {LogoutTokenInvalid} also when the keys cannot be fetched
   */
  async verify(token: string, now: Date): Promise<LogoutRequest> {
    const payload = await this.#signed(token, now)
    const { iss = '', sub, sid, jti = '', iat = 0 } = payload
    if (!isAboutLogout(payload)) throw new LogoutTokenInvalid('its claim events does not name a sign-out')
    // ID tokens have one, and must not pass for a logout token.
    if (payload.nonce !== undefined) throw new LogoutTokenInvalid('it has a nonce')
    const session = typeof sid === 'string' ? sid : undefined
    if (sub === undefined && session === undefined) throw new LogoutTokenInvalid('it has neither sub nor sid')
    if (sub !== undefined && !isSubject(sub)) throw new LogoutTokenInvalid('its subject has no valid form')
    const tokenId = onceOnlyId('logout', hash('sha256', `${iss}\n${jti}`, 'base64url'))
    const tokenExpiresAt = new Date((iat + maxTokenAge + clockTolerance) * 1_000)
    return { issuer: iss, subject: sub, sid: session, tokenId, tokenExpiresAt }
  }

  /**
   * After a signature that no key fits: the provider may have changed its keys, even under the same names. Any client may
   * send a token, so that keys are fetched again now and then at most.
   */
  async #hasOtherKeys(error: unknown): Promise<boolean> {
    const isUnfit = error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey
    if (!isUnfit || performance.now() < this.#nextReload) return false
    this.#nextReload = performance.now() + renewEvery
    await this.#keys.reload()
    return true
  }

  async #signed(token: string, now: Date): Promise<JWTPayload> {
    try {
      const { typ } = decodeProtectedHeader(token)
      if (typ !== undefined && !/^(?:application\/)?(?:logout\+)?jwt$/i.test(typ))
        throw new LogoutTokenInvalid('its type is not logout+jwt')
      const verify = async () => {
        const { payload } = await jwtVerify(token, this.#keys, {
          ...this.#expected,
          algorithms,
          clockTolerance,
          maxTokenAge,
          currentDate: now,
          requiredClaims: ['iat', 'jti', 'events'],
        })
        return payload
      }
      return await verify().catch(async (error: unknown) => {
        if (!(await this.#hasOtherKeys(error))) throw error
        return verify()
      })
    } catch (error) {
      if (error instanceof LogoutTokenInvalid) throw error
      const why = error instanceof errors.JOSEError ? error.message : 'its signature could not be checked'
      throw new LogoutTokenInvalid(why, { cause: error })
    }
  }
}

function isAboutLogout({ events }: JWTPayload): boolean {
  const event = (Object(events) as Readonly<Record<string, unknown>>)[logoutEvent]
  return typeof event === 'object' && event !== null && !Array.isArray(event)
}
