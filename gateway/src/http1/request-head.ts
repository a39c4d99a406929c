import { randomUUID } from 'node:crypto'
import { containsOpaqueSecret, tokenWords } from '#/tokens/opaque-secrets.ts'
import { clearCookies, type CookieSettings } from '#/tokens/token-selection.ts'
import {
  NotableNames,
  fault,
  headerValue,
  hopByHop,
  isFault,
  isPadded,
  isTokenCode,
  readLines,
  tokensOf,
  without,
  withoutNamed,
  type FaultKey,
  type HttpFault,
  type NotableLine,
} from './header-lines.ts'
import { parseRequestPath, type RequestPath } from './request-path.ts'

/** Max length of a request head, in bytes: browsers with many cookies send up to 20 KB. */
export const maxRequestHead = 32 * 1024

/** Body lengths that are no number of bytes. */
export const chunked = -1

/** A request as it was sent, as far as a proxy has to understand it. */
export interface RequestHead {
  readonly method: string
  /** As sent, with bytes beyond ASCII encoded; begins with a slash, but for `*` (the whole server) with OPTIONS. */
  readonly target: string
  readonly isHttp10: boolean
  /** Its target, cut. */
  readonly path: RequestPath
  readonly fields: RequestFields
  /** The whole head, for headers that are asked for seldom. */
  readonly text: string
}

/** What the header lines say. One client sends the same lines again and again, so they are read once for all of these. */
export interface RequestFields {
  readonly host: string | undefined
  /** Bytes of the body, or `chunked`. */
  readonly bodyLength: number
  /** The client will send no other request on this connection. */
  readonly isLast: boolean
  /** RFC 6455 opening handshake. Any other wish to change the protocol is left out, as RFC 9110, 7.8 allows. */
  readonly opensWebSocket: boolean
  /** All cookies, in the order sent. */
  readonly cookie: string | undefined
  readonly authorization: string | undefined
  readonly forwardedFor: string | undefined
  /** A proxy forwarded it for another client: `X-Forwarded-*`, `Forwarded`, `X-Real-IP` or `Via`. */
  readonly isForwarded: boolean
  /** Lines for the other end, each with its CRLF: all but hop-by-hop ones, cookies, authorization, and what only a proxy may say. */
  readonly kept: string
  /** The lines themselves. */
  readonly block: string
}

const framing = ['content-length', 'host', 'transfer-encoding']

const identity = ['authorization', 'cookie']

const forwardingHeaders = ['forwarded', 'proxy', 'x-forwarded', 'x-forwarded-for', 'x-real-ip']

/**
 * What servers in front of apps say of a request, beside the forwarding headers: whose it is, from where, and for which address. No
 * server in front of an app here says them, so they are a client's, and an app that believes one takes the client for another.
 */
const claims = new Set([
  'true-client-ip',
  'client-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-proxyuser-ip',
  'x-remote-ip',
  'x-remote-addr',
  'x-originating-ip',
  'x-original-forwarded-for',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-envoy-external-address',
  'x-original-url',
  'x-rewrite-url',
  'x-original-uri',
  'x-replaced-path',
  'x-script-name',
  'x-envoy-original-path',
  'x-envoy-original-host',
  'x-original-host',
  'x-host',
  'x-scheme',
  'x-url-scheme',
  'front-end-https',
  'x-remote-user',
  'x-vouch-user',
  'x-goog-iap-jwt-assertion',
])
/** Beginnings of such names. */
const claimFamilies = [
  'cf-connecting-ip',
  'cf-access-',
  'tailscale-user-',
  'remote-',
  'ssl-client-',
  'x-ssl-client-',
  'x-webauth-',
  'x-auth-request-',
  'x-amzn-oidc-',
  'x-goog-authenticated-user-',
  'x-ms-client-principal',
  'x-authentik-',
  'x-pomerium-',
]

/**
 * The name that CGI-like apps take it for: PHP reads `X.Berth.User` as `X-Berth-User`, lighttpd `X~Berth~User` and every
 * other character, too. An app with two variables of one name mostly takes the first, which is the client's.
 * @param name lower case
 */
const asCgiReads = (name: string) => name.replace(/[^a-z0-9]/g, '-')

/** Whether a line of this name, which is notable, says that a proxy forwarded the request. */
function saysForwarded(name: string): boolean {
  const plain = asCgiReads(name)
  return plain === 'via' || (isForwardingHeader(plain) && plain !== 'proxy' && !plain.startsWith('x-berth-'))
}

/** @param plain as CGI-like apps take it */
function isForwardingHeader(plain: string): boolean {
  return forwardingHeaders.includes(plain) || plain.startsWith('x-forwarded-') || plain.startsWith('x-berth-')
}

/** Whether only servers in front of an app say it: see `claims`. @param plain as CGI-like apps take it */
function isClaim(plain: string): boolean {
  return claims.has(plain) || claimFamilies.some((family) => plain.startsWith(family))
}

const names = new NotableNames(
  ['http2-settings', 'via', ...hopByHop, ...framing, ...identity, ...forwardingHeaders],
  ['x-', ...[...claims, ...claimFamilies].filter((name) => !name.startsWith('x-'))],
  (name) => {
    const plain = asCgiReads(name)
    return isForwardingHeader(plain) || isClaim(plain)
  },
)

const stays = new Set([...framing, 'via'])

/** These lines say how long the message is and where it goes, even if `Connection` names them. */
const neverNamed = new Set([...framing, 'expect'])

/**
 * Reads a request's head, or says what is wrong with it. It refuses all that Node's own parser refuses; where that one is
 * lenient (absolute addresses, two hosts), this one is not: what two parsers read differently allows request smuggling.
 * Only methods and targets are freer. Apps have methods that Node does not know (WebDAV's extensions), and any token is one
 * (RFC 9110, 9.1); a target beyond ASCII is encoded, so that no app gets one.
 * @param text latin1, with the empty line that ends it
 * @param before the head that came before it on the same connection: equal lines are not read again
 * @returns `before` itself when the text is the same, so that what was derived from it holds for this one, too
 */
export function readRequestHead(text: string, before?: RequestHead): RequestHead | HttpFault {
  if (text === before?.text) return before
  const first = readRequestLine(text)
  if (isFault(first)) return first
  const { method, target, isHttp10, end } = first
  const block = text.slice(end)
  const isSame = before?.method === method && before.isHttp10 === isHttp10 && before.fields.block === block
  const fields = isSame ? before.fields : readFields(text, first, block)
  return isFault(fields) ? fields : { method, target, isHttp10, path: parseRequestPath(target), fields, text }
}

function readFields(text: string, first: RequestLine, block: string): RequestFields | HttpFault {
  const lines = readLines(text, first.end, names)
  if (isFault(lines)) return lines
  const read = new RequestLines(lines, text)
  const problem = read.problem ?? framingFault(read, first)
  if (problem) return problem
  const gone = lines.filter(({ name }) => !stays.has(name))
  const kept = without(text, first.end, gone)
  const bodyLength = read.coding === undefined ? Number(read.length ?? 0) : chunked
  return {
    host: read.host,
    bodyLength,
    isLast: first.isHttp10 || read.isClose,
    opensWebSocket: read.upgrade !== undefined && bodyLength === 0 && isHandshake(text, first, read),
    cookie: read.cookie,
    authorization: read.authorization,
    forwardedFor: read.forwardedFor,
    isForwarded: lines.some(({ name }) => saysForwarded(name)),
    kept: read.named === undefined ? kept : withoutNamed(kept, read.named, neverNamed),
    block,
  }
}

/**
 * The lines behind a request's chunked body that an app may see: what is decided in the head is not decided again after it,
 * and if they have anything of a token's form there are none.
 */
export function upstreamTrailers(trailers: string): string {
  const text = `${trailers}\r\n`
  const lines = readLines(text, 0, names)
  if (isFault(lines) || containsOpaqueSecret(text) || tokenWords(text).length > 0) return ''
  return without(text, 0, lines)
}

function readRequestLine(text: string): RequestLine | HttpFault {
  const methodEnd = text.indexOf(' ')
  const lineEnd = text.indexOf('\r\n')
  for (let at = 0; at < methodEnd; at++) if (!isTokenCode(text.charCodeAt(at))) return fault('badMethod')
  if (methodEnd < 1 || methodEnd > lineEnd) return fault('noMethod')
  const method = text.slice(0, methodEnd)
  if (method === 'TRACE' || method === 'CONNECT') return fault('forbiddenMethod', 405)
  const targetEnd = lineEnd - ' HTTP/1.1'.length
  if (targetEnd <= methodEnd || !text.startsWith(' HTTP/', targetEnd)) return fault('badFirstLine')
  if (!text.startsWith('1.', targetEnd + 6)) return fault('badVersion', 505)
  const minor = text.charCodeAt(targetEnd + 8)
  if (minor !== 48 && minor !== 49) return fault('badVersion', 505)
  // Absolute form and authority form name a host, and the Host header may name another one.
  if (text.charCodeAt(methodEnd + 1) !== 47 && text.slice(0, targetEnd) !== 'OPTIONS *') return fault('noPath')
  let isAscii = true
  for (let at = methodEnd + 1; at < targetEnd; at++) {
    const code = text.charCodeAt(at)
    if (code <= 32 || code === 35 || code === 127) return fault('badTargetCharacter')
    if (code > 127) isAscii = false
  }
  const sent = text.slice(methodEnd + 1, targetEnd)
  const target = isAscii ? sent : encoded(sent)
  if (target.length > maxRequestHead) return fault('badTargetCharacter')
  return { method, target, isHttp10: minor === 48, end: lineEnd + 2 }
}

/** Bytes beyond ASCII as browsers send them: programs on the way read them as they are in different ways. */
const encoded = (target: string) =>
  target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)

/** Characters that are read of `Connection`, and that `Host` may have: these are split, compared and repeated to apps. A name of DNS has 253. */
const [maxConnection, maxHost] = [1_024, 300]

interface RequestLine {
  readonly method: string
  readonly target: string
  readonly isHttp10: boolean
  /** Where the first header line begins. */
  readonly end: number
}

/**
 * The notable lines of a request, each where it belongs; `problem` when a line comes twice that may come once (request
 * smuggling).
 */
class RequestLines {
  host: string | undefined
  length: string | undefined
  coding: string | undefined
  upgrade: string | undefined
  cookie: string | undefined
  authorization: string | undefined
  forwardedFor: string | undefined
  isClose = false
  isUpgrade = false
  /** What `Connection` names beside the usual words. */
  named: string[] | undefined
  problem: HttpFault | undefined

  /** @param text that they are lines of */
  constructor(lines: readonly NotableLine[], text: string) {
    for (const line of lines) this.#take(line, text)
  }

  #take(line: NotableLine, text: string): void {
    const { name, value } = line
    switch (name) {
      case 'host':
        this.host = this.#once(this.host, value, 'twoHosts')
        break
      case 'content-length':
        this.length = this.#once(this.length, value, 'twoLengths')
        break
      case 'transfer-encoding':
        this.coding = this.#once(this.coding, value, 'twoCodings')
        // Node takes a blank behind it, but no tab.
        if (isPadded(text, line)) this.problem ??= fault('paddedCoding')
        break
      case 'authorization':
        this.authorization = this.#once(this.authorization, value, 'twoAuthorizations')
        break
      case 'connection':
        this.#takeConnection(value)
        break
      case 'upgrade':
        this.upgrade = value
        break
      case 'cookie':
        this.cookie = this.cookie === undefined ? value : `${this.cookie}; ${value}`
        break
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === undefined ? value : `${this.forwardedFor}, ${value}`
        break
    }
  }

  #once(before: string | undefined, value: string, why: FaultKey): string {
    if (before !== undefined) this.problem ??= fault(why)
    return value
  }

  #takeConnection(value: string): void {
    for (const token of value === 'keep-alive' ? [] : tokensOf(value.slice(0, maxConnection))) {
      if (token === 'close') this.isClose = true
      else if (token === 'upgrade') this.isUpgrade = true
      else if (token !== 'keep-alive') (this.named ??= []).push(token)
    }
  }
}

/** RFC 9112, 6: what could be read as two different lengths, and what the gateway cannot decode. */
function framingFault({ host, length, coding }: RequestLines, { isHttp10 }: RequestLine): HttpFault | undefined {
  if (host === undefined && !isHttp10) return fault('noHost')
  if (host !== undefined && (host.length > maxHost || !/^[\w.\-:[\]]*$/.test(host))) return fault('badHost')
  if (coding !== undefined && length !== undefined) return fault('lengthAndCoding')
  // RFC 9112, 6.1: an HTTP/1.0 message with a transfer coding has faulty framing.
  if (coding !== undefined && isHttp10) return fault('codingInHttp10')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return fault('unknownCoding', 501)
  // 15 digits are exact in a number, and a petabyte is enough.
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return fault('badLength')
  return undefined
}

/** Whether it asks for a WebSocket upgrade: RFC 6455, 4.2.1. */
function isHandshake(text: string, { method, isHttp10 }: RequestLine, { upgrade, isUpgrade }: RequestLines): boolean {
  return (
    isUpgrade &&
    upgrade?.toLowerCase() === 'websocket' &&
    method === 'GET' &&
    !isHttp10 &&
    headerValue(text, 'sec-websocket-version') === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headerValue(text, 'sec-websocket-key') ?? '')
  )
}

/**
 * A head that is too long. A container's page can set so many cookies that no request of that browser to Berth, the sign-out
 * included, is short enough any more, for as long as they live. So the answer makes the browser drop the largest.
 */

/** What is left of the cookies that were seen, in bytes. */
const maxCookieBytesKept = 8 * 1024
/** Min bytes of cookies: a link with a long address must not drop a user's cookies. */
const minCookies = maxRequestHead / 2
/** Cookies looked at; browsers keep 180 of a site. */
const maxPairs = 400
/** `Set-Cookie` lines of one answer, and their characters: writing more takes long. The next requests drop the rest. */
const [maxLines, maxText] = [60, 16 * 1024]
/** A name that may stand in `Set-Cookie`; at most so long. */
const nameForm = /^[\x21-\x3a\x3c\x3e-\x7e]{1,256}$/

/** The request line and those header lines that came whole; undefined when they are no request. @param text latin1 */
export function readOversizedHead(text: string): RequestHead | undefined {
  // It may have come whole, with more behind it.
  const whole = text.indexOf('\r\n\r\n')
  const end = whole === -1 ? text.lastIndexOf('\r\n') : whole
  const head = end === -1 ? undefined : readRequestHead(`${text.slice(0, end)}\r\n\r\n`)
  return isFault(head) ? undefined : head
}

/**
 * Headers that make the browser drop cookies, the largest first; none when it is not the cookies that are too long. A session
 * of usual size stays. Cookies beyond what was read are dropped all together, by a header that browsers follow with https only;
 * without https the next request tells of them.
 */
export function dropLargestCookies(
  text: string,
  { target, fields }: RequestHead,
  settings: CookieSettings,
): Record<string, string | readonly string[]> {
  const sizes = cookieSizes(text)
  const sum = [...sizes.values()].reduce((total, size) => total + size, 0)
  if (sum < minCookies) return {}
  const lines: string[] = []
  const room = { lines: maxLines, text: maxText }
  let left = sum
  for (const [name, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
    if (left <= maxCookieBytesKept || room.lines === 0) break
    left -= size
    lines.push(...fitting(forgottenLines(name, target, fields.host, settings), room))
  }
  const isCut = !text.includes('\r\n\r\n')
  const clear = settings.isSecure && isCut ? { 'clear-site-data': '"cookies"' } : undefined
  return { ...clear, 'set-cookie': lines }
}

/** A cookie that was set as `Partitioned` is dropped only as such; browsers have these with https. */
function forgottenLines(name: string, target: string, host: string | undefined, settings: CookieSettings): string[] {
  const lines = clearCookies(name, target, host, settings)
  return settings.isSecure ? lines.flatMap((line) => [line, `${line}; Partitioned`]) : lines
}

/**
 * The lines that there is room for, which they take up. Where not all fit they begin anywhere: the browser sends the cookie
 * again when the right line was not among them, and some request of many is answered with it.
 */
function fitting(lines: readonly string[], room: { lines: number; text: number }): string[] {
  const isAll = lines.length <= room.lines && lines.reduce((sum, { length }) => sum + length, 0) <= room.text
  const from = isAll ? 0 : Math.floor(Math.random() * lines.length)
  const taken: string[] = []
  for (const line of [...lines.slice(from), ...lines.slice(0, from)]) {
    if (room.lines === 0 || line.length > room.text) {
      room.lines = 0
      break
    }
    room.lines--
    room.text -= line.length
    taken.push(line)
  }
  return taken
}

/** Bytes by name, all cookies of one name together. The last one may be cut off. */
function cookieSizes(text: string): Map<string, number> {
  const sizes = new Map<string, number>()
  const lines = text.split('\r\n').filter((line) => /^cookie:/i.test(line))
  for (const line of lines)
    for (const pair of line.slice('cookie:'.length).split(';', maxPairs)) {
      const name = pair.includes('=') ? pair.slice(0, pair.indexOf('=')).trim() : ''
      if (nameForm.test(name)) sizes.set(name, (sizes.get(name) ?? 0) + pair.length)
    }
  return sizes
}

/** UUIDs, hexadecimal ids and ids of traces; nothing that a log, a header or a query of a log could misread. */
const form = /^[\w.-]{8,128}$/

/**
 * Id of a request: the one that a trusted proxy sent in `X-Request-Id`, or a new one. That of any other client is ignored,
 * because it could make its lines in the log look like those of another request (log injection).
 * @param head undefined when it could not be read
 */
export function requestIdOf(head: RequestHead | undefined, isFromTrustedProxy: boolean): string {
  const sent = isFromTrustedProxy && head ? headerValue(head.text, 'x-request-id') : undefined
  return sent !== undefined && form.test(sent) ? sent : randomUUID()
}
