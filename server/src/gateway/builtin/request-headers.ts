import type { IncomingMessage } from 'node:http'
import type { Caller, GatewayParts, Route } from '../gateway.ts'
import { carriesToken, cookiesForApp } from './cookies.ts'
import { endToEndLines, type HeaderLine } from './hop-by-hop.ts'

/** What of the gateway's parts the headers of a request need. */
export type HeaderParts = Pick<GatewayParts, 'scopedToken' | 'clientAddress' | 'scheme'>

// Written again below, from what Node has understood instead of from what was sent.
const rewritten = new Set(['host', 'content-length', 'authorization', 'cookie'])

// What only a proxy may say. CGI-like apps read `X_Forwarded_For` and `X.Forwarded.For` as `X-Forwarded-For`.
const proxyWords = /^(x-forwarded-.*|forwarded|x-forwarded|x-real-ip|x-berth-.*|proxy)$/

/**
 * The headers that an app receives, as lines. The platform's token in them is replaced by the scoped one, unless the
 * template forwards it in full; it is never added where the client sent none.
 */
export async function requestHeaders(
  parts: HeaderParts,
  request: IncomingMessage,
  route: Route,
  caller: Caller | undefined,
): Promise<HeaderLine[]> {
  const kept = endToEndLines(request.rawHeaders).filter(([name]) => mayPass(name))
  const identity = await identityLines(parts, request, route, caller)
  return [...hostLine(request), ...kept, ...framing(request), ...identity, ...forwardedLines(parts, request, route)]
}

/** The trailer lines of a request that an app may see: what is decided in the head is not decided again after the body. */
export function requestTrailers(request: IncomingMessage): HeaderLine[] {
  return endToEndLines(request.rawTrailers).filter(([name]) => mayPass(name))
}

function mayPass(name: string): boolean {
  const lower = name.toLowerCase()
  return !rewritten.has(lower) && !proxyWords.test(lower.replace(/[_.]/g, '-'))
}

// The host stays the one that people see: apps compare a WebSocket's Origin with it. HTTP/1.0 may lack it; apps may not.
function hostLine(request: IncomingMessage): HeaderLine[] {
  return [['Host', request.headers.host ?? 'localhost']]
}

/** How long the body is. Said again even for empty ones, because Node's client would else announce chunks. */
function framing(request: IncomingMessage): HeaderLine[] {
  if (request.headers['transfer-encoding'] !== undefined) return [['Transfer-Encoding', 'chunked']]
  const length = request.headers['content-length']
  if (length !== undefined) return [['Content-Length', length]]
  return /^(GET|HEAD|DELETE|OPTIONS)$/.test(request.method ?? '') ? [] : [['Content-Length', '0']]
}

async function identityLines(
  parts: HeaderParts,
  request: IncomingMessage,
  route: Route,
  caller: Caller | undefined,
): Promise<HeaderLine[]> {
  const { authorization, cookie } = request.headers
  const byHeader = caller !== undefined && isBearer(authorization, caller.token)
  const token = caller && (byHeader || carriesToken(cookie)) ? await tokenFor(parts, route, caller) : undefined
  const cookies = cookiesForApp(cookie, token)
  const lines: HeaderLine[] = []
  if (authorization !== undefined) lines.push(['Authorization', byHeader ? `Bearer ${token}` : authorization])
  if (cookies !== undefined) lines.push(['Cookie', cookies])
  // Header bytes are latin1 to Node; an address beyond ASCII travels as its UTF-8 bytes.
  if (caller) lines.push(['X-Berth-User', Buffer.from(caller.email).toString('latin1')])
  return lines
}

/** Compared with the caller's own token, not by scheme alone: an app may use Bearer tokens of its own beside our cookie. */
function isBearer(authorization: string | undefined, token: string): boolean {
  const [, sent] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return sent === token
}

function tokenFor(parts: HeaderParts, route: Route, caller: Caller): Promise<string> {
  return route.forwardToken === 'full' ? Promise.resolve(caller.token) : parts.scopedToken(caller, route.prefix)
}

function forwardedLines(parts: HeaderParts, request: IncomingMessage, route: Route): HeaderLine[] {
  const lines: HeaderLine[] = [
    ['X-Forwarded-For', parts.clientAddress(request)],
    ['X-Forwarded-Proto', parts.scheme],
    ['X-Forwarded-Prefix', `/${route.prefix}`],
  ]
  const { host } = request.headers
  if (host !== undefined) lines.push(['X-Forwarded-Host', host])
  return lines
}
