import { authorize, type AuthorizationResult } from '#/access/authorize.ts'
import type { ContainerHost, ContainerHosts } from '#/access/container-hosts.ts'
import { entryResponse, pathOnHost, redirectToHost } from '#/access/host-entry.ts'
import { bearerToken, isSignedInAtPlatform, refuseTokenOfAnotherHost } from '#/access/request-authenticator.ts'
import { scopedTokenFor } from '#/access/scoped-token-source.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import { reservedSegment } from '#/basics/host-label.ts'
import { networkOf } from '#/basics/ip-address.ts'
import { cookieSettingsOf, type GatewayConfig } from '#/access/gateway-config.ts'
import { isBrowser, isForeignRequest, opensStream } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import {
  isApiTarget,
  isContainerSegment,
  maxPlatformPath,
  maxPlatformTarget,
  parseRequestPath,
  type RequestPath,
} from '#/http1/request-path.ts'
import { GatewayRefusal, gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { livenessResponse, optionsResponse, redirectResponse, type GatewayResponse } from '#/pages/gateway-response.ts'
import type { GatewayUser } from '#/port/gateway.ts'
import { bearerApiToken, holdsOpaqueSecret } from '#/tokens/opaque-secrets.ts'
import { clearTokenCookies } from '#/tokens/token-selection.ts'
import { Route } from '#/upstream/route.ts'
import type { RequestUse, Upstream } from '#/upstream/upstream.ts'
import type { RequestClient } from './client.ts'
import { connectOrExplain, requestUse, unavailableResponse, wakeRightOf } from './connect.ts'
import { Exchange } from './exchange.ts'
import type { RequestContext } from './request-context.ts'
import { platformRequestHead, type ClientOrigin, type Identity } from './request-headers.ts'
import type { ResponseContext } from './response-headers.ts'

/** A request on its way through the gateway. */
interface Request {
  readonly context: RequestContext
  readonly config: GatewayConfig
  readonly client: RequestClient
  readonly head: RequestHead
  readonly path: RequestPath
  /** Whose host it was sent to; undefined for the platform's, where containers are below paths. */
  readonly host: ContainerHost | undefined
}

/**
 * Request handler: authenticates, authorizes and proxies one request to the platform or to a container's app, or refuses it.
 * Nothing here waits when the caller and the app are known, which is the common case.
 */
export function serveRequest(context: RequestContext, client: RequestClient, given: RequestHead): void {
  const { config } = context
  if (!config) return client.refuse(gatewayRefusals.starting())
  if (context.isClosing) return client.refuse(gatewayRefusals.shuttingDown())
  const { containerHosts } = config
  try {
    const head = context.isDraining ? asLast(given) : given
    if (head.target === wholeServer)
      return servePlatform({ context, config, client, head, path: parseRequestPath('/'), host: undefined })
    if (containerHosts) return serveByHost(context, config, containerHosts, client, head)
    servePath({ context, config, client, head, path: head.path, host: undefined })
  } catch (error) {
    refuseFor(client, error)
  }
}

/** A request after which the connection ends. */
const asLast = (head: RequestHead): RequestHead =>
  head.fields.opensWebSocket ? head : { ...head, fields: { ...head.fields, isLast: true } }

function servePath(request: Request): void {
  if (isForContainer(request)) authenticateAndServe(request)
  else servePlatform(request)
}

/** Subdomain routing. @throws {GatewayRefusal} */
function serveByHost(
  context: RequestContext,
  config: GatewayConfig,
  hosts: ContainerHosts,
  client: RequestClient,
  head: RequestHead,
): void {
  const host = hosts.find(head.fields.host)
  if (host === 'none') throw gatewayRefusals.nothingHere()
  const { path } = head
  if (host === 'platform') {
    const isRoute = (prefix: string) => context.routingTable.has(prefix)
    const elsewhere = redirectToHost(hosts, { reservedSlugs: config.reservedSlugs, isRoute }, head, path)
    if (elsewhere) return client.respond(elsewhere)
    return servePath({ context, config, client, head, path, host: undefined })
  }
  if (path.segment === reservedSegment) return void serveEntry(config, host, client, head)
  authenticateAndServe({ context, config, client, head, path: pathOnHost(host, head.target, path), host })
}

/** A path of Berth's own on a container's host. Never rejects. */
async function serveEntry(
  config: GatewayConfig,
  host: ContainerHost,
  client: RequestClient,
  head: RequestHead,
): Promise<void> {
  try {
    const response = await entryResponse(config, host, head)
    if (!client.isGone) client.respond(response)
  } catch (error) {
    if (!client.isGone) refuseFor(client, error)
  }
}

/** The connection that was kept had been closed by the app: the request goes out once more, on a new one. */
export function retryOnNewConnection(context: RequestContext, client: RequestClient, exchange: Exchange): void {
  if (context.config) void connectOrExplain(context.config, client, exchange, true)
}

/** Wakes a container that was paused while a client still sends to it: on a WebSocket, or an upload. Never rejects. */
export async function wakeUpstream(
  { config }: RequestContext,
  upstream: Upstream,
  caller: Caller | undefined,
  requestId: string,
  use: RequestUse,
  traceparent: string | undefined,
): Promise<void> {
  if (!config || !(upstream instanceof Route)) return
  const right = wakeRightOf(upstream, caller, use)
  if (right === 'none') return
  await config.control.wake(upstream.entry.prefix, requestId, right, traceparent).catch(() => undefined)
}

function guarded(client: RequestClient, work: () => void): void {
  try {
    work()
  } catch (error) {
    refuseFor(client, error)
  }
}

function refuseFor(client: RequestClient, error: unknown): void {
  client.refuse(error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error))
}

/** @throws {GatewayRefusal} 400 for `//host/x`, which some programs take for another host */
function isForContainer({ context, config, path }: Request): boolean {
  if (path.segment === '' && path.rest !== '') throw gatewayRefusals.badTarget('oneSlash')
  return context.routingTable.has(path.prefix) || isContainerSegment(path.prefix, config.reservedSlugs)
}

/** @throws {GatewayRefusal} as `healthResponse` · 414 before the API spends CPU on what none of its clients sends */
function servePlatform({ context, config, client, head, path }: Request): void {
  const health = healthResponse(context, config, head)
  if (health) return client.respond(health)
  checkPlatformTarget(head.target, path)
  context.limiter.beginRequest(undefined)
  const plain: RequestHead = head.fields.opensWebSocket
    ? { ...head, fields: { ...head.fields, opensWebSocket: false } }
    : head
  const upstreamHead = platformRequestHead(
    plain,
    clientOriginOf(config, client, head),
    client.requestId,
    client.traceparent,
  )
  const upstream = platformUpstreamOf(context, config, plain)
  startExchange(
    config,
    client,
    new Exchange(
      {
        head: plain,
        upstream,
        upstreamHead,
        responseContext: undefined,
        caller: undefined,
        active: undefined,
        use: 'none',
      },
      client,
    ),
  )
}

/**
 * Refuses a target of API or pages that costs the API much CPU before it knows who asks. Without encodings the API judges
 * a target of any length: a container type of 3,000 letters is an unknown one, a token of 9,000 no token of a link.
 * @throws {GatewayRefusal} 414
 */
function checkPlatformTarget(target: string, { query }: RequestPath): void {
  const pathLength = target.length - query.length
  if (target.length <= maxPlatformTarget && pathLength <= maxPlatformPath) return
  if (isApiTarget(target) && !/[%+]/.test(target)) return
  if (target.length > maxPlatformTarget) throw gatewayRefusals.targetTooLong(maxPlatformTarget)
  throw gatewayRefusals.pathTooLong(maxPlatformPath)
}

/** The reader of a follower for what it answers, while it can: it knows no more than this gateway. */
function platformUpstreamOf(
  { freshness }: RequestContext,
  config: GatewayConfig,
  { method, target, fields }: RequestHead,
) {
  const { reader, platform } = config
  if (!reader || method !== 'GET' || fields.bodyLength !== 0 || freshness.isStale) return platform
  const end = target.indexOf('?')
  return reader.paths.has(end < 0 ? target : target.slice(0, end)) ? reader.upstream : platform
}

/**
 * @throws {GatewayRefusal} 503 before it is known who there is, or when that is too old to count · 401 with an API token, or with a secret of ours in the address,
 *   whatever else the request carries
 */
function authenticateAndServe(request: Request): void {
  const { fields, target } = request.head
  if (!request.context.hasState) throw gatewayRefusals.starting()
  if (request.context.freshness.isStale) throw gatewayRefusals.behind()
  if (bearerApiToken(fields.authorization) !== undefined) throw gatewayRefusals.apiToken()
  // Refused, not taken out: the app would answer another request than the one that was sent.
  if (holdsOpaqueSecret(target)) throw gatewayRefusals.secretInAddress()
  serveContainer(request, refuseForeign(request, authenticate(request)))
}

/**
 * What a page of another origin asks for with the cookie of a container's host is not its visitor's will.
 * @returns the caller, unless it is such a request; at a public container it is anonymous then
 * @throws {GatewayRefusal} 403
 */
function refuseForeign(request: Request, caller: Caller | undefined): Caller | undefined {
  const { host, head, config, context } = request
  if (!host || !caller || caller.audience === null || head.fields.opensWebSocket) return caller
  if (!isForeignRequest(head, config.settings.scheme)) return caller
  if (host.port === undefined && context.routingTable.rulesOf(host.prefix)?.access === 'public') return undefined
  throw gatewayRefusals.foreignPage()
}

/** @returns undefined without a good token, and for a stream with the token of a session that a block ended */
function authenticate(request: Request): Caller | undefined {
  const caller = callerOf(request)
  const { context, head } = request
  return caller && context.tokens.isSessionEnded(caller) && !isBlocked(context, caller) && opensStream(head)
    ? undefined
    : caller
}

const callerOf = ({ config, client, head, host }: Request): Caller | undefined =>
  client.authenticator.authenticate(
    head.fields,
    () => clientOriginOf(config, client, head).address,
    host?.audience ?? null,
    () => config.settings.requiresCompanion === true && isBrowser(head),
  )

/** As long as the block lasts, it is the reason that is given. */
const isBlocked = ({ users }: RequestContext, { userId }: Caller) => users.get(userId)?.isBlocked === true

/** As `authorize`; the refusal of a request without a caller says why it has none. @throws {GatewayRefusal} */
function authorizeOrExplain(request: Request, caller: Caller | undefined): AuthorizationResult {
  const { context, config, head, path } = request
  const { routingTable, users, shares } = context
  const { scheme } = config.settings
  try {
    return authorize({ routingTable, users, shares, scheme }, head, path, caller)
  } catch (error) {
    throw error instanceof GatewayRefusal && error.status === 401 ? (reasonOf(request) ?? error) : error
  }
}

/** Why a request has no caller although it carries a token; tossed cookies are cleared by the refusal. */
function reasonOf(request: Request): GatewayRefusal | undefined {
  const { config, client, head } = request
  if (client.authenticator.isTossed)
    return gatewayRefusals.tossedTokens(clearTokenCookies(head.target, head.fields.host, cookieSettingsOf(config)))
  // `authenticate` left this caller out.
  if (client.authenticator.hasCaller) return gatewayRefusals.sessionBlocked()
  return bearerToken(head.fields.authorization) === undefined ? undefined : gatewayRefusals.invalidToken()
}

function serveContainer(request: Request, caller: Caller | undefined): void {
  const { context, config, client, head } = request
  const { users } = context
  const result = authorizeOrExplain(request, caller)
  if (result.kind === 'redirect') return client.respond(redirectResponse(result.status, result.to))
  // With subdomain routing no app is ever served at the host of the front end.
  if (config.containerHosts && !request.host) throw gatewayRefusals.nothingHere()
  if (mayBeKnown(request, caller)) throw gatewayRefusals.noToken()
  if (request.host && !client.authenticator.hasCaller) {
    refuseTokenOfAnotherHost(context.tokens, request.host, head, cookieSettingsOf(config))
  }
  if (result.kind === 'missing') {
    return void unavailableResponse(config, head, missing, result.container).then(
      (response) => client.isGone || client.respond(response),
    )
  }
  const user = caller && users.get(caller.userId)
  if (!caller || !user) return serveApp(request, result.route, undefined)
  context.sessions.noteUse(caller)
  const token = scopedTokenFor(config.control, result.route, caller, user)
  const setCookie = renewalOf(request, caller)
  if (token instanceof Promise || setCookie)
    void serveOnceTokenIsThere(request, { ...result, caller, user }, token, setCookie)
  else serveApp(request, result.route, { caller, email: user.email, token, share: result.share })
}

/** An anonymous visitor of a public container's host who may have a session. Not of tossed tokens: they would be sent again. */
function mayBeKnown({ context, config, client, head, host }: Request, caller: Caller | undefined): boolean {
  if (!host || caller || client.authenticator.isTossed) return false
  return isSignedInAtPlatform(context.tokens, head, () => clientOriginOf(config, client, head).address)
}

/** Renewal of the token of a request by cookie in the second half of its life; undefined when none is due. */
function renewalOf({ context, config, head }: Request, caller: Caller): Promise<readonly string[]> | undefined {
  const isByCookie = bearerToken(head.fields.authorization) !== caller.token
  if (!isByCookie || !context.sessions.isDue(caller)) return undefined
  return context.sessions.renew(config.control, caller, head.fields.host ?? '')
}

/**
 * The first request of a user to an app waits for its token, and one that renews a session for the new token. Meanwhile
 * much may have changed, so all is decided again, and a token that was asked for another caller or state of the user does
 * not reach the app.
 */
async function serveOnceTokenIsThere(
  request: Request,
  before: { readonly route: Route; readonly caller: Caller; readonly user: GatewayUser },
  pendingToken: string | undefined | Promise<string | undefined>,
  renewal: Promise<readonly string[]> | undefined,
): Promise<void> {
  const { context, client } = request
  const [token, setCookie] = await Promise.all([pendingToken, renewal])
  if (client.isGone) return
  guarded(client, () => {
    if (context.freshness.isStale) throw gatewayRefusals.behind()
    const known = authenticate(request)
    const { users } = context
    const result = authorizeOrExplain(request, known)
    if (result.kind !== 'app' || result.route !== before.route) throw gatewayRefusals.changed()
    const user = known && users.get(known.userId)
    if (!user || user !== before.user || known.jti !== before.caller.jti) throw gatewayRefusals.changed()
    serveApp(request, result.route, { caller: known, email: user.email, token, share: result.share }, setCookie)
  })
}

const missing = { reason: 'missing', exitCode: null } as const

function serveApp(
  request: Request,
  route: Route,
  identity: Identity | undefined,
  setCookie: readonly string[] = [],
): void {
  const { context, config, client, head, path } = request
  const origin = clientOriginOf(config, client, head)
  const caller = identity?.caller
  if (caller && identity.share) context.shares.noteVisit(route.entry.prefix, caller.userId)
  const active = caller?.active ?? context.limiter.forAnonymous(networkOf(origin.address), route.entry.prefix)
  if (head.fields.opensWebSocket) context.limiter.checkWebSockets(active)
  context.limiter.beginRequest(active)
  const { upstreamHeaders } = client
  const target = upstreamPathFor(path, route)
  const upstreamHead = upstreamHeaders.write(head, target, route, origin, identity, client.traceparent)
  const responseContext = withCookies(upstreamHeaders.responseContext, setCookie)
  const use = requestUse(route.rules, head, path.rest)
  const exchange = new Exchange({ head, upstream: route, upstreamHead, responseContext, caller, active, use }, client)
  startExchange(config, client, exchange)
}

/** A response with a cookie of one user is for no cache that others share, not even that of a public app. */
function withCookies(context: ResponseContext | undefined, setCookie: readonly string[]): ResponseContext | undefined {
  if (context === undefined || setCookie.length === 0) return context
  const { rules } = context
  return { ...context, setCookie, rules: rules.access === 'public' ? { ...rules, access: 'authenticated' } : rules }
}

/** On a connection that was kept, when there is one and the request could be sent again, else on a new one. */
function startExchange(config: GatewayConfig, client: RequestClient, exchange: Exchange): void {
  client.begin(exchange)
  const { upstream } = exchange.parts
  const pooled = exchange.isRepeatable && upstream.address ? upstream.idle.take() : undefined
  if (pooled) client.send(pooled)
  else void connectOrExplain(config, client, exchange)
}

function upstreamPathFor({ rest, query }: RequestPath, route: Route): string {
  if (!route.rules.stripPrefix) return `/${route.segment}${rest}${query}`
  return rest === '' ? `/${query}` : rest + query
}

function clientOriginOf(
  { settings, trustedProxies }: GatewayConfig,
  client: RequestClient,
  head: RequestHead,
): ClientOrigin {
  const { forwardedFor, isForwarded } = head.fields
  return {
    address: trustedProxies.clientAddress(client.peer, forwardedFor),
    scheme: settings.scheme,
    proxy: trustedProxies.proxyOf(client.peer, isForwarded),
  }
}

/** Health checks: for load balancers, and for what restarts programs. */
const [readinessPath, livenessPath] = ['/readyz', '/healthz']
/** Target of a request about no resource; HAProxy checks with `OPTIONS /` or this one. */
const wholeServer = '*'

/**
 * The gateway's own part of health checks. What is left is the API's; with several nodes that of the node that leads, which may be
 * away for longer than a load balancer waits.
 * @returns undefined for requests that go to the API
 * @throws {GatewayRefusal} 503 to a readiness check while it starts, drains, or is behind the other nodes
 */
function healthResponse(
  { isDraining, freshness, hasState }: RequestContext,
  { settings }: GatewayConfig,
  { method, target }: RequestHead,
): GatewayResponse | undefined {
  const isOptions = method === 'OPTIONS' && (target === '/' || target === wholeServer)
  if (isOptions || isPath(readinessPath, target)) {
    if (isDraining) throw gatewayRefusals.shuttingDown()
    if (freshness.isStale) throw gatewayRefusals.behind()
  }
  if (isOptions && !hasState) throw gatewayRefusals.starting()
  if (isOptions) return optionsResponse
  const isOneOfSeveral = settings.maxStateAge !== undefined
  return isOneOfSeveral && method === 'GET' && isPath(livenessPath, target) ? livenessResponse : undefined
}

/** Whatever its query. */
const isPath = (path: string, target: string) => target === path || target.startsWith(`${path}?`)
