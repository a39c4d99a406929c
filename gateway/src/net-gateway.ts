import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Server as HttpServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { networkOf } from '#/basics/ip-address.ts'
import type { Tracer, TracingSettings } from '#/basics/tracer.ts'
import { AccessLogSwitch } from '#/clients/access-log.ts'
import type {
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  TlsSettings,
  UseKind,
} from '#/port/gateway.ts'
import { GatewayMetrics } from '#/proxy/gateway-metrics.ts'
import { ClientConnection } from '#/clients/client-connection.ts'
import { defaultClientTimeouts, type ClientTimeouts } from '#/clients/client-socket.ts'
import {
  ClientConnections,
  defaultGatewayLimits,
  redirectShare,
  type ConnectionContext,
  type GatewayLimits,
} from '#/clients/client-connections.ts'
import { clock, clockResolution, readClock } from '#/basics/clock.ts'
import { Freshness } from '#/access/freshness.ts'
import type { GatewayConfig } from '#/access/gateway-config.ts'
import { mayContinue } from '#/proxy/request-context.ts'
import { ShareTable } from '#/access/share-table.ts'
import { SessionTracker } from '#/access/session-tracker.ts'
import { TokenVerifier, UserCache } from '#/tokens/token-verifier.ts'
import { ContainerHosts } from '#/access/container-hosts.ts'
import { PlatformUpstream } from '#/upstream/upstream.ts'
import { RoutingTable } from '#/upstream/routing-table.ts'
import { TrustedProxies } from '#/access/trusted-proxies.ts'
import { ConnectionLimiter } from '#/access/connection-limiter.ts'
import { bind } from '#/basics/bind.ts'
import { UsualDurations } from '#/basics/usual-durations.ts'
import { createRedirectListener } from '#/clients/redirect-listener.ts'
import { createTlsListener, type TlsListener } from '#/clients/tls-listener.ts'

export interface NetGatewayOptions {
  readonly timeouts?: Partial<ClientTimeouts>
  readonly limits?: Partial<GatewayLimits>
}

/** A gateway on `node:net` that can be closed. */
export interface NetGateway extends Gateway {
  /**
   * Goes on for as long as the settings say, and answers `/readyz` with 503, so that a load balancer sends nothing more. A connection
   * carries one more answer, and says so.
   */
  drain(): Promise<void>
  /**
   * Graceful shutdown: accepts no more connections, lets active requests finish within `timeout` ms, and ends event streams and
   * WebSockets at once; clients of these are told to connect anew.
   */
  close(timeout: number): Promise<void>
  /** Opens the file of the access log anew, because it was renamed. */
  reopenAccessLog(): void
}

/** Intervals of the timeout sweep, of activity reports and of pruning, in ms. */
const [sweepEvery, reportEvery, pruneEvery] = [500, 1_000, 60_000]

/** How long expired tokens for apps are kept, in ms: while the API restarts they are used past their end. */
const expiredTokenRetention = 3_600_000

/** Apps close idle connections after a while (Node after 5 s); we close first, so that requests rarely cross with it. */
const maxUpstreamIdle = 4_000

/**
 * Reverse proxy: HTTP/1.1 on plain sockets, in this process. Nothing listens yet. Ours, because no Node library offers its
 * checks of framing at its speed (docs/explanation/decisions/016).
 */
export function createNetGateway(options: NetGatewayOptions = {}): NetGateway {
  return new ReverseProxy(options)
}

class ReverseProxy implements NetGateway, ConnectionContext {
  readonly users = new UserCache()
  readonly tokens = new TokenVerifier(this.users)
  readonly sessions = new SessionTracker()
  readonly shares = new ShareTable(this.users)
  readonly metrics = new GatewayMetrics()
  readonly freshness = new Freshness()
  readonly accessLog = new AccessLogSwitch((problem) => this.#reportProblem(problem))
  readonly routingTable: RoutingTable
  readonly limiter: ConnectionLimiter
  readonly connections: ClientConnections<ClientConnection>
  tracer: Tracer | undefined
  #tracing: TracingSettings | undefined
  config: GatewayConfig | undefined
  hasState = false
  isDraining = false
  isClosing = false
  #setBacks = clock.setBacks
  /** Resolves when settings that were sent are in force, or refused: what is sent behind them is judged by them. */
  #settled: Promise<void> = Promise.resolve()
  readonly #timeouts: ClientTimeouts
  readonly #limits: GatewayLimits
  /** Of plain HTTP, until it is replaced by one of TLS before it is bound. */
  #server: Server
  #tls: TlsListener | undefined
  #redirect: HttpServer | undefined
  /** Reads the clock while clients are connected: without any it would be most of what an idle gateway does. */
  #clockTimer: NodeJS.Timeout | undefined
  readonly #timers: NodeJS.Timeout[]
  readonly #reportProblem = (problem: string) => this.config?.control.report(problem)

  constructor({ timeouts, limits }: NetGatewayOptions) {
    // The clock stands still while no gateway runs.
    readClock()
    this.routingTable = new RoutingTable(this.users)
    this.#timeouts = { ...defaultClientTimeouts, ...timeouts }
    this.#limits = { ...defaultGatewayLimits, ...limits }
    this.limiter = new ConnectionLimiter(this.#limits)
    this.connections = new ClientConnections(this.#limits)
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#connected(socket))
    this.#timers = [
      setInterval(() => this.#sweep(), Math.min(sweepEvery, this.#timeouts.head / 2)),
      setInterval(() => this.#report(), reportEvery),
      setInterval(() => this.#prune(), pruneEvery),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  async listen(host: string, port: number, tls: TlsSettings | null = null): Promise<number> {
    if (!this.#server.listening) {
      if (tls) this.#useTls(tls)
      await bind(this.#server, host, port, this.#reportProblem)
      if (this.#redirect && tls?.redirectPort) await bind(this.#redirect, host, tls.redirectPort, this.#reportProblem)
    } else if (tls) this.#tls?.use(tls)
    // A TCP listener's address is never a path.
    return (this.#server.address() as AddressInfo).port
  }

  #useTls(tls: TlsSettings): void {
    const connected = (socket: Socket) => this.#connected(socket)
    const { connections } = this.#limits
    this.#tls = createTlsListener(tls, connections, this.#reportProblem, connected)
    this.#server = this.#tls.server
    const port = () => (this.#server.address() as AddressInfo).port
    const maxRedirects = Math.floor(connections * redirectShare)
    if (tls.redirectPort !== null) this.#redirect = createRedirectListener(port, maxRedirects)
  }

  serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    const served = this.#settled.then(() => this.#serve(settings, control))
    this.#settled = served.catch(() => undefined)
    return served
  }

  async #serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    await this.tokens.setKeys(settings.keys)
    this.routingTable.setTypes(settings)
    this.sessions.configure(settings)
    const isSamePlatform = this.config?.settings.platformSocket === settings.platformSocket
    this.config?.platform.idle.closeAll()
    this.config?.reader?.upstream.idle.closeAll()
    this.config = {
      control,
      settings,
      platform:
        isSamePlatform && this.config
          ? this.config.platform
          : new PlatformUpstream(settings.platformSocket, this.routingTable.idle),
      reader: settings.reader && {
        upstream: new PlatformUpstream(settings.reader.socket, this.routingTable.idle),
        paths: new Set(settings.reader.paths),
      },
      reservedSlugs: new Set(settings.reservedSlugs),
      trustedProxies: new TrustedProxies(settings.trustedProxies),
      containerHosts: settings.containerHosts && new ContainerHosts(settings.containerHosts, settings.scheme),
      wakeTimes: this.config?.wakeTimes ?? new UsualDurations(),
    }
    this.accessLog.use(settings.accessLog)
    await this.#useTracing(settings.tracing)
    this.freshness.use(settings.maxStateAge, () => control.confirmState())
  }

  async #useTracing(settings: TracingSettings | undefined): Promise<void> {
    if (isDeepStrictEqual(settings, this.#tracing)) return
    const before = this.tracer
    this.#tracing = settings
    this.tracer = settings && new (await import('#/basics/tracer.ts')).Tracer(settings, 'gateway', this.#reportProblem)
    void before?.flush()
  }

  async replace({ users, routes, revoked, shares, shareGroups }: GatewayState): Promise<void> {
    await this.#settled
    this.users.replace(users)
    this.shares.replace(shares, shareGroups)
    this.tokens.replaceRevocations(revoked)
    this.routingTable.replace(routes)
    this.hasState = true
    this.#cutForbidden()
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    await this.#settled
    for (const change of changes) this.#apply(change)
    if (changes.some(({ kind }) => kind !== 'route' && kind !== 'route-gone')) this.#cutForbidden()
  }

  async hold(prefix: string, minIdle: number, by?: UseKind): Promise<boolean> {
    await this.#settled
    this.#readClock()
    return this.routingTable.hold(prefix, minIdle, by)
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    const tunnels = [...this.connections].filter(({ openTunnel }) => openTunnel).length
    return {
      berth_gateway_requests_total: this.limiter.requests,
      berth_gateway_refusals_total: this.limiter.refusals,
      berth_gateway_failures_total: this.limiter.failures,
      berth_gateway_connections: this.connections.size,
      berth_gateway_connections_max: this.#limits.connections,
      berth_gateway_connections_refused_total: this.connections.refused,
      berth_gateway_connections_evicted_total: this.connections.evicted,
      berth_gateway_unfinished_head_bytes: this.connections.unfinishedBytes,
      berth_gateway_websockets: tunnels,
      berth_gateway_routes: this.routingTable.size,
      ...this.metrics.series(),
      ...this.accessLog.counts(),
      ...this.tracer?.counts(),
    }
  }

  async drain(): Promise<void> {
    this.isDraining = true
    await sleep(this.config?.settings.drainTime ?? 0)
  }

  async close(timeout: number): Promise<void> {
    this.isClosing = true
    this.#tls?.close()
    this.#redirect?.close()
    this.#redirect?.closeAllConnections()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const connection of this.connections) {
      if (connection.openTunnel) connection.openTunnel.endForRestart()
      // The end of its last answer may still wait for a slow reader.
      else if (connection.isIdle && connection.hasUnsentBytes()) connection.end()
      else if (connection.isIdle || connection.isEndless) connection.cut()
    }
    const timer = setTimeout(() => this.#cutAll(), timeout)
    if (this.#server.listening || this.connections.size > 0) await closed
    clearTimeout(timer)
    for (const each of [this.#clockTimer, ...this.#timers]) clearInterval(each)
    this.freshness.stop()
    for (const route of this.routingTable.used()) route.cut()
    this.config?.platform.idle.closeAll()
    this.config?.reader?.upstream.idle.closeAll()
    this.accessLog.close()
    await this.tracer?.flush()
  }

  reopenAccessLog(): void {
    this.accessLog.reopen()
  }

  #connected(socket: Socket): void {
    this.#runClock()
    const peer = socket.remoteAddress ?? ''
    const network = this.config?.trustedProxies.isTrusted(peer) ? undefined : networkOf(peer)
    if (!this.connections.makeRoom(network)) return void socket.destroy()
    this.connections.add(new ClientConnection(socket, this, this.#timeouts, network))
  }

  #apply(change: GatewayChange): void {
    switch (change.kind) {
      case 'user':
        this.users.set(change.user)
        break
      case 'user-gone':
        this.users.remove(change.userId)
        break
      case 'route':
        this.routingTable.set(change.route)
        break
      case 'route-gone':
        this.routingTable.remove(change.prefix)
        break
      case 'revoked':
        this.tokens.revoke(change.revocation)
        break
      case 'shares':
        this.shares.set(change.shares)
        break
      case 'share-group':
        this.shares.setGroup(change.group)
        break
    }
  }

  /** Ends what callers have open who may not go on, and what leads to owners who may not. */
  #cutForbidden(): void {
    for (const { activeRequest } of this.connections)
      if (activeRequest && !mayContinue(this, activeRequest.caller)) activeRequest.cut()
    for (const route of this.routingTable.inUse()) {
      const owner = this.users.get(route.entry.ownerId)
      if (!owner || owner.isBlocked) route.cut()
      else this.shares.cutForbidden(route)
    }
  }

  #sweep(): void {
    this.#readClock()
    if (this.connections.size === 0) this.#stopClock()
    for (const connection of this.connections) {
      connection.sweep()
      const { activeRequest } = connection
      // No request says for sure whether its answer will be a stream.
      if (activeRequest?.caller && connection.isStreaming && this.tokens.isSessionEnded(activeRequest.caller))
        activeRequest.cut()
      // Tokens and sessions expire without a message from the control plane.
      if (
        activeRequest?.caller &&
        activeRequest.caller.expiresAt <= clock.wall &&
        !mayContinue(this, activeRequest.caller)
      )
        activeRequest.cut()
    }
    // Shares end without a message, too.
    if (!this.shares.isEmpty) for (const route of this.routingTable.inUse()) this.shares.cutForbidden(route)
    if (this.freshness.isStale) for (const route of this.routingTable.inUse()) route.cut()
    const old = clock.now - maxUpstreamIdle
    for (const idle of this.routingTable.idle) idle.closeIdleSince(old)
  }

  #prune(): void {
    this.tokens.prune()
    this.shares.prune()
    const open = [...this.connections].flatMap(({ activeRequest }) => activeRequest?.caller?.sid ?? [])
    this.sessions.prune(new Set(open))
    this.routingTable.pruneTokens(expiredTokenRetention)
  }

  #runClock(): void {
    if (this.#clockTimer) return
    this.#readClock()
    this.#clockTimer = setInterval(() => this.#readClock(), clockResolution).unref()
  }

  #stopClock(): void {
    clearInterval(this.#clockTimer)
    this.#clockTimer = undefined
  }

  /** Tokens for apps that were made by a clock that was set back would look good for too long. */
  #readClock(): void {
    readClock()
    if (clock.setBacks === this.#setBacks) return
    this.#setBacks = clock.setBacks
    this.routingTable.clearTokens()
  }

  #report(): void {
    const activity = this.routingTable.takeActivity()
    if (activity.length > 0) this.config?.control.reportActivity(activity)
    const uses = this.sessions.takeUses()
    if (uses.length > 0) this.config?.control.reportSessionUses(uses)
    this.#reportVisits()
  }

  #reportVisits(): void {
    if (!this.shares.isEmpty) for (const route of this.routingTable.inUse()) this.shares.noteOpen(route)
    const visits = this.shares.takeVisits()
    if (visits.length > 0) this.config?.control.reportVisits(visits)
  }

  #cutAll(): void {
    for (const connection of this.connections) connection.cut()
  }
}
