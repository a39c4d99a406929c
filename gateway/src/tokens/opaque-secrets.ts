import { randomFillSync } from 'node:crypto'
import { tokenKeyId } from './signature-checks.ts'
import { maxTokenLength } from './token-selection.ts'

/**
 * The secrets of ours that are no signed tokens: API tokens and the cookie that renews a session. Both begin alike, so that
 * the gateway recognises them wherever a client puts them, and hands none to an app.
 */

/** Prefix of both, by which people and secret scanners recognise one, too. */
export const secretPrefix = 'berth_'

/** An API token, or generation and code of a renewal cookie, anywhere in a text. */
const anywhere = /berth_(?:[\w-]{43}|\d{1,15}\.[\w-]{43}\.)/

/** Whether one stands anywhere in a text as it is: bare, behind a scheme, in a cookie, in a query. */
export const holdsOpaqueSecret = (text: string): boolean => text.includes(secretPrefix) && anywhere.test(text)

/** Whether one stands so in a text, or in `Basic` credentials. */
export function containsOpaqueSecret(text: string): boolean {
  if (holdsOpaqueSecret(text)) return true
  const basic = /^basic +([\w+/=-]+)/i.exec(text)?.[1]
  return basic !== undefined && anywhere.test(Buffer.from(basic, 'base64').toString('latin1'))
}

/**
 * Scan of header values for tokens of this installation, in linear time, so that no app receives one.
 */

/** Prefix of every signed token: `{"` in base64url. */
export const tokenStart = 'eyJ'

/** Max token-like words inspected in one header; cookies of apps hold a few. */
export const maxTokenWords = 32

/**
 * Parts of a text that have the form of a signed token. The signature is left out: decoders accept it with characters
 * that do not belong there, while what is signed has to stand there as it was written.
 */
export function tokenWords(text: string): string[] {
  let at = text.indexOf(tokenStart)
  if (at === -1) {
    const basic = /^basic +([\w+/=-]+)/i.exec(text)?.[1]
    return basic === undefined ? [] : tokenWords(`: ${Buffer.from(basic, 'base64').toString('latin1')}`)
  }
  const words: string[] = []
  for (let seen = 0; at !== -1; at = text.indexOf(tokenStart, word.lastIndex)) {
    word.lastIndex = at
    const [head = '', payload = ''] = (word.exec(text)?.[0] ?? '').slice(0, maxTokenLength).split('.', 2)
    if (payload !== '') words.push(head)
    // Incomplete tokens count as well, which bounds the work.
    if (++seen > maxTokenWords) return Array<string>(seen).fill(head)
  }
  return words
}

/** Used at a place: from there on, all that can belong to a token. */
export const word = /[\w.-]+/y

export const kidIn = (head: string) => tokenKeyId(`${head}.`)

/** The form of API tokens, known to both processes: the API looks one up, the gateway refuses one. */

/** `secretPrefix`, and 32 random bytes in base64url. */
const form = /^berth_[\w-]{43}$/

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
const bearer = /^bearer +(\S+) *$/i

/** The API token in an `Authorization` header; undefined for any other content. */
export function bearerApiToken(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
  return token !== undefined && form.test(token) ? token : undefined
}

/** Random bytes for many texts: to ask for 16 of them costs 4 us of each request, and for 2 KB hardly more. */
const pool = Buffer.alloc(2 * 1024)
let used = pool.length

/**
 * Random text of so many bytes, by the system's generator for cryptography; no two calls have a byte in common. For values that
 * are made at each request, such as nonces. The bytes stay in memory for a while, so secrets that last are made without it.
 * @param bytes at most 2,048
 */
export function randomText(bytes: number, encoding: 'base64' | 'base64url'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString(encoding, used - bytes, used)
}
