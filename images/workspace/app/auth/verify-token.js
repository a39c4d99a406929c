import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { Refusal } from '../refusal.js'

/** @import { IncomingMessage } from 'node:http' */
/** @import { JWTPayload, JWTVerifyGetKey } from 'jose' */

/** Asymmetric only: with a shared secret, every container could issue tokens for all users. */
const algorithms = ['ES256', 'EdDSA', 'Ed25519']

/** In characters; longer values are no tokens of Berth. */
const maxTokenLength = 8_192

/** In ms: timeout of the key server, and the min interval between two requests to it. */
const fetching = { limit: 3_000, pause: 30_000 }

/**
 * Verifies tokens and returns their user. Keys come with the container's environment, because a container cannot reach a
 * listener on the host's loopback address; the address is asked only for a key that is not among them.
 */
export class Verifier {
  /** @type {JWTVerifyGetKey[]} */
  #keySets = []
  /** @type {string | undefined} */
  #audience

  /**
   * @param {{ jwks?: string | undefined, jwksUrl?: string | undefined, audience?: string | undefined }} settings
   *   texts of BERTH_JWKS and BERTH_JWKS_URL, and what the tokens made for this container carry in `aud`: BASE_PATH, or BERTH_AUDIENCE on a host of its own
   */
  constructor({ jwks, jwksUrl, audience }) {
    this.#audience = audience
    if (jwks) this.#keySets.push(createLocalJWKSet(JSON.parse(jwks)))
    if (jwksUrl) this.#keySets.push(remoteKeys(new URL(jwksUrl)))
  }

  /** False when this app was started without keys, by hand and not by Berth: then it cannot authenticate users. */
  get hasKeys() {
    return this.#keySets.length > 0
  }

  /**
   * @param {IncomingMessage} request
   * @returns {Promise<JWTPayload & { sub: string, exp: number }>} the token's claims
   * @throws {Refusal} 401 without a token that is valid now and made for this container
   */
  async identify(request) {
    const token = tokenOf(request)
    if (token === undefined) throw unauthorized('Sign in first: this needs an access token.')
    if (token.length > maxTokenLength) throw unauthorized('This is not an access token.', true)
    for (const keys of this.#keySets) {
      const claims = await verify(token, keys)
      if (claims && !this.#isForUs(claims)) throw unauthorized('The access token was made for another container.', true)
      if (claims) return claims
    }
    throw unauthorized('The access token cannot be verified: its key is not known here.', true)
  }

  /**
   * Every app receives tokens of its visitors, signed with the same key; a token of another app must not be accepted here.
   * With `forward_token: full` the owner's own token arrives, which has no `aud`; no other app receives one.
   * @param {JWTPayload} claims
   */
  #isForUs({ aud }) {
    return aud === undefined || aud === this.#audience
  }
}

/**
 * @param {string} token
 * @param {JWTVerifyGetKey} keys
 * @returns {Promise<(JWTPayload & { sub: string, exp: number }) | undefined>} undefined when none of these keys made it
 */
async function verify(token, keys) {
  try {
    const { payload } = await jwtVerify(token, keys, { algorithms, requiredClaims: ['sub', 'exp'] })
    const { sub = '', exp = 0 } = payload
    return { ...payload, sub, exp }
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey || error instanceof KeysUnavailable) return undefined
    if (error instanceof errors.JOSEError) throw unauthorized('The access token is not valid, or not any more.', true)
    throw error
  }
}

class KeysUnavailable extends Error {}

/**
 * jose caches what it fetched and waits between two fetches, but it asks a server that fails again each time.
 * @param {URL} url
 * @returns {JWTVerifyGetKey}
 */
function remoteKeys(url) {
  const keys = createRemoteJWKSet(url, { timeoutDuration: fetching.limit, cooldownDuration: fetching.pause })
  let pausedUntil = 0
  return async (header, token) => {
    if (Date.now() < pausedUntil) throw new KeysUnavailable()
    try {
      return await keys(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) throw error
      pausedUntil = Date.now() + fetching.pause
      throw new KeysUnavailable('the key server did not answer', { cause: error })
    }
  }
}

/**
 * The header decides when there is one; an invalid header is not replaced by the cookie.
 * @param {IncomingMessage} request
 * @returns {string | undefined}
 */
export function tokenOf({ headers }) {
  if (headers.authorization !== undefined) {
    return /^bearer +(\S+) *$/i.exec(headers.authorization)?.[1] ?? ''
  }
  const tokens = cookieValues(headers.cookie ?? '', 'spawner_token')
  // Scripts of other apps on this host can add a cookie of the same name. Guessing which one is right would help them.
  if (new Set(tokens).size > 1) throw unauthorized('There is more than one access token. Sign out and in again.', true)
  return tokens[0]
}

/**
 * @param {string} cookies
 * @param {string} name
 */
function cookieValues(cookies, name) {
  const pairs = cookies.split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/**
 * @param {string} message
 * @param {boolean} [isInvalid] a token was there
 */
function unauthorized(message, isInvalid = false) {
  return new Refusal(401, message, { 'www-authenticate': isInvalid ? 'Bearer error="invalid_token"' : 'Bearer' })
}
