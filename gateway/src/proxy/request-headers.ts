import { isIsolated, isSandboxedSubresource } from '#/access/origin-sandbox.ts'
import { bearerToken } from '#/access/request-authenticator.ts'
import type { Caller, TokenVerifier } from '#/tokens/token-verifier.ts'
import { mayBeForeignFrame } from '#/http1/browser-request.ts'
import { NotableNames, inOnePiece } from '#/http1/header-lines.ts'
import type { RequestFields, RequestHead } from '#/http1/request-head.ts'
import { platformTarget } from '#/http1/request-path.ts'
import type { ShareGrant } from '#/port/gateway.ts'
import { carriesToken } from '#/tokens/token-selection.ts'
import type { Route } from '#/upstream/route.ts'
import { platformCookies, upstreamCookies, withOwnNames } from './cookies.ts'
import type { ResponseContext } from './response-headers.ts'

/** Origin of a request as it is forwarded to an upstream. */
export interface ClientOrigin {
  /** Address of the person asking. */
  readonly address: string
  /** `http` or `https`, as people see it. */
  readonly scheme: string
  /** Whether a proxy passes the request on, one of the operator's or another. Sent to the API alone. */
  readonly proxy: 'none' | 'trusted' | 'untrusted'
}

/** Who asks, and the token that the app gets in place of theirs; none when it cannot be had. */
export interface Identity {
  readonly caller: Caller
  readonly email: string
  readonly token: string | undefined
  /** What a visitor may do by a share of the container's owner; undefined for all others. */
  readonly share: ShareGrant['may'] | undefined
}

/** What a request to an app carries beside its own first line, and where the answer to it is going. */
interface UpstreamHeaderLines {
  readonly lines: string
  readonly responseContext: ResponseContext
}

/** Upstream request headers of one client connection; cached, because a client repeats its headers to the same app. */
export class UpstreamRequestHeaders {
  readonly #tokens: Pick<TokenVerifier, 'containsOwnToken' | 'ownTokenLines'>
  #last: UpstreamHeaderLines | undefined
  #fields: RequestFields | undefined
  #route: Route | undefined
  #address = ''
  #email: string | undefined
  #token: string | undefined
  #acting: string | null | undefined
  #share: Identity['share']
  /** The head that was written last, for which path, and as what. */
  #head: RequestHead | undefined
  #path = ''
  #text = ''

  constructor(tokens: Pick<TokenVerifier, 'containsOwnToken' | 'ownTokenLines'>) {
    this.#tokens = tokens
  }

  /** Where the answer to the head that was written last is going. */
  get responseContext(): ResponseContext | undefined {
    return this.#last?.responseContext
  }

  /** Forgets the head that was written last. */
  forget(): void {
    this.#fields = undefined
    this.#last = undefined
    this.#head = undefined
    this.#text = ''
  }

  /**
   * The head of a request as the app receives it. The platform's token in it is replaced by the identity's one; it is
   * never added where the client sent none. Any other token of ours is taken out, whichever header carries it: an app that
   * was sent another app's token would take it for its visitor's.
   */
  write(
    head: RequestHead,
    path: string,
    route: Route,
    origin: ClientOrigin,
    identity: Identity | undefined,
    traceparent?: string,
  ): string {
    const { method, fields } = head
    const same = this.#same(fields, route, origin, identity)
    if (same && head === this.#head && path === this.#path && traceparent === undefined) return this.#text
    const { lines } = same ?? this.#make(method, fields, route, origin, identity)
    const firstLine = `${method} ${path} HTTP/1.1\r\n`
    if (traceparent !== undefined)
      return firstLine + traceLine(traceparent) + lines.replace(/^traceparent:[^\r\n]*\r\n/gim, '')
    this.#head = head
    this.#path = path
    return (this.#text = firstLine + lines)
  }

  #same(
    fields: RequestFields,
    route: Route,
    origin: ClientOrigin,
    identity: Identity | undefined,
  ): UpstreamHeaderLines | undefined {
    const isSame =
      fields === this.#fields &&
      route === this.#route &&
      origin.address === this.#address &&
      identity?.email === this.#email &&
      identity?.token === this.#token &&
      identity?.caller.acting === this.#acting &&
      identity?.share === this.#share
    return isSame ? this.#last : undefined
  }

  #make(
    method: string,
    fields: RequestFields,
    route: Route,
    origin: ClientOrigin,
    identity: Identity | undefined,
  ): UpstreamHeaderLines {
    const prefix = route.segment
    this.#head = undefined
    this.#fields = fields
    this.#route = route
    this.#address = origin.address
    this.#email = identity?.email
    this.#token = identity?.token
    this.#acting = identity?.caller.acting
    this.#share = identity?.share
    const prefixLine = route.rules.hasOwnHost ? '' : `X-Forwarded-Prefix: /${prefix}\r\n`
    const own = `${this.#identityLines(fields, identity)}${forwardedLines(fields, origin)}${prefixLine}`
    const seenAt = `${origin.scheme}://${fields.host ?? ''}`.toLowerCase()
    const kept = this.#withoutTokens(mayBeWebDav(method, route) ? withoutPrefix(fields, prefix) : fields.kept)
    this.#last = {
      lines: inOnePiece(`${hostLine(fields)}${kept}${own}${upgradeLines(fields)}\r\n`),
      responseContext: {
        prefix,
        rules: route.rules,
        origin: seenAt,
        route,
        isIsolated: isIsolated(route, identity?.caller),
        isForSandbox: isSandboxedSubresource(route, identity?.caller, fields.kept),
        isForFrame: route.rules.hasOwnHost === true && identity !== undefined && mayBeForeignFrame(fields.kept),
      },
    }
    return this.#last
  }

  #identityLines({ authorization, cookie }: RequestFields, identity: Identity | undefined): string {
    if (authorization === undefined && cookie === undefined && identity === undefined) return ''
    // Compared with the caller's own token, not by scheme alone: an app may use Bearer tokens of its own beside our cookie.
    const isByHeader = identity !== undefined && bearerToken(authorization) === identity.caller.token
    const token = isByHeader || carriesToken(cookie) ? identity?.token : undefined
    const bearer = isByHeader ? token && `Bearer ${token}` : this.#unlessOwnToken(authorization)
    const cookies = upstreamCookies(cookie, token, (value) => this.#tokens.containsOwnToken(value))
    const named = this.#route?.rules.hasOwnHost ? cookies : withOwnNames(cookies)
    return line('Authorization', bearer) + line('Cookie', named) + userLine(identity)
  }

  #unlessOwnToken(value: string | undefined): string | undefined {
    return value !== undefined && this.#tokens.containsOwnToken(value) ? undefined : value
  }

  #withoutTokens(lines: string): string {
    if (!this.#tokens.containsOwnToken(lines)) return lines
    const isSuspect = this.#tokens.ownTokenLines(lines)
    const kept = lines.split('\r\n').filter((each) => !isSuspect(each))
    return kept.join('\r\n')
  }
}

/** A header line with its CRLF; nothing without a value. */
const line = (name: string, value: string | undefined) => (value === undefined ? '' : `${name}: ${value}\r\n`)

/** The host stays the one that people see: apps compare a WebSocket's Origin with it. HTTP/1.0 may lack it; apps may not. */
const hostLine = ({ host }: RequestFields) => (host === undefined ? 'Host: localhost\r\n' : '')

// Header bytes are latin1 to us; an address beyond ASCII travels as its UTF-8 bytes.
const userLine = (identity: Identity | undefined) =>
  identity === undefined
    ? ''
    : line('X-Berth-User', Buffer.from(identity.email).toString('latin1')) + line('X-Berth-Share', identity.share)

/** Where the request comes from, as the gateway determined it. */
function forwardedLines({ host }: RequestFields, { address, scheme }: ClientOrigin): string {
  return `X-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${scheme}\r\n${line('X-Forwarded-Host', host)}`
}

/** Methods of requests that name no other addresses. */
const plainMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

const mayBeWebDav = (method: string, { rules }: Route) =>
  rules.stripPrefix && !rules.hasOwnHost && !plainMethods.has(method)

/** Lines of a request with the prefix taken out of the addresses of WebDAV (RFC 4918, 10.3 and 10.4), as out of its path. */
function withoutPrefix({ kept, host = '' }: RequestFields, prefix: string): string {
  const own = (address: string) => belowPrefix(address, host.toLowerCase(), prefix)
  return kept
    .replace(/^(destination:[\t ]*)([^\r]*)/gim, (_line, name: string, address: string) => name + own(address))
    .replace(/^if:[^\r]*/gim, (tagged) => tagged.replace(/<([^<>]*)>/g, (_tag, address: string) => `<${own(address)}>`))
}

/** An address on this host without the prefix; any other one as it is. @param host lower case */
function belowPrefix(address: string, host: string, prefix: string): string {
  const [, authority = '', path = ''] = /^((?:https?:\/\/[^/]*)?)(\/.*)$/i.exec(address) ?? []
  if (authority !== '' && !authority.toLowerCase().endsWith(`://${host}`)) return address
  const rest = path.slice(prefix.length + 1)
  if (!path.startsWith(`/${prefix}`) || !/^(?:[/?#]|$)/.test(rest)) return address
  return authority + (rest.startsWith('/') ? rest : `/${rest}`)
}

const traceLine = (traceparent: string) => `traceparent: ${traceparent}\r\n`

const upgradeLines = ({ opensWebSocket }: RequestFields) =>
  opensWebSocket ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''

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
  traceparent?: string,
): string {
  const { authorization, cookie } = fields
  const token = line('Authorization', authorization?.slice(0, maxAuthorization))
  const identity = token + line('Cookie', platformCookies(cookie))
  return `${method} ${platformTarget(target)} HTTP/1.1\r\n${hostLine(fields)}${readLinesOf(fields.kept)}${identity}${forwardedLines(fields, origin)}X-Berth-Proxy: ${origin.proxy}\r\nX-Berth-Request-Id: ${requestId}\r\n${traceparent === undefined ? '' : traceLine(traceparent)}\r\n`
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
