import { createHmac, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { exportSPKI } from 'jose'
import { AccessTokens } from '../../server/src/accounts/sessions/access-token.ts'
import { loadSigningKeys } from '../../server/src/accounts/sessions/signing-keys.ts'
import { scratch } from './programs.ts'
import { busy, talking } from './routes.ts'

/** An access token by user id. */
export type Tokens = ReadonlyMap<number, string>

/** The tokens of all users, signed with a key as Berth creates it at its first start. */
export interface Credentials {
  /** As Berth issues them: ES256. */
  readonly tokens: Tokens
  /** The same claims with a shared secret: HAProxy's cheapest check. */
  readonly tokensHs256: Tokens
  readonly secret: string
  /** The public key, RFC 7517. */
  readonly keys: readonly Readonly<Record<string, unknown>>[]
  /** The public key as a PEM file. */
  readonly pemFile: string
}

/** In seconds; longer than any run. */
const lifetime = 7200

export async function makeCredentials(): Promise<Credentials> {
  const key = await loadSigningKeys(path.join(scratch, 'key'))
  const issuing = new AccessTokens(key, 'http://berth.localhost:8080', lifetime, randomUUID)
  const secret = key.secretFor('bench').toString('hex')
  const pemFile = path.join(scratch, 'key.pem')
  await writeFile(pemFile, await exportSPKI(key.publicKey))
  const tokens = new Map<number, string>()
  for (const { userId } of [...busy, ...talking])
    tokens.set(userId, await issuing.issue({ id: userId, isAdmin: false }, issuing.plan(new Date())))
  const tokensHs256 = new Map([...tokens].map(([userId, token]) => [userId, underSecret(token, secret)]))
  return { tokens, tokensHs256, secret, keys: key.jwks.keys.map((each) => ({ ...each })), pemFile }
}

function underSecret(token: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url')
  const signed = `${header}.${token.split('.')[1]}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
