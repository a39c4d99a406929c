import {
  NotableNames,
  hopByHop,
  isFault,
  readLines,
  without,
  withoutNamed,
  type HttpFault,
  type NotableLine,
} from '#/http1/header-lines.ts'
import { readResponseHead, type ResponseHead } from '#/http1/response-head.ts'
import type { RouteEntry, TypeRules } from '#/port/gateway.ts'
import type { Route } from '#/upstream/route.ts'
import { confineSetCookie, hostOnlySetCookie } from './cookies.ts'

/**
 * Responses of apps with restricted access must not be stored by a shared cache in front of Berth (nginx `proxy_cache`, a CDN),
 * which serves one stored response to all clients; it does not know whose cookie counts.
 */

/** Lines that speak to such caches alone; lower case. */
const sharedCacheNames: readonly string[] = [
  'akamai-cache-control',
  'cdn-cache-control',
  'cf-edge-cache',
  'cloudflare-cdn-cache-control',
  'vercel-cdn-cache-control',
]

/** `Cache-Control` without what concerns shared caches; undefined when nothing is left. In linear time. */
function withoutShared(value: string): string | undefined {
  const kept = value.replace(sharedDirectives, '').replace(/^[\t ,]+/, '')
  return kept === '' ? undefined : kept
}

/** Whether these lines keep an answer out of every shared cache already. */
const isKeptPrivate = (lines: readonly NotableLine[]) =>
  lines.some(({ name, value }) => name === 'cache-control' && privateDirective.test(value))

const sharedDirectives = /(?:^|,)[\t ]*(?:public|s-maxage(?:[\t ]*=[^,]*)?)[\t ]*(?=,|$)/gi
/** `private="name"` concerns single headers; what stands in quotes is no directive. */
const privateDirective = /^(?:[^",]*,)*[\t ]*(?:private|no-store)[\t ]*(?:,|$)/i

/** Context of a response: the prefix rewrites addresses, the origin (lower case) distinguishes our own from others'. */
export interface ResponseContext {
  readonly prefix: string
  readonly rules: TypeRules
  readonly origin: string
  /** Which app it is of, and where that listens. */
  readonly route: Pick<Route, 'entry'>
  /** Its pages get an origin of their own. */
  readonly isIsolated: boolean
  /** One of these pages loads it: see `isSandboxedSubresource`. */
  readonly isForSandbox: boolean
  /** It may be on its way into a frame of another origin's page: see `mayBeForeignFrame`. */
  readonly isForFrame?: boolean
  /** Our own cookies, which renew the token of the client. */
  readonly setCookie?: readonly string[]
}

// They speak for the whole origin, which an app shares with the platform and with other people's apps: one app could
// sign all users out (Clear-Site-Data), collect others' addresses (reports), or open the front end's window (COOP).
const originWide = new Set([
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'cross-origin-opener-policy',
  'cross-origin-opener-policy-report-only',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'reporting-endpoints',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
])
const isHopByHop: ReadonlySet<string> = new Set(hopByHop)
/** A session that is bound to the device is one of the origin, or of the site; drafts call it `sec-session-`. */
const sessionFamilies = ['sec-session-', 'secure-session-']
const isOriginWide = (name: string) => originWide.has(name) || sessionFamilies.some((family) => name.startsWith(family))

/**
 * Commands to a server in front of Berth: it would answer with another address, the front end's document of this very browser
 * among them, with a file of its own or from another machine (Fly.io), take Berth for ill and send nothing more (Envoy), run
 * includes in a body (ESI by `Edge-Control` of Akamai and `Surrogate-Control`), or keep and drop what it has stored.
 */
const commandFamilies = [
  'edge-',
  'fly-',
  'l5d-',
  'netlify-',
  'surrogate-',
  'x-accel-',
  'x-envoy-',
  'x-lighttpd-',
  'x-litespeed-',
  'x-lsadc-',
  'x-reproxy-',
  'x-sendfile',
]
/** Controls only whether this response is buffered there, which event streams need. */
const harmlessCommand = 'x-accel-buffering'
const isCommand = (name: string) =>
  name !== harmlessCommand && commandFamilies.some((family) => name.startsWith(family))

const framing = ['content-length', 'transfer-encoding']
const neverNamed = new Set(framing)
const isForSharedCaches: ReadonlySet<string> = new Set(sharedCacheNames)
const rewritten = [
  'access-control-allow-origin',
  'cache-control',
  'content-location',
  'link',
  'location',
  'refresh',
  'service-worker-allowed',
  'set-cookie',
  'www-authenticate',
]

/** Response headers that the gateway has to inspect. */
export const notableResponseHeaders = new NotableNames(
  [...hopByHop, ...originWide, ...framing, ...rewritten, ...sharedCacheNames],
  [...sessionFamilies, ...commandFamilies],
  (name) => isOriginWide(name) || isCommand(name),
)

/**
 * The head of an app's answer as the client gets it: nothing hop-by-hop, nothing that speaks for the whole origin
 * or commands a server on the way; cookies, redirects and worker scopes kept under the app's prefix.
 * @param to undefined for the platform's own answers, which may speak for the origin
 * @param isUnchunked the client knows no chunks, so they are undone
 * @returns undefined when the head may be passed on as it came
 */
export function downstreamResponseHead(
  head: ResponseHead,
  to: ResponseContext | undefined,
  { isLast, isUnchunked, isUpgrade }: DownstreamOptions,
): string | undefined {
  const { text, linesStart, notable } = head
  const connection = isLast ? 'Connection: close\r\n' : isUpgrade ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
  const isFinal = head.status >= 200
  const cookies = isFinal || isUpgrade ? cookieLines(to) : ''
  const added = connection + cookies + (isFinal ? isolationLines(to) + cacheLine(head, to) : '')
  // In their order: of two cookies of one name the later one counts.
  let lines = ''
  let at = linesStart
  let challenges = 0
  for (const each of notable) {
    const isSurplus = each.name === 'www-authenticate' && ++challenges > maxChallenges
    const value = valueFor(each, to, isUnchunked || head.status === 204, isSurplus)
    if (value === each.value) continue
    lines += text.slice(at, each.start)
    if (value !== undefined) lines += `${text.slice(each.start, text.indexOf(':', each.start))}: ${value}\r\n`
    at = each.end
  }
  const isUnchanged = at === linesStart && added === '' && head.named.length === 0
  if (isUnchanged && !head.isHttp10) return undefined
  lines += text.slice(at, -2)
  if (head.named.length > 0) lines = withoutNamed(lines, head.named, neverNamed)
  return `${firstLine(head)}${lines}${added}\r\n`
}

/** Heads of answers up to this length are remembered, in characters. */
const maxRememberedHead = 1_024

/**
 * Response heads of one client connection: a request that is repeated gets the same head until the app's clock has moved on,
 * and equal heads are neither read nor written anew.
 */
export class ResponseHeads {
  #read: ResponseHead | undefined
  #isBodiless = false
  /** What the head that was read last became, and all that it was made of beside that head. */
  #written: string | undefined
  #to: ResponseContext | undefined
  #entry: RouteEntry | undefined
  #options: DownstreamOptions | undefined

  /**
   * The head at the beginning of these bytes, if it is the one that was read last.
   * @param isBodiless as for `readResponseHead`
   */
  repeated(bytes: Buffer, start: number, end: number, isBodiless: boolean): ResponseHead | undefined {
    const head = this.#read
    if (head === undefined || this.#isBodiless !== isBodiless || end - start < head.text.length) return undefined
    return bytes.toString('latin1', start, start + head.text.length) === head.text ? head : undefined
  }

  /** As `readResponseHead`. @param text is remembered: no part of a longer one, which it would keep in memory */
  read(text: string, isBodiless: boolean): ResponseHead | HttpFault {
    const head = readResponseHead(text, notableResponseHeaders, isBodiless)
    // Behind an interim head comes another one, and behind that of a WebSocket none.
    this.#read = isFault(head) || head.status < 200 || text.length > maxRememberedHead ? undefined : head
    this.#isBodiless = isBodiless
    this.#options = undefined
    return head
  }

  /** As `downstreamResponseHead`. */
  write(head: ResponseHead, to: ResponseContext | undefined, options: DownstreamOptions): string | undefined {
    const isSame = head === this.#read && to === this.#to && to?.route.entry === this.#entry
    if (isSame && this.#options && isSameOptions(options, this.#options)) return this.#written
    const text = downstreamResponseHead(head, to, options)
    if (head === this.#read) {
      this.#written = text
      this.#to = to
      this.#entry = to?.route.entry
      this.#options = options
    }
    return text
  }
}

interface DownstreamOptions {
  readonly isLast: boolean
  readonly isUnchunked: boolean
  readonly isUpgrade: boolean
}

const isSameOptions = (one: DownstreamOptions, other: DownstreamOptions) =>
  one.isLast === other.isLast && one.isUnchunked === other.isUnchunked && one.isUpgrade === other.isUpgrade

/** A program on the way sends its own version (RFC 9112, 2.3): after an answer in HTTP/1.0 a client closes the connection. */
const firstLine = ({ isHttp10, text, linesStart }: ResponseHead) =>
  isHttp10 ? `HTTP/1.1${text.slice('HTTP/1.0'.length, linesStart)}` : text.slice(0, linesStart)

const cookieLines = (to: ResponseContext | undefined) =>
  (to?.setCookie ?? []).map((line) => `Set-Cookie: ${line}\r\n`).join('')

/** With visitors the same address is answered with and without a sandbox, and a cache must not mix the two up. */
function isolationLines(to: ResponseContext | undefined): string {
  if (to === undefined) return ''
  const isOpen = to.rules.access !== 'owner' && to.rules.sandboxVisitors !== false
  const vary = isOpen ? 'Vary: Cookie, Authorization, Origin\r\n' : ''
  const shared = to.isForSandbox ? 'Access-Control-Allow-Origin: null\r\n' : ''
  const unframed = to.isForFrame ? "Content-Security-Policy: frame-ancestors 'self'\r\n" : ''
  return vary + (to.isIsolated ? sandboxLine : '') + shared + unframed
}

const cacheLine = ({ notable }: ResponseHead, to: ResponseContext | undefined) =>
  to === undefined || to.rules.access === 'public' || isKeptPrivate(notable) ? '' : 'Cache-Control: private\r\n'

/** The lines behind an answer's chunked body. None that rewrites or speaks for the origin: browsers ignore those there anyway. */
export function downstreamTrailers(trailers: string): string {
  const text = `${trailers}\r\n`
  const lines = readLines(text, 0, notableResponseHeaders)
  return isFault(lines) ? '' : without(text, 0, lines)
}

function valueFor(
  { name, value }: NotableLine,
  to: ResponseContext | undefined,
  dropsCoding: boolean,
  isSurplus: boolean,
): string | undefined {
  if (isHopByHop.has(name)) return undefined
  if (name === 'transfer-encoding' && dropsCoding) return undefined
  if (to === undefined) return value
  if (isCommand(name)) return undefined
  if (isOriginWide(name)) return to.rules.allowHeaders.includes(name) ? value : undefined
  const { prefix, rules } = to
  const isPublic = rules.access === 'public'
  if (isForSharedCaches.has(name)) return isPublic ? value : undefined
  const isRewritten = rules.rewriteLocation || rules.hasOwnHost
  switch (name) {
    case 'cache-control':
      return isPublic ? value : withoutShared(value)
    case 'set-cookie':
      return rules.hasOwnHost ? hostOnlySetCookie(value) : confineSetCookie(value, prefix, rules.stripPrefix)
    case 'access-control-allow-origin':
      return to.isForSandbox ? undefined : value
    case 'service-worker-allowed':
      return rules.hasOwnHost ? value : `/${prefix}/`
    case 'location':
    case 'content-location':
      return isRewritten ? withPrefix(value, to) : value
    case 'link':
      return isRewritten ? linkWithPrefix(value, to) : value
    case 'refresh':
      return isRewritten ? refreshWithPrefix(value, to) : value
    case 'www-authenticate':
      return rules.allowHeaders.includes(name) || (!isSurplus && isHarmlessChallenge(value)) ? value : undefined
    default:
      return value
  }
}

/**
 * Whether a challenge (RFC 9110, 11.6.1) names no scheme but `Bearer`, which browsers leave to scripts. For `Basic`,
 * `Digest` and `Negotiate` they ask for a password, or send the person's Windows identity, in the name of the whole origin.
 * What is no list of challenges in plain syntax could be read in another way by a browser, and is not harmless.
 */
function isHarmlessChallenge(value: string): boolean {
  if (value.length > maxChallenge) return false
  // A quote that is never closed stays, and is refused below; so nothing is read twice.
  const parts = value.replace(/"(?:[^"\\]|\\.)*("?)/g, '"$1').split(',')
  return parts.every((part) => harmlessPart.test(part.trim())) && /^[\t ]*bearer\b/i.test(value)
}

/** Characters of a challenge, and challenges of one answer, that are looked at; what is beyond is left out. */
const [maxChallenge, maxChallenges] = [256, 4]

/** A parameter, or the scheme with its first parameter or none; blanks around it are cut off. */
const harmlessPart = /^(?:bearer|(?:bearer[\t ]+)?[!#$%&'*+\-.^_`|~\w]+[\t ]*=[\t ]*(?:""|[!#$%&'*+\-.^_`|~\w:/]+))?$/i

/** Scheme and authority of an address on a host: scheme, host, port. Without user information, which no app gives of its own. */
const absoluteForm = /^(?:(https?):)?\/\/(\[[\da-f:.]+\]|[^/?#\\@:[\]]+)(?::(\d{1,5}))?(?=[/?#]|$)/i
/** What a program calls the machine that it runs on, which for an app is its container. */
const itself: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/**
 * An address of the app's own as people see it: `/x` becomes `/{prefix}/x`, and so does `http://{host}:{port of the app}/x` behind
 * the origin, because an app knows neither prefix nor port nor scheme. Relative, foreign and prefixed ones stay.
 */
function withPrefix(address: string, to: ResponseContext): string {
  const absolute = absoluteForm.exec(address)
  if (absolute === null) return /^\/(?!\/)/.test(address) ? prefixed(address, to) : address
  if (!isOwn(absolute, to)) return address
  const path = address.slice(absolute[0].length)
  return to.origin + prefixed(path.startsWith('/') ? path : `/${path}`, to)
}

function prefixed(path: string, { prefix, rules }: ResponseContext): string {
  if (!rules.stripPrefix || rules.hasOwnHost) return path
  const isPrefixed = path.startsWith(`/${prefix}`) && /^([/?#]|$)/.test(path.slice(prefix.length + 1))
  return isPrefixed ? path : `/${prefix}${path}`
}

/**
 * Whether an address leads to this very app. By another port of the same host it may lead to another server, and by one of
 * `localhost` to a program of the person who asks.
 */
function isOwn([, scheme, host = '', port]: RegExpExecArray, { origin, route, rules }: ResponseContext): boolean {
  const [, seenScheme = '', seenHost, seenPort] = absoluteForm.exec(origin) ?? []
  // It demands TLS where there is none: this address would lead back here for ever. An app that speaks TLS names what it sees.
  if (scheme?.toLowerCase() === 'https' && seenScheme === 'http' && rules.scheme !== 'https') return false
  const { where } = route.entry
  const named = portOf(scheme?.toLowerCase() ?? seenScheme, port)
  const isAtApp = 'host' in where && named === where.port
  const name = host.toLowerCase()
  if (name !== seenHost) return isAtApp && (itself.has(name) || name === where.host)
  return (
    isAtApp || port === undefined || [portOf(seenScheme, seenPort), portOf(scheme ?? '', undefined)].includes(named)
  )
}

const portOf = (scheme: string, port: string | undefined) => Number(port ?? (scheme === 'https' ? 443 : 80))

/** `5; url=/x`, with or without quotes. */
function refreshWithPrefix(refresh: string, to: ResponseContext): string {
  return refresh.replace(
    /^([^;,]*[;,]\s*url\s*=\s*["']?)([^"']*)/i,
    (_whole, before: string, address: string) => before + withPrefix(address, to),
  )
}

/** Addresses of one `Link` line that get the prefix, which makes the line longer; those behind them stay. */
const maxLinks = 64

/** `</x>; rel=preload, <y>; rel=next` (RFC 8288, 3). What stands in quotes is no address. */
function linkWithPrefix(link: string, to: ResponseContext): string {
  let count = 0
  return link.replace(/"(?:[^"\\]|\\.)*"?|<([^<>"]*)>/g, (whole, address: string | undefined) =>
    address === undefined || ++count > maxLinks ? whole : `<${withPrefix(address, to)}>`,
  )
}

/**
 * The policy of a page that must not share the origin (`access/origin-sandbox.ts`): opaque origin, so no cookies, no storage, no workers, no access to other pages; no
 * `allow-popups-to-escape-sandbox`, because a window that it opens on its own address would have the shared origin again.
 */
const sandboxLine =
  'Content-Security-Policy: sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads allow-pointer-lock\r\n'
