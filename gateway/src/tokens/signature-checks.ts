import { KeyObject, hash, verify, type webcrypto } from 'node:crypto'
import { networkOf } from '#/basics/ip-address.ts'
import { maxTokenLength } from './token-selection.ts'

/**
 * Parsing and verifying signed tokens (JWT) at a bounded cost for any sender; gateway and API each use an instance.
 * Ours, because `jose` verifies asynchronously and has no cache or limit; it still imports the keys.
 * A signature costs as much as everything else of a request, so it is checked last, once per token.
 */

/** Claims of a token whose signature is not verified. */
export interface UnverifiedToken {
  readonly kid: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** The only algorithm of our keys: ECDSA with P-256 and SHA-256. */
const algorithm = 'ES256'
/** Characters of its signature: 64 bytes in base64url. */
const signatureForm = /^[\w-]{86}$/
/** `{"` in base64url: junk is not decoded. */
const tokenStart = 'eyJ'
/** Max length of a token's header, in characters; ours have about 120. */
const maxHeader = 512

/**
 * Parses a token of our format; undefined for anything else. Never throws. What was parsed last is remembered: one request is
 * asked about the same tokens several times, before their signatures are checked and after.
 */
export function parseToken(token: string): UnverifiedToken | undefined {
  if (!token.startsWith(tokenStart)) return undefined
  const known = parsed.find((each) => each.token === token)
  if (known) return known.read
  const read = parse(token)
  parsed[nextParsed] = { token, read }
  nextParsed = (nextParsed + 1) % maxParsed
  return read
}

/** Max tokens that are remembered as they were parsed: as many as are looked at for one request. */
const maxParsed = 8
/** Each may keep the head of its request in memory, of 32 KB. */
const parsed: { readonly token: string; readonly read: UnverifiedToken | undefined }[] = []
let nextParsed = 0

function parse(token: string): UnverifiedToken | undefined {
  const kid = tokenKeyId(token)
  const [, payload = '', signature = '', ...more] = kid === undefined ? [] : token.split('.', 4)
  if (kid === undefined || more.length > 0 || !signatureForm.test(signature)) return undefined
  const claims = jsonIn(payload)
  return claims && { kid, claims }
}

/** The id of the key that a token says it is signed with; undefined when it is no token of our format, even if it names a key. */
export function tokenKeyId(token: string): string | undefined {
  const end = token.length > maxTokenLength ? -1 : token.indexOf('.')
  if (end < 0 || end > maxHeader || !token.startsWith(tokenStart)) return undefined
  const encoded = token.slice(0, end)
  const known = keyIds.get(encoded)
  if (known !== undefined) return known
  const header = jsonIn(encoded)
  if (header?.['alg'] !== algorithm || header['crit'] !== undefined || typeof header['kid'] !== 'string')
    return undefined
  if (keyIds.size >= maxHeaders) keyIds.clear()
  // A part of a head would keep all of it in memory.
  keyIds.set(Buffer.from(encoded, 'latin1').toString('latin1'), header['kid'])
  return header['kid']
}

/** Key ids by encoded header: all tokens of a key have the same one, and parsing it costs as much as parsing the claims. */
const keyIds = new Map<string, string>()
/** Max headers that are remembered. */
const maxHeaders = 16

function jsonIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Max tokens with a bad signature that are remembered; above it the oldest are dropped. */
const maxRejected = 5_000
/** Max addresses whose bad signatures are counted; above it the oldest are dropped. */
const maxAddresses = 10_000
/** Bad signatures that one address may send before its requests are limited to one signature check each. */
const budgetSize = 32
/** Interval at which it may send one more, in ms. */
const budgetRefillInterval = 2_000

/**
 * Single check per token, and a budget per address (a token bucket): a browser into which a hostile page has tossed
 * forged tokens (cookie tossing) learns at once which one is real, and a client that sends many forgeries costs one check
 * per request.
 */
export class SignatureChecks {
  /** By digest: a rejected token may be long, and would keep a head of 32 KB in memory. */
  readonly #rejected = new Set<string>()
  readonly #budgets = new Map<string, { left: number; at: number }>()

  /** Whether its signature was found bad before. */
  isRejected(token: string): boolean {
    return this.#rejected.has(digestOf(token))
  }

  /** Number of unknown tokens of one request that may be checked: all, or one when the address has no budget left. */
  allowed(address: string, wanted: number): number {
    return wanted <= 1 || this.#left(networkOf(address)) >= 1 ? wanted : 1
  }

  /** Verifies a signature, synchronously. A bad one is remembered, and charged to the address. */
  isSigned(token: string, key: webcrypto.CryptoKey, address: string): boolean {
    const end = token.lastIndexOf('.')
    const signature = derSignature(Buffer.from(token.slice(end + 1), 'base64url'))
    if (verify('sha256', Buffer.from(token.slice(0, end), 'latin1'), keyObjectOf(key), signature)) return true
    if (this.#rejected.size >= maxRejected) this.#rejected.delete(oldest(this.#rejected))
    this.#rejected.add(digestOf(token))
    this.#charge(networkOf(address))
    return false
  }

  /** The keys have changed: rejected tokens may be valid now. */
  clear(): void {
    this.#rejected.clear()
  }

  #left(network: string): number {
    const budget = this.#budgets.get(network)
    return budget === undefined
      ? budgetSize
      : Math.min(budgetSize, budget.left + (performance.now() - budget.at) / budgetRefillInterval)
  }

  #charge(network: string): void {
    const left = Math.max(0, this.#left(network) - 1)
    this.#budgets.delete(network)
    if (this.#budgets.size >= maxAddresses) this.#budgets.delete(oldest(this.#budgets))
    this.#budgets.set(network, { left, at: performance.now() })
  }
}

const digestOf = (token: string) => hash('sha256', token, 'base64url')

function oldest(kept: ReadonlySet<string> | ReadonlyMap<string, unknown>): string {
  for (const key of kept.keys()) return key
  return ''
}

const keyObjects = new WeakMap<webcrypto.CryptoKey, KeyObject>()

function keyObjectOf(key: webcrypto.CryptoKey): KeyObject {
  const known = keyObjects.get(key) ?? KeyObject.from(key)
  keyObjects.set(key, known)
  return known
}

/** Bytes of one of the two numbers of a signature by P-256. */
const numberSize = 32
/** Tags of ASN.1 (X.690): a sequence, and an integer. */
const [sequence, integer] = [0x30, 0x02]

/**
 * The ASN.1 form (ECDSA-Sig-Value, RFC 3279) of the signature of a token, which has the two numbers one after the other
 * (RFC 7518, 3.4). Node converts it, too, but exports the key from OpenSSL each time, which costs 15 us of a
 * check that a request without an account can cause.
 * @param signature 64 bytes
 */
export function derSignature(signature: Buffer): Buffer {
  const [r, s] = [new UnsignedInteger(signature, 0), new UnsignedInteger(signature, numberSize)]
  const der = Buffer.alloc(2 + r.size + s.size)
  der[0] = sequence
  der[1] = r.size + s.size
  r.writeTo(der, 2)
  s.writeTo(der, 2 + r.size)
  return der
}

/** A number in ASN.1: without zeros in front, but with one where the first bit is set, which is the sign. */
class UnsignedInteger {
  readonly #bytes: Buffer
  readonly #first: number
  readonly #end: number
  readonly #length: number

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes
    this.#end = start + numberSize
    let first = start
    while (first < this.#end - 1 && bytes[first] === 0) first++
    this.#first = first
    this.#length = this.#end - first + ((bytes[first] ?? 0) >= 0x80 ? 1 : 0)
  }

  /** Bytes that it takes, with its tag and its length. */
  get size(): number {
    return 2 + this.#length
  }

  writeTo(der: Buffer, at: number): void {
    der[at] = integer
    der[at + 1] = this.#length
    this.#bytes.copy(der, at + 2 + this.#length - (this.#end - this.#first), this.#first, this.#end)
  }
}
