import { NotableNames } from '#/http1/notable-names.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { platformTarget } from '#/http1/request-path.ts'
import { platformCookies } from './platform-cookies.ts'
import { forwardedLines, hostLine, line, type ClientOrigin } from './upstream-request-headers.ts'

/** Lines that say where a request goes and where it ends: passed on as they are, whatever else is sent. */
const framing = ['content-length', 'host', 'transfer-encoding']

/**
 * Headers that the API and the front end read, beside cookies, `Authorization` and what the gateway sets. Others do not reach them: a
 * head of a hundred lines is parsed once, by the gateway. A test compares the list with the code.
 */
export const platformRequestHeaders: readonly string[] = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'expect',
  'if-none-match',
  'if-range',
  'last-event-id',
  'origin',
  'purpose',
  'range',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-purpose',
  'service-worker-navigation-preload',
  'user-agent',
  'x-csrf-token',
  'x-moz',
  'x-purpose',
]

const names = new NotableNames([...framing, ...platformRequestHeaders])

/** Max lines of these headers; no client sends one of them twice. */
const maxLines = 40
/** Max characters of such a line. What the API reads of a value is shorter. */
const maxLine = 1_100
/** Max characters of `Authorization`: of a token more than 4,096 are not read. */
const maxAuthorization = 8 * 1024

/** The head that the API and the front end receive: what they read of what the client sent, in a bounded length. */
export function platformRequestHead(
  { method, target, fields }: RequestHead,
  origin: ClientOrigin,
  requestId: string,
): string {
  const { authorization, cookie } = fields
  const token = line('Authorization', authorization?.slice(0, maxAuthorization))
  const identity = token + line('Cookie', platformCookies(cookie))
  return `${method} ${platformTarget(target)} HTTP/1.1\r\n${hostLine(fields)}${readLinesOf(fields.kept)}${identity}${forwardedLines(fields, origin)}X-Berth-Proxy: ${origin.proxy}\r\nX-Berth-Request-Id: ${requestId}\r\n\r\n`
}

/** @param lines each with its CRLF */
function readLinesOf(lines: string): string {
  let read = ''
  let count = 0
  for (let start = 0; start < lines.length;) {
    const next = lines.indexOf('\r\n', start) + 2
    const name = names.find(lines, start, lines.indexOf(':', start))
    if (name !== undefined && framing.includes(name)) read += lines.slice(start, next)
    else if (name !== undefined && ++count <= maxLines) read += truncated(lines.slice(start, next))
    start = next
  }
  return read
}

const truncated = (text: string) => (text.length <= maxLine ? text : `${text.slice(0, maxLine)}\r\n`)
