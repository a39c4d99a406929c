import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import type * as bowser from 'bowser'
import { isLoopback, isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { hostName } from '@berth/gateway/tokens/token-selection.ts'

/**
 * Client address as the gateway determined it. Only the gateway and the account that Berth runs as reach our socket,
 * and the gateway replaces all that a client sends about itself.
 * @returns empty when it is missing, as for a program that uses the socket directly
 */
export function clientAddress({ headers }: IncomingMessage): string {
  const address = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
  return address && isIP(address.trim()) !== 0 ? address.trim() : ''
}

/**
 * Whether the client is a program on this machine, and no proxy. A local proxy without forwarding headers cannot be
 * told from a program by its address: so an address in `TRUSTED_PROXIES` is never a local client, and neither is a
 * request for a host that is known beyond this machine.
 */
export function isLocalClient(request: IncomingMessage): boolean {
  const address = clientAddress(request)
  if (address === '') return request.headers['x-forwarded-for'] === undefined
  return (
    request.headers['x-berth-proxy'] === 'none' && isLoopback(address) && isLoopbackHost(hostName(request.headers.host))
  )
}

/** Whether a proxy forwards the request that `TRUSTED_PROXIES` does not name; the address is the proxy's own then. */
export function isFromUntrustedProxy({ headers }: IncomingMessage): boolean {
  return headers['x-berth-proxy'] === 'untrusted'
}

/** Whether a browser or a scanner prefetches, and says so. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const { 'sec-purpose': secPurpose, purpose, 'x-purpose': xPurpose, 'x-moz': xMoz } = headers
  return [secPurpose, purpose, xPurpose, xMoz].some((value) => /prefetch|preview|prerender/i.test(String(value ?? '')))
}

/**
 * Whether a browser says that this is no navigation: a script, an image, a `fetch` of a page. A frame navigates, too.
 * What sends no `Sec-Fetch-Dest` is an older browser, plain http or a program; `Sec-Fetch-Mode` alone says nothing,
 * since the `fetch` of Node.js sends it as well. Source: Fetch Metadata Request Headers, 2.
 */
export function isSubresource(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] !== undefined && headers['sec-fetch-mode'] !== 'navigate'
}

/** Whether a browser says that this is the navigation of a frame within a page. */
export function isFrame(headers: IncomingHttpHeaders): boolean {
  return ['iframe', 'frame'].includes(String(headers['sec-fetch-dest']))
}

/**
 * Only the browser itself sends "navigate" and "document": a script, frame or popup of a container's page on our origin
 * cannot, and frames are refused, so such a page never reads the CSRF token. Browsers without these headers, and plain
 * http except on localhost, get a page that requires a sign-in before it changes anything.
 * The response to a navigation preload is read by a service worker, which a container's page may have registered.
 */
export function isDocumentNavigation(headers: IncomingHttpHeaders): boolean {
  const isPreload = headers['service-worker-navigation-preload'] !== undefined
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document' && !isPreload
}

const require = createRequire(import.meta.url)

/** Max characters of `User-Agent` that are parsed. */
const maxUserAgentLength = 512

/** Browser and system in words, e.g. `Firefox on Windows`; null for an unknown browser. No free text of the client. */
export function describeUserAgent(userAgent: string | undefined): string | null {
  if (!userAgent || userAgent.length > maxUserAgentLength) return null
  // Loaded at the first sign-in: its tables cost an idle process memory.
  const { parse, BROWSER_MAP, OS_MAP } = require('bowser') as typeof bowser
  const { browser, os } = parse(userAgent)
  if (!isNameIn(BROWSER_MAP, browser.name)) return null
  return isNameIn(OS_MAP, os.name) ? `${browser.name} on ${os.name}` : browser.name
}

/**
 * For an unknown browser the name is what the client wrote before the slash, and the recipient of a mail would read it.
 */
const isNameIn = (known: Readonly<Record<string, string>>, name: string | undefined): name is string =>
  name !== undefined && Object.values(known).includes(name)

/** First and last byte of a part. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** What is sent, as it is now. */
export interface Representation {
  /** In bytes. */
  readonly size: number
  /** Strong entity tag, with its quotes: another one for other bytes. */
  readonly etag: string
}

/** What of a request decides about the part. */
export interface RangeRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/**
 * The part that a request asks for. Source: RFC 9110, 13.1.5 and 14.2.
 * @returns undefined where the whole has to be sent: no range, one of which no byte is there, several, a method other
 * than GET, or an `If-Range` that does not name exactly these bytes. A weak tag names none, nor does a date: no answer
 * of ours has `Last-Modified`
 */
export function requestedRange(
  { method, headers }: RangeRequest,
  { size, etag }: Representation,
): ByteRange | undefined {
  const condition = headers['if-range']
  if (method !== 'GET' || (condition !== undefined && condition !== etag)) return undefined
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.range ?? '') ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  return first <= last ? { first, last } : undefined
}

/** Value of `Content-Range` (RFC 9110, 14.4). */
export const contentRange = ({ first, last }: ByteRange, size: number) => `bytes ${first}-${last}/${size}`
