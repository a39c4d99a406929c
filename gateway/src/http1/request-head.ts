import { fault, isFault, type HttpFault } from './http-fault.ts'
import { hopByHop, isTokenCode, readLines, without, withoutNamed } from './header-lines.ts'
import { containsOpaqueSecret } from '#/tokens/opaque-secrets.ts'
import { tokenWords } from '#/access/own-token-scan.ts'
import { NotableNames } from './notable-names.ts'
import { RequestLines, framingFault, isHandshake, type RequestLine } from './request-framing.ts'

/** Max length of a request head, in bytes: browsers with many cookies send up to 20 KB. */
export const maxRequestHead = 32 * 1024

/** Body lengths that are no number of bytes. */
export const chunked = -1

/** A request as it was sent, as far as a proxy has to understand it. */
export interface RequestHead {
  readonly method: string
  /** As sent, byte for byte; begins with a slash. */
  readonly target: string
  readonly isHttp10: boolean
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

function isForwardingHeader(name: string): boolean {
  const plain = asCgiReads(name)
  return forwardingHeaders.includes(plain) || plain.startsWith('x-forwarded-') || plain.startsWith('x-berth-')
}

const names = new NotableNames(
  ['http2-settings', 'via', ...hopByHop, ...framing, ...identity, ...forwardingHeaders],
  ['x-'],
  isForwardingHeader,
)

const stays = new Set([...framing, 'via'])

/** These lines say how long the message is and where it goes, even if `Connection` names them. */
const neverNamed = new Set([...framing, 'expect'])

/**
 * Reads a request's head, or says what is wrong with it. It refuses all that Node's own parser refuses; where that one is
 * lenient (absolute addresses, two hosts), this one is not: what two parsers read differently allows request smuggling.
 * Only methods are freer, because apps have methods that Node does not know (WebDAV's extensions): any token is one (RFC
 * 9110, 9.1).
 * @param text latin1, with the empty line that ends it
 * @param before the head that came before it on the same connection: equal lines are not read again
 */
export function readRequestHead(text: string, before?: RequestHead): RequestHead | HttpFault {
  const first = readRequestLine(text)
  if (isFault(first)) return first
  const { method, target, isHttp10, end } = first
  const block = text.slice(end)
  const isSame = before?.method === method && before.isHttp10 === isHttp10 && before.fields.block === block
  const fields = isSame ? before.fields : readFields(text, first, block)
  return isFault(fields) ? fields : { method, target, isHttp10, fields, text }
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
  // Absolute form, `*` and authority form name a host, and the Host header may name another one.
  if (text.charCodeAt(methodEnd + 1) !== 47) return fault('noPath')
  for (let at = methodEnd + 1; at < targetEnd; at++) {
    const code = text.charCodeAt(at)
    if (code <= 32 || code === 35 || code >= 127) return fault('badTargetCharacter')
  }
  return { method, target: text.slice(methodEnd + 1, targetEnd), isHttp10: minor === 48, end: lineEnd + 2 }
}
