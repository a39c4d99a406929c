import { hash } from 'node:crypto'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose'
import { onceOnlyId } from '#/store/revoked-tokens.ts'
import { providerFetch } from './provider-fetch.ts'
import { isSubject } from './provider-identity.ts'

/** The event that a logout token is about. Source: OpenID Connect Back-Channel Logout, 2.4. */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** Signatures by a key pair only: with an HMAC the public key could pass for the key (RFC 8725, 3.1). */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** How far the clocks of the two may be apart, and how old a token may be, in seconds. */
const [clockTolerance, maxTokenAge] = [60, 600]
/** Timeout of a request for the keys, and how long they are kept, in ms. */
const [keyTimeout, keyMaxAge] = [5_000, 600_000]

/** Whose sessions a provider asks to end: all of a subject's, those of one session at the provider, or those of both. */
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
   * Checks a token; whether it was used before is for the caller to know. Source: OpenID Connect Back-Channel Logout, 2.6.
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

  async #signed(token: string, now: Date): Promise<JWTPayload> {
    try {
      const { typ } = decodeProtectedHeader(token)
      if (typ !== undefined && !/^(?:application\/)?(?:logout\+)?jwt$/i.test(typ))
        throw new LogoutTokenInvalid('its type is not logout+jwt')
      const { payload } = await jwtVerify(token, this.#keys, {
        ...this.#expected,
        algorithms,
        clockTolerance,
        maxTokenAge,
        currentDate: now,
        requiredClaims: ['iat', 'jti', 'events'],
      })
      return payload
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
