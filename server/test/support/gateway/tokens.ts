import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { GatewayUser } from '@berth/gateway/port/gateway.ts'

/** The signature key of the stand-in control plane; one for all gateways of a test file. */
const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const kid = 'bench'
export const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }

export interface TokenTerms {
  /** Seconds from now on; negative for a token that has expired. An hour when left out. */
  readonly expiresIn?: number
  readonly jti?: string
  /** Seconds that it is old. */
  readonly age?: number
  /** Only tokens for apps have one. */
  readonly audience?: string
  /** Session that it belongs to; none for a token from before sessions. */
  readonly sid?: string
  /** Who acts for the user. */
  readonly acting?: string
}

let tokens = 0

/** A real access token, signed as the control plane signs them. */
export async function tokenFor(userId: number, terms: TokenTerms = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const { expiresIn = 3_600, jti = `token-${++tokens}`, age = 0, audience, acting, sid } = terms
  const act = acting === undefined ? {} : { act: { sub: acting } }
  const jwt = new SignJWT({ is_admin: userId === 2, ...(sid === undefined ? {} : { sid }), ...act })
    .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
    .setSubject(String(userId))
    .setJti(jti)
    .setIssuer('http://spawner.test')
    .setIssuedAt(now - age)
    .setExpirationTime(now + expiresIn)
  return (audience === undefined ? jwt : jwt.setAudience(audience)).sign(privateKey)
}

export const annToken = await tokenFor(1, { jti: 'ann' })
export const bobToken = await tokenFor(2, { jti: 'bob' })
export const maxToken = await tokenFor(3, { jti: 'max' })

const madeLongAgo = Date.now() - 86_400_000

export const annPerson: GatewayUser = {
  userId: 1,
  slug: 'ann',
  email: 'ann@example.org',
  isBlocked: false,
  isAdmin: false,
  createdAt: madeLongAgo,
}

/** Ann owns `ann-dev`; Bob is an administrator; Max is blocked and owns `max-dev`. */
export const people: readonly GatewayUser[] = [
  annPerson,
  { ...annPerson, userId: 2, slug: 'bob', email: 'bob@example.org', isAdmin: true },
  { ...annPerson, userId: 3, slug: 'max', email: 'max@example.org', isBlocked: true },
]

/** Headers of a person's browser that opens an address, and of a program of Ann's. */
export const browser = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' }
export const ann = { authorization: `Bearer ${annToken}` }
export const annCookie = { cookie: `spawner_token=${annToken}` }
export const bob = { authorization: `Bearer ${bobToken}` }
export const max = { authorization: `Bearer ${maxToken}` }
