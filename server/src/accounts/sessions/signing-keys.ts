import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { chmod, link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import { message } from '@berth/texts/localized-message.ts'
import { sync } from '#/machine/disk-room.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { refusals } from '#/refusals/errors.ts'

/** P-256 signatures: every JWT library verifies them, and apps get the public key only. */
export const algorithm = 'ES256'

/** Max retired keys: they are in the environment of every container, which has a limit. */
const maxRetired = 10

/** A replaced key, and the latest expiry of its tokens. */
export interface RetiredKey {
  readonly kid: string
  readonly until: Date
}

/** A rotation before anything has changed. */
export interface PlannedRotation {
  readonly kid: string
  readonly before: string
}

/**
 * Content of the file: the private key that signs, the next one, the secret that others are derived from, and the
 * public keys that are still accepted.
 */
type KeyFile = PrivateJwk & {
  /** Missing in files of versions that did not announce it. */
  readonly next?: PrivateJwk
  /** Only after a rotation; before that the key's own private part is used. */
  readonly secret?: string
  readonly retired?: readonly (JWK & { readonly until: number })[]
}

type PrivateJwk = Readonly<Record<'kty' | 'crv' | 'x' | 'y' | 'd', string>>

/** Called after each change of the file, with its text; the change fails when it rejects. */
type KeysWritten = (text: string) => Promise<void>

interface KeyPlace {
  readonly file: string
  readonly onWritten?: KeysWritten | undefined
}

interface Key {
  readonly kid: string
  readonly jwk: JWK
  readonly publicKey: CryptoKey
  /** Null until it is replaced. */
  readonly until: Date | null
}

interface KeyPair extends Key {
  readonly privateKey: CryptoKey
  readonly privateJwk: PrivateJwk
}

/**
 * Signing keys of access tokens: the present one, the next one, and retired ones until their last tokens expire (key
 * rotation). The next one is announced from the beginning, because apps receive the keys once, when their container is
 * created: without that every running app refused its own user after a rotation.
 */
export class SigningKeys {
  readonly #file: string
  readonly #onWritten: KeysWritten | undefined
  readonly #mutex = new KeyedMutex()
  readonly #secret: string
  #signing: KeyPair
  #next: KeyPair
  #accepted: ReadonlyMap<string, Key>

  private constructor(
    { file, onWritten }: KeyPlace,
    secret: string,
    signing: KeyPair,
    next: KeyPair,
    retired: readonly Key[],
  ) {
    this.#file = file
    this.#onWritten = onWritten
    this.#secret = secret
    this.#signing = signing
    this.#next = next
    this.#accepted = byKid([signing, next, ...retired])
  }

  /** @throws when the text is no such file */
  static async read(place: KeyPlace, text: string): Promise<SigningKeys> {
    const { secret, next, retired = [], ...privateJwk } = JSON.parse(text) as KeyFile
    const signing = await pairOf(privateJwk)
    const old = await Promise.all(retired.map(({ until, ...jwk }) => publicOf(jwk, new Date(until))))
    const keys = new SigningKeys(place, secret ?? privateJwk.d, signing, await pairOf(next ?? (await newKey())), old)
    // Only a stored key is announced.
    if (!next) await keys.#write(signing, keys.#next, keys.#retiredKeys())
    return keys
  }

  /** Id of the signing key. */
  get kid(): string {
    return this.#signing.kid
  }

  get privateKey(): CryptoKey {
    return this.#signing.privateKey
  }

  get publicKey(): CryptoKey {
    return this.#signing.publicKey
  }

  /** RFC 7517 key set with all accepted public keys: the present one, the next one, and retired ones. */
  get jwks(): { readonly keys: readonly JWK[] } {
    return { keys: [...this.#accepted.values()].map(({ jwk }) => jwk) }
  }

  /** The same with the present one alone. */
  get signingJwks(): { readonly keys: readonly JWK[] } {
    return { keys: [this.#signing.jwk] }
  }

  get retired(): RetiredKey[] {
    return this.#retiredKeys().map(({ kid, until }) => ({ kid, until }))
  }

  /** Public key that verifies signatures by this key; undefined when it is unknown, or not accepted any more. */
  accepted(kid: string | undefined): CryptoKey | undefined {
    return kid === undefined ? undefined : this.#accepted.get(kid)?.publicKey
  }

  /** A secret of this installation for `purpose`; different purposes get unrelated secrets. A rotation changes none. */
  secretFor(purpose: string): Buffer {
    return createHmac('sha256', this.#secret).update(purpose).digest()
  }

  /**
   * The secret of `secretFor` as the key of an HMAC: with bytes each HMAC takes 11 us in place of 2.5, because Node
   * makes a key of them.
   */
  hmacKeyFor(purpose: string): KeyObject {
    return createSecretKey(this.secretFor(purpose))
  }

  /**
   * Key rotation: signs with the next key from now on, and announces another one. The old one is accepted until
   * `until`. The order guarantees that every token's key is known, and that a process that dies anywhere leaves one key
   * that signs: `onPlanned` (nothing has changed) · the file, durable · accepted here · `onAccepted` (published) ·
   * signing.
   * @throws {Refusal} 409 when too many are retired · what the steps throw; then the old key stays in use, here and
   * after a restart
   */
  async rotate(
    until: Date,
    steps: { onPlanned(planned: PlannedRotation): Promise<void>; onAccepted(): Promise<void> },
  ): Promise<void> {
    await this.#mutex.run('file', async () => {
      if (this.retired.length >= maxRetired)
        throw refusals.conflict(message('requests.tooManyKeys', { max: maxRetired }))
      const [before, signing, next] = [this.#signing, this.#next, await pairOf(await newKey())]
      await steps.onPlanned({ kid: signing.kid, before: before.kid })
      const [accepted, retired] = [this.#accepted, [{ ...before, until }, ...this.#retiredKeys()]]
      await this.#write(signing, next, retired)
      this.#accepted = byKid([before, signing, next, ...this.#retiredKeys()])
      try {
        await steps.onAccepted()
      } catch (error) {
        this.#accepted = accepted
        // The old key stays in use. If the file had it as retired, a restart after `until` would end every session. If
        // this fails as well, the next rotation, or the next dropped key, writes the present state.
        await this.#write(before, signing, this.#retiredKeys()).catch(() => undefined)
        throw error
      }
      this.#signing = signing
      this.#next = next
      this.#accepted = byKid([signing, next, ...retired])
    })
  }

  /** Drops retired keys whose tokens have expired. @returns their number */
  async dropExpired(now: Date): Promise<number> {
    const isOver = ({ until }: Pick<RetiredKey, 'until'>) => until <= now
    if (!this.retired.some(isOver)) return 0
    return this.#mutex.run('file', async () => {
      const all = this.#retiredKeys()
      const left = all.filter((key) => !isOver(key))
      await this.#write(this.#signing, this.#next, left)
      this.#accepted = byKid([this.#signing, this.#next, ...left])
      return all.length - left.length
    })
  }

  #retiredKeys(): (Key & RetiredKey)[] {
    return [...this.#accepted.values()].filter((key): key is Key & RetiredKey => key.until !== null)
  }

  async #write({ privateJwk }: KeyPair, next: KeyPair, retired: readonly (Key & RetiredKey)[]): Promise<void> {
    const file: KeyFile = {
      ...privateJwk,
      next: next.privateJwk,
      secret: this.#secret,
      retired: retired.map(({ jwk, until }) => ({ ...jwk, until: until.getTime() })),
    }
    const text = JSON.stringify(file)
    await replaceFile(this.#file, text)
    await this.#onWritten?.(text)
  }
}

/** Name of the file in the data folder. */
export const signingKeyFile = 'signing-key.json'

/**
 * Loads the signing keys, or creates the first ones. Asymmetric, because apps in containers verify tokens: with a
 * shared secret each of them could forge an administrator's.
 * @param dataDir they are `signing-key.json` in it, readable by its owner only @param onWritten for another copy of the
 * file
 * @throws when the file exists but is no key: creating a new one would end every session silently
 */
export async function loadSigningKeys(dataDir: string, onWritten?: KeysWritten): Promise<SigningKeys> {
  const file = path.join(dataDir, signingKeyFile)
  const text = await createOnce(file, async () => JSON.stringify(await newKey()))
  try {
    return await SigningKeys.read({ file, onWritten }, text)
  } catch (error) {
    throw new Error(`${file} is not a signing key; restore it from a backup, or remove it, which ends every session`, {
      cause: error,
    })
  }
}

const byKid = (keys: readonly Key[]) => new Map(keys.map((key) => [key.kid, key]))

async function newKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return (await exportJWK(privateKey)) as unknown as PrivateJwk
}

async function pairOf({ kty, crv, x, y, d }: PrivateJwk): Promise<KeyPair> {
  if (!d) throw new Error('it has no private half')
  const privateJwk = { kty, crv, x, y, d }
  // importJWK returns bytes for symmetric keys only.
  const privateKey = (await importJWK(privateJwk, algorithm)) as CryptoKey
  return { ...(await publicOf(privateJwk, null)), privateKey, privateJwk }
}

async function publicOf(given: JWK, until: Date | null): Promise<Key> {
  const { kty, crv, x, y } = given as Record<'kty' | 'crv' | 'x' | 'y', string>
  const kid = await calculateJwkThumbprint({ kty, crv, x, y })
  const jwk: JWK = { kty, crv, x, y, kid, alg: algorithm, use: 'sig' }
  return { kid, jwk, until, publicKey: (await importJWK(jwk, algorithm)) as CryptoKey }
}

/**
 * The text of a file of keys, which is created when it is missing: readable by its owner only, and never incomplete, even if the
 * writing process dies. If another process creates it first, its text is returned.
 * @param make creates the text @throws when it cannot be read or created
 */
export async function createOnce(file: string, make: () => Promise<string>): Promise<string> {
  const text = (await readIfThere(file)) ?? (await create(file, await make()))
  await chmod(file, 0o600)
  // Left by a process that died while it wrote; no other process uses this path.
  await unlinkIfThere(asideOf(file))
  return text
}

/** Replaces a file; durable when it resolves. When it rejects, the file is unchanged. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const aside = asideOf(file)
  await unlinkIfThere(aside)
  await writeFile(aside, text, { flag: 'wx', mode: 0o600, flush: true })
  await rename(aside, file)
  await sync(path.dirname(file))
}

const asideOf = (file: string) => `${file}.next`

async function create(file: string, text: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const aside = `${file}.${process.pid}`
  await writeFile(aside, text, { mode: 0o600, flush: true })
  try {
    await link(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(aside)
  }
  return readFile(file, 'utf8')
}

async function readIfThere(file: string): Promise<string | undefined> {
  return unlessMissing(readFile(file, 'utf8'))
}

async function unlinkIfThere(file: string): Promise<void> {
  await unlessMissing(unlink(file))
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
