import type { GatewayUser, ShareGrant, TypeRules } from '#/port/gateway.ts'
import type { UnavailableContainer } from '#/pages/unavailable.ts'
import { headerValue } from '#/http1/header-lines.ts'
import { refuseUnsandboxable } from './origin-sandbox.ts'
import { isHtmlNavigation, isReadRequest, isServiceWorkerScript } from '#/http1/browser-request.ts'
import type { ShareTable } from './share-table.ts'
import type { Caller, UserCache } from '#/tokens/token-verifier.ts'
import { isAllowedPort, segmentOf, type PrefixAndPort } from '#/basics/container-port.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { rulesOfPort, type Route } from '#/upstream/route.ts'
import type { RouteMatch, RoutingTable } from '#/upstream/routing-table.ts'
import type { RequestPath } from '#/http1/request-path.ts'

/** Result of authorization: proxy to the app, redirect, or respond that the container does not exist yet. */
export type AuthorizationResult =
  /** `share`: what a visitor may do by a share of the owner; undefined for all others. */
  | { readonly kind: 'app'; readonly route: Route; readonly share: ShareGrant['may'] | undefined }
  | { readonly kind: 'missing'; readonly container: UnavailableContainer }
  | { readonly kind: 'redirect'; readonly status: 302 | 308; readonly to: string }

/** What the decision depends on. */
export interface AuthorizationState {
  readonly routingTable: RoutingTable
  readonly users: UserCache
  readonly shares: ShareTable
  /** `http` or `https`, as people see it. */
  readonly scheme: string
}

/**
 * Authorizes a request and resolves where it goes. Without a token the answer is the same whether the address exists or not.
 * An administrator is no owner (decision 003), because an app's page would otherwise run with the administrator's
 * session at this origin.
 * @throws {GatewayRefusal} 400 bad path, 401 without a token, 404 nothing there, 403 not yours or blocked
 */
export function authorize(
  { routingTable, users, shares, scheme }: AuthorizationState,
  head: RequestHead,
  path: RequestPath,
  caller: Caller | undefined,
): AuthorizationResult {
  checkRequestPath(path)
  const named = namedWithColon(routingTable, path)
  const { prefix, port } = named ?? path
  const found = routingTable.match(prefix)
  const destination = port === undefined ? found : ofPort(found)
  const share = shareOf(shares, destination, { prefix, port }, caller)
  const match = checkAccess(users, caller, destination, share !== undefined)
  if (share === 'look' && !isReadRequest(head)) throw gatewayRefusals.shareIsForLooking()
  if (head.fields.opensWebSocket) checkWebSocketOrigin(head, scheme)
  if (path.rest === '' && isServiceWorkerScript(head)) throw gatewayRefusals.workerOnBarePrefix()
  if (match.kind === 'home') return { kind: 'redirect', status: 302, to: homeRedirect(match.path, path) }
  if (named) return { kind: 'redirect', status: 308, to: `/${named.segment}${path.rest}${path.query}` }
  if (path.port !== undefined && !isAllowedPort(match.rules, path.port)) throw gatewayRefusals.nothingHere()
  if (match.owner.isBlocked || match.isBlocked) throw gatewayRefusals.containerBlocked()
  // A page at `/ann-dev` would resolve its relative links beside its prefix instead of under it. An app that keeps its prefix
  // decides that itself: one that redirects to the address without the slash would redirect in a loop.
  if (path.rest === '' && rulesOf(match).stripPrefix && isHtmlNavigation(head))
    return { kind: 'redirect', status: 308, to: `/${path.segment}/${path.query}` }
  const main = routingTable.get(path.prefix)
  const route = path.port === undefined ? main : main?.onPort(path.port)
  if (route) {
    refuseUnsandboxable(route, head, caller)
    return { kind: 'app', route, share }
  }
  const { type, rules } = match
  const isOwner = isOwned(match.owner, caller)
  return { kind: 'missing', container: { prefix: path.prefix, type, displayName: rules.displayName, isOwner } }
}

/** A type whose own name has a colon wins over a port: its address has it encoded, to which the plain spelling leads. */
function namedWithColon(
  routingTable: AuthorizationState['routingTable'],
  { segment, prefix, port }: RequestPath,
): (PrefixAndPort & { readonly segment: string }) | undefined {
  if (!segment.includes(':')) return undefined
  const [whole, before] = [segment, prefix].map((text) => text.replaceAll(':', '%3A')) as [string, string]
  if (routingTable.match(whole)) return { prefix: whole, port: undefined, segment: whole }
  if (before === prefix || !routingTable.match(before)) return undefined
  return { prefix: before, port, segment: segmentOf(before, port) }
}

/** What a visitor may do by a share. Not where the app gets its owner's own token: a visitor could take it from there. */
function shareOf(
  shares: ShareTable,
  destination: RouteMatch | undefined,
  { prefix, port }: PrefixAndPort,
  caller: Caller | undefined,
): ShareGrant['may'] | undefined {
  if (shares.isEmpty || !caller || !destination || isOwned(destination.owner, caller)) return undefined
  const { access, forwardToken } = rulesOf(destination)
  return access === 'owner' && forwardToken !== 'full' ? shares.rightOf(prefix, caller, port) : undefined
}

function checkAccess(
  users: UserCache,
  caller: Caller | undefined,
  destination: RouteMatch | undefined,
  isShared: boolean,
): RouteMatch {
  const { access } = rulesOf(destination)
  if (caller === undefined && access !== 'public') throw gatewayRefusals.noToken()
  if (destination === undefined) throw gatewayRefusals.nothingHere()
  if (caller && users.get(caller.userId)?.isBlocked) throw gatewayRefusals.callerBlocked()
  if (access === 'owner' && !isShared && !isOwned(destination.owner, caller)) throw gatewayRefusals.notYours()
  return destination
}

const isOwned = (owner: GatewayUser, caller: Caller | undefined) => caller?.userId === owner.userId

/** A further port is for the owner, and for visitors with whom it is shared, also where others may use the app on the main one. */
function ofPort(match: RouteMatch | undefined): RouteMatch | undefined {
  return match?.kind === 'container' ? { ...match, rules: rulesOfPort(match.rules) } : undefined
}

const closed = { access: 'owner', stripPrefix: true, forwardToken: 'scoped' } as const

function rulesOf(destination: RouteMatch | undefined): Pick<TypeRules, 'access' | 'stripPrefix' | 'forwardToken'> {
  if (destination === undefined || destination.kind === 'home') return closed
  return destination.rules
}

/**
 * A page of another site could open a WebSocket with this site's cookies, because no browser asks before it does.
 * No Origin means no browser.
 */
function checkWebSocketOrigin({ text, fields: { host } }: RequestHead, scheme: string): void {
  const origin = headerValue(text, 'origin')
  if (origin === undefined) return
  if (/\r\norigin:[^]*\r\norigin:/i.test(text)) throw gatewayRefusals.foreignOrigin()
  if (origin.toLowerCase() !== `${scheme}://${host ?? ''}`.toLowerCase()) throw gatewayRefusals.foreignOrigin()
}

function homeRedirect(path: string, requestPath: RequestPath): string {
  return (requestPath.rest === '' ? path : path.replace(/\/$/, '') + requestPath.rest) + requestPath.query
}

/**
 * Refuses a container's path that an app could read as another one.
 * @throws {GatewayRefusal} 400 when it is not plain, or leaves its prefix once dots are resolved
 */
function checkRequestPath({ segment, rest, isPlain }: RequestPath): void {
  if (segment === '') throw gatewayRefusals.badTarget('oneSlash')
  if (isPlain) return
  const path = `/${segment}${rest}`
  if (path.includes('\\')) throw gatewayRefusals.badTarget('backslash')
  if (/%(?![0-9a-f]{2})|%00/i.test(path)) throw gatewayRefusals.badTarget('badEscape')
  if (escapesRoot(rest)) throw gatewayRefusals.badTarget('climbs')
}

/** Whether an app that decodes once and resolves dots would end above its own root. Stricter than any one app: empty segments add no depth. */
function escapesRoot(rest: string): boolean {
  const decoded = rest.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '/')
  let depth = 0
  for (const segment of decoded.split('/')) {
    // Servlet containers cut `;parameters` off before they resolve dots, so `..;` climbs too.
    const [name = ''] = segment.split(';', 1)
    if (name === '..') depth -= 1
    else if (name !== '' && name !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}
