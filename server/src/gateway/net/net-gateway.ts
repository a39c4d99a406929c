import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { networkOf } from '../../address-network.ts'
import type { Change, ControlPlane, Gateway, GatewaySettings, Known } from '../gateway.ts'
import { ClientConnection, usualClientLimits, type ClientLimits } from './client-connection.ts'
import { ClientConnections } from './client-connections.ts'
import { clock, clockStep, readClock } from './clock.ts'
import { mayStay, type Core, type Serving } from './core.ts'
import { People } from './people.ts'
import { Platform } from './route.ts'
import { Routes } from './routes.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import { Usage, usualUsage, type UsageLimits } from './usage.ts'

export interface NetGatewayOptions {
  readonly limits?: Partial<ClientLimits>
  readonly usage?: Partial<UsageLimits>
}

/** A gateway on `node:net` that can be closed. */
export interface NetGateway extends Gateway {
  /** Takes no more connections, lets requests under way end within `limit` ms, and ends WebSockets and streams of events at once. */
  close(limit: number): Promise<void>
}

/** How often time-outs are looked at, and activity is reported, in ms. */
const [sweepEvery, reportEvery, pruneEvery] = [500, 1_000, 60_000]
/** How long expired tokens for apps are kept, in ms: while the API restarts they are used past their end. */
const tokenGrace = 3_600_000
/** Apps close idle connections after a while (Node after 5 s); we close first, so that requests rarely cross with it. */
const idleAppConnection = 4_000

/** Berth's own gateway: HTTP/1.1 on plain sockets, in this process. Nothing listens yet. */
export function createNetGateway(options: NetGatewayOptions = {}): NetGateway {
  return new PlainGateway(options)
}

class PlainGateway implements NetGateway, Core {
  readonly people = new People()
  readonly routes = new Routes(this.people)
  readonly usage: Usage
  readonly connections: ClientConnections
  serving: Serving | undefined
  isTold = false
  isClosing = false
  #setBacks = clock.setBacks
  readonly #limits: ClientLimits
  readonly #server: Server
  readonly #timers: NodeJS.Timeout[]

  constructor({ limits, usage }: NetGatewayOptions) {
    this.#limits = { ...usualClientLimits, ...limits }
    this.usage = new Usage({ ...usualUsage, ...usage })
    this.connections = new ClientConnections(this.usage.limits)
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#connected(socket))
    this.#timers = [
      setInterval(() => this.#readClock(), clockStep),
      setInterval(() => this.#sweep(), Math.min(sweepEvery, this.#limits.head / 2)),
      setInterval(() => this.#report(), reportEvery),
      setInterval(() => this.#prune(), pruneEvery),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  async listen(host: string, port: number): Promise<number> {
    if (!this.#server.listening) await bind(this.#server, host, port)
    // A TCP listener's address is never a path.
    return (this.#server.address() as AddressInfo).port
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    await this.people.setKeys(settings.keys)
    this.routes.setTypes(settings)
    const isSamePlatform = this.serving?.settings.platformSocket === settings.platformSocket
    this.serving?.platform.idle.endAll()
    this.serving = {
      control,
      settings,
      platform:
        isSamePlatform && this.serving
          ? this.serving.platform
          : new Platform(settings.platformSocket, this.routes.idle),
      reservedSlugs: new Set(settings.reservedSlugs),
      trustedProxies: new TrustedProxies(settings.trustedProxies),
    }
  }

  async replace({ people, places, revoked }: Known): Promise<void> {
    this.people.replace(people, revoked)
    this.routes.replace(places)
    this.isTold = true
    this.#cutForbidden()
  }

  async apply(changes: readonly Change[]): Promise<void> {
    for (const change of changes) this.#apply(change)
    if (changes.some(({ kind }) => kind !== 'place' && kind !== 'place-gone')) this.#cutForbidden()
  }

  async hold(prefix: string, quietFor: number): Promise<boolean> {
    return this.routes.get(prefix)?.hold(quietFor) ?? true
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    const tunnels = [...this.connections].filter(({ isTunnel }) => isTunnel).length
    return {
      berth_gateway_requests_total: this.usage.requests,
      berth_gateway_refusals_total: this.usage.refusals,
      berth_gateway_failures_total: this.usage.failures,
      berth_gateway_connections: this.connections.size,
      berth_gateway_connections_refused_total: this.connections.refused,
      berth_gateway_connections_evicted_total: this.connections.evicted,
      berth_gateway_unfinished_head_bytes: this.connections.unfinishedBytes,
      berth_gateway_websockets: tunnels,
      berth_gateway_routes: this.routes.size,
    }
  }

  async close(limit: number): Promise<void> {
    this.isClosing = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const connection of this.connections) if (connection.isIdle || connection.isEndless) connection.cut()
    const timer = setTimeout(() => this.#cutAll(), limit)
    if (this.#server.listening || this.connections.size > 0) await closed
    clearTimeout(timer)
    for (const each of this.#timers) clearInterval(each)
    for (const route of this.routes.all()) route.cut()
    this.serving?.platform.idle.endAll()
  }

  #connected(socket: Socket): void {
    const peer = socket.remoteAddress ?? ''
    const network = this.serving?.trustedProxies.isTrusted(peer) ? undefined : networkOf(peer)
    if (!this.connections.makeRoom(network)) return void socket.destroy()
    this.connections.add(new ClientConnection(socket, this, this.#limits, network))
  }

  #apply(change: Change): void {
    switch (change.kind) {
      case 'person':
        this.people.set(change.person)
        break
      case 'person-gone':
        this.people.remove(change.userId)
        break
      case 'place':
        this.routes.set(change.place)
        break
      case 'place-gone':
        this.routes.remove(change.prefix)
        break
      case 'revoked':
        this.people.revoke(change.revocation)
        break
    }
  }

  /** Ends what callers have open who may not go on, and what leads to owners who may not. */
  #cutForbidden(): void {
    for (const { stream } of this.connections) if (stream && !mayStay(this, stream.caller)) stream.cut()
    for (const route of this.routes.inUse()) {
      const owner = this.people.get(route.place.ownerId)
      if (!owner || owner.isBlocked) route.cut()
    }
  }

  #sweep(): void {
    this.#readClock()
    for (const connection of this.connections) {
      connection.sweep()
      const { stream } = connection
      // Tokens expire without anybody saying so.
      if (stream?.caller && stream.caller.expiresAt <= clock.wall) stream.cut()
    }
    const old = clock.now - idleAppConnection
    for (const idle of this.routes.idle) idle.endOlder(old)
  }

  #prune(): void {
    this.people.prune()
    this.routes.pruneTokens(tokenGrace)
  }

  /** Tokens for apps that were made by a clock that was set back would look good for too long. */
  #readClock(): void {
    readClock()
    if (clock.setBacks === this.#setBacks) return
    this.#setBacks = clock.setBacks
    this.routes.clearTokens()
  }

  #report(): void {
    const activity = this.routes.takeActivity()
    if (activity.length > 0) this.serving?.control.used(activity)
  }

  #cutAll(): void {
    for (const connection of this.connections) connection.cut()
  }
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new Error(reasonFor(error, host, port), { cause: error }))
    server.once('error', fail)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.removeListener('error', fail)
      resolve()
    })
  })
}

function reasonFor({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; set PORT to another one, or to 0 for a free one`
  if (code === 'EACCES') return `port ${port} may not be used without more rights; set PORT to one above 1023`
  return `cannot listen on ${host}:${port}; HOST must be an address of this machine`
}
