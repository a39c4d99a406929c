import { isDeepStrictEqual } from 'node:util'
import { importJWK, type CryptoKey, type JWK } from 'jose'
import { longestToken } from '../../token-cookies.ts'
import { readToken, TokenChecks, tokenKey, type ReadToken } from '../../token-checks.ts'
import type { Person, Revocation } from '../gateway.ts'
import { clock } from './clock.ts'

/** Verified tokens remembered, so that a signature (about 100 us) is checked once and not at every request. */
const mostRemembered = 20_000
/** How far two clocks may be apart, in ms; a token from later than that was made before the clock was set back. */
const mostAhead = 60_000
/** How long a revocation is kept after its token has expired, in ms: a clock that is set back must not find it gone. */
const keptFor = 2 * 86_400_000

/** How each signed token begins: `{"` in base64url. */
const tokenStart = 'eyJ'
/** Words of a token's form that are looked at in one header; apps' own cookies hold a few. */
const maxTokenWords = 32

/** What a valid token of ours says. */
export interface Caller {
  readonly userId: number
  readonly jti: string
  /** What `jti` begins with: see `Revocation`. */
  readonly era: string
  /** ms since 1970 */
  readonly issuedAt: number
  readonly expiresAt: number
  /** Who acts for the user with it, as the claim `act` says; null when it is their own. */
  readonly acting: string | null
  /** What this person has open, whichever token opened it. */
  readonly open: { requests: number; webSockets: number }
  /** The token itself, for `forward_token: full`. */
  readonly token: string
  /** What its signature was checked with. */
  readonly key: Key
}

/** A public key of the control plane, in its own form and as it is used. */
interface Key {
  readonly jwk: Readonly<Record<string, unknown>>
  readonly imported: CryptoKey
}

/** Who may have tokens, which tokens are good, and which were revoked. */
export class People {
  #byId = new Map<number, Person>()
  #bySlug = new Map<string, Person>()
  #revoked = new Map<string, number>()
  #keys = new Map<unknown, Key>()
  readonly #verified = new Map<string, Caller>()
  readonly #checks = new TokenChecks()
  /** By user; it lasts as long as a caller of theirs is remembered or has something open. */
  readonly #open = new Map<number, WeakRef<Caller['open']>>()

  get(userId: number): Person | undefined {
    return this.#byId.get(userId)
  }

  bySlug(slug: string): Person | undefined {
    return this.#bySlug.get(slug)
  }

  set(person: Person): void {
    this.remove(person.userId)
    this.#byId.set(person.userId, person)
    this.#bySlug.set(person.slug, person)
  }

  remove(userId: number): void {
    const person = this.#byId.get(userId)
    if (!person) return
    this.#byId.delete(userId)
    this.#bySlug.delete(person.slug)
  }

  revoke({ jti, expiresAt }: Revocation): void {
    this.#revoked.set(jti, expiresAt)
  }

  replace(people: readonly Person[], revoked: readonly Revocation[]): void {
    this.#byId = new Map(people.map((person) => [person.userId, person]))
    this.#bySlug = new Map(people.map((person) => [person.slug, person]))
    this.#revoked = new Map(revoked.map(({ jti, expiresAt }) => [jti, expiresAt]))
  }

  /** Forgets revocations of tokens that have expired by themselves, and long ago, and what nobody has open any more. */
  prune(): void {
    for (const [jti, expiresAt] of this.#revoked) if (expiresAt + keptFor <= clock.wall) this.#revoked.delete(jti)
    for (const [token, { expiresAt }] of this.#verified) if (expiresAt <= clock.wall) this.#verified.delete(token)
    for (const [userId, open] of this.#open) if (open.deref() === undefined) this.#open.delete(userId)
  }

  /** Users whose open requests are counted, for tests of `prune`. */
  get counted(): number {
    return this.#open.size
  }

  /** What was signed with any other key counts no more. @param keys RFC 7517 public keys @throws when one is no key */
  async setKeys(keys: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const read = new Map<unknown, Key>()
    for (const jwk of keys) {
      const known = this.#keys.get(jwk['kid'])
      // The next control plane tells the same keys, and what was checked with them stays checked.
      read.set(jwk['kid'], known && isDeepStrictEqual(known.jwk, jwk) ? known : await readKey(jwk))
    }
    this.#keys = read
    this.#verified.clear()
    this.#checks.clear()
  }

  /** Whether this caller may act now; asked again at every request and for everything open. Source: specification, Authentication 3. */
  isGood({ userId, jti, era, issuedAt, expiresAt, key }: Caller): boolean {
    const person = this.#byId.get(userId)
    // A token from before its user existed is somebody else's. Tokens count in whole seconds.
    return (
      person !== undefined &&
      expiresAt > clock.wall &&
      issuedAt <= clock.wall + mostAhead &&
      !this.#revoked.has(jti) &&
      !this.#revoked.has(era) &&
      issuedAt + 1_000 > person.createdAt &&
      this.#keys.get(key.jwk['kid']) === key
    )
  }

  /** The caller of a token that was verified before. */
  remembered(token: string): Caller | undefined {
    return this.#verified.get(token)
  }

  isRemembered(token: string): boolean {
    return this.#verified.has(token)
  }

  /** Whether a token says that it was signed with a key of ours, valid or not; junk costs no signature check. */
  isOurs(token: string): boolean {
    return this.#keys.has(tokenKey(token))
  }

  /** Whether only its signature, which is not looked at, can be wrong, and was not found wrong before. */
  isPlausible(token: string): boolean {
    return this.#callerIn(token) !== undefined && !this.#checks.isRejected(token)
  }

  /** How many of so many unknown tokens of one request may be checked; see `TokenChecks`. */
  checksAllowed(address: string, wanted: number): number {
    return this.#checks.allowed(address, wanted)
  }

  /**
   * Whether one of our tokens stands anywhere in a header's value: bare, behind a scheme, in a cookie of another name, or in
   * `Basic` credentials. Linear in the length; a value with very many words of a token's form counts as holding one.
   */
  holdsOurs(value: string): boolean {
    const words = tokenWords(value)
    return words.length > maxTokenWords || words.some((word) => this.#keys.has(kidIn(word)))
  }

  /** What tells the lines of such a text that go: those that hold a token of ours, or all that may when there are very many. */
  suspects(text: string): (line: string) => boolean {
    const isFull = tokenWords(text).length > maxTokenWords
    return (line) => (isFull ? line.includes(tokenStart) || /:[ \t]*basic /i.test(line) : this.holdsOurs(line))
  }

  /**
   * The caller of a token with a good signature that has not expired; undefined for everything else.
   * @param address the client's, to whom a bad signature is charged
   */
  verify(token: string, address: string): Caller | undefined {
    const known = this.#verified.get(token)
    if (known) return known
    const caller = this.isPlausible(token) ? this.#callerIn(token) : undefined
    if (!caller || !this.#checks.isSigned(token, caller.key.imported, address)) return undefined
    if (this.#verified.size >= mostRemembered)
      for (const oldest of this.#verified.keys()) if (this.#verified.delete(oldest)) break
    // A part of a head would keep all of it in memory.
    const own = Buffer.from(token, 'latin1').toString('latin1')
    const remembered = { ...caller, token: own, open: this.#openOf(caller.userId) }
    this.#verified.set(own, remembered)
    return remembered
  }

  #openOf(userId: number): Caller['open'] {
    const known = this.#open.get(userId)?.deref()
    if (known) return known
    const open = { requests: 0, webSockets: 0 }
    this.#open.set(userId, new WeakRef(open))
    return open
  }

  /** Who a token says that it is of, when that is possible now; its signature is not checked. */
  #callerIn(token: string): Omit<Caller, 'open'> | undefined {
    const read = readToken(token)
    const key = read && this.#keys.get(read.kid)
    return key && callerOf(read, key, token)
  }
}

/** Only a container's own token has an audience; it opens nothing. */
function callerOf({ claims }: ReadToken, key: Key, token: string): Omit<Caller, 'open'> | undefined {
  const { sub, jti, iat, exp, aud } = claims
  const acting = actingIn(claims)
  if (aud !== undefined || acting === undefined || typeof jti !== 'string') return undefined
  if (typeof sub !== 'string' || !/^[1-9]\d{0,14}$/.test(sub)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp * 1000 <= clock.wall) return undefined
  return { userId: Number(sub), jti, era: eraOf(jti), issuedAt: iat * 1000, expiresAt: exp * 1000, acting, token, key }
}

/**
 * Parts of a text that have the form of a signed token. The signature is left out: decoders accept it with characters
 * that do not belong there, while what is signed has to stand there as it was written.
 */
function tokenWords(text: string): string[] {
  let at = text.indexOf(tokenStart)
  if (at === -1) {
    const basic = /^basic +([\w+/=-]+)/i.exec(text)?.[1]
    return basic === undefined ? [] : tokenWords(`: ${Buffer.from(basic, 'base64').toString('latin1')}`)
  }
  const words: string[] = []
  for (let seen = 0; at !== -1; at = text.indexOf(tokenStart, word.lastIndex)) {
    word.lastIndex = at
    const [head = '', payload = ''] = (word.exec(text)?.[0] ?? '').slice(0, longestToken).split('.', 2)
    if (payload !== '') words.push(head)
    // Beginnings without an end count as well, so that nobody has to look at thousands of them.
    if (++seen > maxTokenWords) return Array<string>(seen).fill(head)
  }
  return words
}

/** Used at a place: from there on, all that can belong to a token. */
const word = /[\w.-]+/y

const kidIn = (head: string) => tokenKey(`${head}.`)

/** RFC 8693, 4.1. Undefined when the claim is none of ours. */
function actingIn({ act }: ReadToken['claims']): string | null | undefined {
  if (act === undefined) return null
  const sub = typeof act === 'object' && act !== null && 'sub' in act ? act.sub : undefined
  return typeof sub === 'string' && /^([1-9]\d{0,14}|operator)$/.test(sub) ? sub : undefined
}

async function readKey(jwk: Key['jwk']): Promise<Key> {
  // importJWK answers bytes for symmetric keys only.
  return { jwk, imported: (await importJWK(jwk as JWK, (jwk as JWK).alg)) as CryptoKey }
}

const eraOf = (jti: string) => jti.slice(0, Math.max(0, jti.indexOf('.')))
