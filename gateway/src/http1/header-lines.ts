import type { faults } from '@berth/texts/en/gateway.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

/**
 * Header lines, read so strictly that no two programs can read them in two ways. Every rule that is looser somewhere
 * else (bare LF, folded lines, space before the colon, control bytes) has been used to smuggle requests past a proxy.
 */

/** A header line that has to be inspected; all others are forwarded as they are. */
export interface NotableLine {
  /** Lower case. */
  readonly name: string
  /** Without the white space around it. */
  readonly value: string
  /** Where the line begins in the head, and where the next one does. */
  readonly start: number
  readonly end: number
}

/** More lines than any browser sends; a longer head is an attack on a parser. */
const maxHeaderLines = 100

/** Names of headers that end at the next program (RFC 9110, 7.6.1), and what older programs treat alike; lower case. */
export const hopByHop: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]

/** 1 for each code that may stand in a name (RFC 9110, 5.6.2: token), 0 for all others. */
const tokenCodes = codesOf((code) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code)))

/** A character that may stand in a value (RFC 9110, 5.5): tab, visible ASCII, space, and bytes above 127. */
const valueCharacter = /[\t\x20-\x7e\x80-\xff]/
const valueCodes = codesOf((code) => valueCharacter.test(String.fromCharCode(code)))

/** As many of them as follow each other: of a value of 30 KB a pattern takes a third of the time of a loop. */
const valueText = new RegExp(`${valueCharacter.source}*`, 'y')

function codesOf(isIn: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(isIn(code)))
}

export const isTokenCode = (code: number) => tokenCodes[code] === 1

export const isValueCode = (code: number) => valueCodes[code] === 1

const [tab, lineFeed, carriageReturn, space, hyphen, colon] = [9, 10, 13, 32, 45, 58]

/**
 * Reads the header lines of a head.
 * @param text the whole head, latin1, with the empty line that ends it
 * @param from where the first header line begins
 * @returns the notable lines in order, or what is wrong
 */
export function readLines(text: string, from: number, names: NotableNames): NotableLine[] | HttpFault {
  const notable: NotableLine[] = []
  const last = text.length - 2
  let count = 0
  let at = from
  while (at < last) {
    const start = at
    while (tokenCodes[text.charCodeAt(at)] === 1) at++
    if (at === start || text.charCodeAt(at) !== colon) return fault('noName')
    const nameEnd = at
    at++
    while (isBlank(text.charCodeAt(at))) at++
    const valueStart = at
    valueText.lastIndex = at
    valueText.test(text)
    at = valueText.lastIndex
    if (text.charCodeAt(at) !== carriageReturn || text.charCodeAt(at + 1) !== lineFeed) return fault('badCharacter')
    at += 2
    if (++count > maxHeaderLines) return new HttpFault(message('faults.tooManyHeaders', { max: maxHeaderLines }), 431)
    const name = names.find(text, start, nameEnd)
    if (name !== undefined) notable.push({ name, value: trimmed(text, valueStart, at - 2), start, end: at })
  }
  return notable
}

const isBlank = (code: number) => code === space || code === tab

/** Only space and tab count as white space: `trim` would also take `\x0b` away, and `\x0bchunked` would become `chunked`. */
function trimmed(text: string, start: number, end: number): string {
  let [from, stop] = [start, end]
  while (stop > from && isBlank(text.charCodeAt(stop - 1))) stop--
  while (from < stop && isBlank(text.charCodeAt(from))) from++
  return text.slice(from, stop)
}

/** Whether there is other white space around a value than the blank that usually stands before it: parsers differ about that. */
export function isPadded(text: string, { name, value, start, end }: NotableLine): boolean {
  const before = text.slice(start + name.length + 1, end - 2 - value.length)
  return before !== '' && before !== ' '
}

/**
 * The same text with memory of its own: V8 keeps the parts that a text was put together from, and puts them together anew each
 * time it is sent; and of a part it keeps the whole.
 */
export const inOnePiece = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** The text of all lines but the given ones, which must be in order. */
export function without(text: string, from: number, lines: readonly NotableLine[]): string {
  let kept = ''
  let at = from
  for (const { start, end } of lines) {
    if (start > at) kept += text.slice(at, start)
    at = end
  }
  return kept + text.slice(at, text.length - 2)
}

/**
 * Value of the first line of this name, for names that are asked for seldom; from line to line, because a pattern takes
 * a tenth of a millisecond for a head of 32 KB, and half a second when it is full of blanks.
 * @param name lower case, letters and hyphens
 */
export function headerValue(text: string, name: string): string | undefined {
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    const nameEnd = at + 2 + name.length
    if (text.charCodeAt(nameEnd) !== colon || !isSame(text, at + 2, name)) continue
    const end = text.indexOf('\r\n', nameEnd)
    return end === -1 ? undefined : trimmed(text, nameEnd + 1, end)
  }
  return undefined
}

/** Lower-case tokens of a comma-separated list. */
export function tokensOf(list: string): string[] {
  return list
    .split(',')
    .map((token) => trimmed(token, 0, token.length).toLowerCase())
    .filter((token) => token !== '')
}

/**
 * Drops lines that `Connection` names (RFC 9110, 7.6.1). Rare, so it may be slow.
 * @param lines text of lines @param but lower-case names that stay even if `Connection` names them
 */
export function withoutNamed(lines: string, named: readonly string[], but: ReadonlySet<string>): string {
  const gone = new Set(named.filter((name) => !but.has(name)))
  if (gone.size === 0) return lines
  return lines
    .split('\r\n')
    .filter((line) => line === '' || !gone.has(line.slice(0, line.indexOf(':')).toLowerCase()))
    .join('\r\n')
}

/**
 * Names that matter to one kind of message. Asked for every line of every message, so that nearly always the answer comes
 * without making a string: is there any such name of this length with this first letter?
 */
export class NotableNames {
  readonly #byLength: string[][] = Array.from({ length: 64 }, () => [])
  /** By length of the name: a bit for each first letter. */
  readonly #letters = new Uint32Array(64)
  readonly #isAlso: (lowerName: string) => boolean
  /** By first letter. */
  readonly #families: string[][] = Array.from({ length: 32 }, () => [])

  /**
   * @param names lower case: letters, digits and hyphens
   * @param families beginnings of further names, e.g. `x-forwarded-`
   * @param isAlso decides about the names that begin as a family does, or with another character in the place of its hyphens
   */
  constructor(names: readonly string[], families: readonly string[] = [], isAlso = (_name: string) => false) {
    this.#isAlso = isAlso
    for (const name of names) {
      this.#byLength[name.length]?.push(name)
      this.#mark(name.length, name)
    }
    for (const family of families) {
      this.#families[letterOf(family.charCodeAt(0))]?.push(family)
      for (let length = family.length; length < this.#letters.length; length++) this.#mark(length, family)
    }
  }

  #mark(length: number, name: string): void {
    this.#letters[length] = (this.#letters[length] ?? 0) | (1 << letterOf(name.charCodeAt(0)))
  }

  /** The lower-case name when it is notable, else undefined. */
  find(text: string, start: number, end: number): string | undefined {
    const length = Math.min(end - start, 63)
    const letter = letterOf(text.charCodeAt(start))
    if (((this.#letters[length] ?? 0) & (1 << letter)) === 0) return undefined
    for (const name of this.#byLength[length] ?? none) if (isSame(text, start, name)) return name
    for (const family of this.#families[letter] ?? none)
      if (isLike(text, start, family)) return this.#findRelative(text.slice(start, end).toLowerCase())
    return undefined
  }

  #findRelative(name: string): string | undefined {
    return this.#isAlso(name) ? name : undefined
  }
}

const none: readonly string[] = []

/** Upper and lower case share their last five bits. Other characters may share them; then the names decide. */
const letterOf = (code: number) => code & 31

/** Whether `name` stands there, in any case. Of the characters that names may have, only capitals become letters by this bit. */
function isSame(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) if ((text.charCodeAt(start + at) | 32) !== name.charCodeAt(at)) return false
  return true
}

/** Whether the name stands there, in any case and with any characters in the place of its hyphens. */
function isLike(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    if (code !== hyphen && (text.charCodeAt(start + at) | 32) !== code) return false
  }
  return true
}

type FaultStatus = 400 | 405 | 431 | 501 | 505

/** Names of faults that need no numbers. */
export type FaultKey = Exclude<keyof typeof faults, 'tooManyHeaders'>

/** What is wrong with a message, and the status that says so to a client. */
export class HttpFault {
  readonly status: FaultStatus
  readonly why: LocalizedMessage

  constructor(why: LocalizedMessage, status: FaultStatus) {
    this.why = why
    this.status = status
  }
}

export const fault = (why: FaultKey, status: FaultStatus = 400) => new HttpFault(message(`faults.${why}`), status)

export const isFault = (read: unknown): read is HttpFault => read instanceof HttpFault
