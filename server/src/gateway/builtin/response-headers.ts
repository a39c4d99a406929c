import type { Route } from '../gateway.ts'
import { narrowedSetCookie } from './cookies.ts'
import { endToEndLines, type HeaderLine } from './hop-by-hop.ts'

/** Where the answer is going: the prefix rewrites addresses, the origin (lower case) tells our own from others'. */
export interface Destined {
  readonly route: Pick<Route, 'prefix' | 'stripPrefix'>
  readonly origin: string
}

// They speak for the whole origin, which an app shares with the platform and with other people's apps: one app could
// sign everybody out (Clear-Site-Data), collect others' addresses (reports), or open the front end's window (COOP).
const originWide = new Set([
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'cross-origin-opener-policy',
  'cross-origin-opener-policy-report-only',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'reporting-endpoints',
  'strict-transport-security',
  'use-as-dictionary',
])

/** The headers of an app's answer that reach the client, as lines; cookies, redirects and worker scopes kept under its prefix. */
export function responseHeaders(rawHeaders: readonly string[], to: Destined): HeaderLine[] {
  return endToEndLines(rawHeaders).flatMap((line) => {
    const value = valueFor(line, to)
    return value === undefined ? [] : [[line[0], value] satisfies HeaderLine]
  })
}

/** The trailer lines of an answer. None that rewrites or speaks for the origin: browsers ignore those after the body anyway. */
export function responseTrailers(rawTrailers: readonly string[]): HeaderLine[] {
  const headOnly = new Set(['set-cookie', 'location', 'service-worker-allowed', 'content-length'])
  return endToEndLines(rawTrailers).filter(
    ([name]) => !isOriginWide(name.toLowerCase()) && !headOnly.has(name.toLowerCase()),
  )
}

function valueFor([name, value]: HeaderLine, { route, origin }: Destined): string | undefined {
  const lower = name.toLowerCase()
  if (isOriginWide(lower)) return undefined
  if (lower === 'set-cookie') return narrowedSetCookie(value, route.prefix, route.stripPrefix)
  if (lower === 'service-worker-allowed') return `/${route.prefix}/`
  if (lower === 'location' && route.stripPrefix) return prefixedLocation(value, route.prefix, origin)
  return value
}

function isOriginWide(name: string): boolean {
  return originWide.has(name) || name.startsWith('secure-session-')
}

/** `/x`, also behind our own origin, becomes `/{prefix}/x`; relative, other-origin and already prefixed ones stay. */
function prefixedLocation(location: string, prefix: string, origin: string): string {
  const own = location.toLowerCase().startsWith(`${origin}/`) ? location.slice(0, origin.length) : ''
  const path = location.slice(own.length)
  if (!/^\/(?!\/)/.test(path) && own === '') return location
  const isPrefixed = path.startsWith(`/${prefix}`) && /^([/?#]|$)/.test(path.slice(prefix.length + 1))
  return isPrefixed ? location : `${own}/${prefix}${path}`
}
