import { createHmac } from 'node:crypto'
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'

/** P-256 signatures: every JWT library verifies them, and apps get the public half only. */
export const algorithm = 'ES256'

/** The key pair that tokens are signed with. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  /** RFC 7517 key set with the public half. */
  readonly jwks: { readonly keys: readonly JWK[] }
  /** A secret of this installation for `purpose`; different purposes get unrelated secrets. */
  secretFor(purpose: string): Buffer
}

/**
 * Reads the signing key, or makes it at first start. Asymmetric, because apps in containers verify tokens: with a
 * shared secret each of them could make an administrator's.
 * @param dataDir the key is `signing-key.json` in it, readable by its owner only
 * @throws when the file is there but is not a key: making a new one would sign everybody out without a word
 */
export async function loadSigningKey(dataDir: string): Promise<SigningKey> {
  const file = path.join(dataDir, 'signing-key.json')
  const stored = (await readIfThere(file)) ?? (await createKeyFile(dataDir, file))
  await chmod(file, 0o600)
  try {
    return await fromJwk(JSON.parse(stored) as JWK)
  } catch (error) {
    throw new Error(`${file} is not a signing key; restore it from a backup, or remove it to sign everybody out`, {
      cause: error,
    })
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Whole or not at all: written aside and linked into place; when another process was first, its key counts. */
async function createKeyFile(dataDir: string, file: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const aside = `${file}.${process.pid}`
  await writeFile(aside, JSON.stringify(await exportJWK(privateKey)), { mode: 0o600 })
  try {
    await link(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(aside)
  }
  return readFile(file, 'utf8')
}

async function fromJwk(jwk: JWK): Promise<SigningKey> {
  const { kty, crv, x, y, d } = jwk as Record<'kty' | 'crv' | 'x' | 'y' | 'd', string>
  if (!d) throw new Error('it has no private half')
  const kid = await calculateJwkThumbprint({ kty, crv, x, y })
  const publicJwk: JWK = { kty, crv, x, y, kid, alg: algorithm, use: 'sig' }
  return {
    kid,
    // importJWK answers bytes for symmetric keys only.
    privateKey: (await importJWK({ kty, crv, x, y, d }, algorithm)) as CryptoKey,
    publicKey: (await importJWK(publicJwk, algorithm)) as CryptoKey,
    jwks: { keys: [publicJwk] },
    secretFor: (purpose) => createHmac('sha256', d).update(purpose).digest(),
  }
}
