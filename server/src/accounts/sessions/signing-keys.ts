import { createHmac } from 'node:crypto'
import path from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import { refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'
import { KeyedMutex } from '#/concurrency/keyed-mutex.ts'
import { createOnce, replaceFile } from './key-file.ts'

/** P-256 signatures: every JWT library verifies them, and apps get the public half only. */
export const algorithm = 'ES256'

/** Retired keys at once: they are in the environment of every container, which has a limit. */
const maxRetired = 10

/** A key that signs no more, and until when its last token may live. */
export interface RetiredKey {
  readonly kid: string
  readonly until: Date
}

/** What was decided of a rotation before anything has changed. */
export interface PlannedRotation {
  readonly kid: string
  readonly before: string
}

/**
 * The file: the private key that signs, the one that will sign after it, what secrets are derived from, and public halves
 * that are accepted still.
 */
type KeyFile = PrivateJwk & {
  /** Missing in files of before it was announced. */
  readonly next?: PrivateJwk
  /** Only after a rotation; before, the key's own private half is it. */
  readonly secret?: string
  readonly retired?: readonly (JWK & { readonly until: number })[]
}

type PrivateJwk = Readonly<Record<'kty' | 'crv' | 'x' | 'y' | 'd', string>>

interface Key {
  readonly kid: string
  readonly jwk: JWK
  readonly publicKey: CryptoKey
  /** Null until it was replaced. */
  readonly until: Date | null
}

interface KeyPair extends Key {
  readonly privateKey: CryptoKey
  readonly privateJwk: PrivateJwk
}

/**
 * The key pair that tokens are signed with, the one that will follow it, and those that it replaced, until their last
 * tokens have expired. The next one is announced from the beginning, because apps are given the keys once, when their
 * container is made: after a rotation every app that ran on refused its own user.
 */
export class SigningKeys {
  readonly #file: string
  readonly #mutex = new KeyedMutex()
  readonly #secret: string
  #signing: KeyPair
  #next: KeyPair
  #accepted: ReadonlyMap<string, Key>

  private constructor(file: string, secret: string, signing: KeyPair, next: KeyPair, retired: readonly Key[]) {
    this.#file = file
    this.#secret = secret
    this.#signing = signing
    this.#next = next
    this.#accepted = byKid([signing, next, ...retired])
  }

  /** @throws when the text is no such file */
  static async read(file: string, text: string): Promise<SigningKeys> {
    const { secret, next, retired = [], ...privateJwk } = JSON.parse(text) as KeyFile
    const signing = await pairOf(privateJwk)
    const old = await Promise.all(retired.map(({ until, ...jwk }) => publicOf(jwk, new Date(until))))
    const keys = new SigningKeys(file, secret ?? privateJwk.d, signing, await pairOf(next ?? (await newKey())), old)
    // Announced is only what lasts.
    if (!next) await keys.#write(signing, keys.#next, keys.#retiredKeys())
    return keys
  }

  /** Of the key that signs. */
  get kid(): string {
    return this.#signing.kid
  }

  get privateKey(): CryptoKey {
    return this.#signing.privateKey
  }

  get publicKey(): CryptoKey {
    return this.#signing.publicKey
  }

  /** RFC 7517 key set with the public halves of all that are accepted: the one that signs, the next, those that are retired. */
  get jwks(): { readonly keys: readonly JWK[] } {
    return { keys: [...this.#accepted.values()].map(({ jwk }) => jwk) }
  }

  /** The same with the one that signs alone. */
  get signingJwks(): { readonly keys: readonly JWK[] } {
    return { keys: [this.#signing.jwk] }
  }

  get retired(): RetiredKey[] {
    return this.#retiredKeys().map(({ kid, until }) => ({ kid, until }))
  }

  /** What signatures by this key are checked with; undefined when it is none of ours, or not any more. */
  accepted(kid: string | undefined): CryptoKey | undefined {
    return kid === undefined ? undefined : this.#accepted.get(kid)?.publicKey
  }

  /** A secret of this installation for `purpose`; different purposes get unrelated secrets. A rotation changes none. */
  secretFor(purpose: string): Buffer {
    return createHmac('sha256', this.#secret).update(purpose).digest()
  }

  /**
   * Signs with the next key from now on, and announces another one. The old one is accepted until `until`. In this order,
   * so that nobody meets a token of a key that they do not know, and a process that dies anywhere leaves one key that signs:
   * `onPlanned` (nothing has changed) · the file, durable · accepted here · `onAccepted` (told to others) · signing.
   * @throws {Refusal} 409 when too many are retired · what the steps throw; then the old key signs on, here and
   *   after a restart
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
        // The old key signs on. Were it retired in the file, a restart after `until` would sign everybody out. Should this
        // fail as well, the next rotation, or the next key that is dropped, writes what holds.
        await this.#write(before, signing, this.#retiredKeys()).catch(() => undefined)
        throw error
      }
      this.#signing = signing
      this.#next = next
      this.#accepted = byKid([signing, next, ...retired])
    })
  }

  /** Accepts retired keys no more whose time is over. @returns how many those were */
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
    await replaceFile(this.#file, JSON.stringify(file))
  }
}

/**
 * Reads the signing keys, or makes the first at first start. Asymmetric, because apps in containers verify tokens: with a
 * shared secret each of them could make an administrator's.
 * @param dataDir they are `signing-key.json` in it, readable by its owner only
 * @throws when the file is there but is not a key: making a new one would sign everybody out without a word
 */
export async function loadSigningKeys(dataDir: string): Promise<SigningKeys> {
  const file = path.join(dataDir, 'signing-key.json')
  const text = await createOnce(file, async () => JSON.stringify(await newKey()))
  try {
    return await SigningKeys.read(file, text)
  } catch (error) {
    throw new Error(`${file} is not a signing key; restore it from a backup, or remove it to sign everybody out`, {
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
  // importJWK answers bytes for symmetric keys only.
  const privateKey = (await importJWK(privateJwk, algorithm)) as CryptoKey
  return { ...(await publicOf(privateJwk, null)), privateKey, privateJwk }
}

async function publicOf(given: JWK, until: Date | null): Promise<Key> {
  const { kty, crv, x, y } = given as Record<'kty' | 'crv' | 'x' | 'y', string>
  const kid = await calculateJwkThumbprint({ kty, crv, x, y })
  const jwk: JWK = { kty, crv, x, y, kid, alg: algorithm, use: 'sig' }
  return { kid, jwk, until, publicKey: (await importJWK(jwk, algorithm)) as CryptoKey }
}
