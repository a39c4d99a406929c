import { readFileSync } from 'node:fs'
import type { ActiveCount, ConnectionLimiter, PersonLimits } from '#/access/connection-limiter.ts'
import type { Tracer } from '#/basics/tracer.ts'
import type { RequestContext } from '#/proxy/request-context.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import { PlatformUpstream, type Upstream } from '#/upstream/upstream.ts'
import type { AccessLogSwitch } from './access-log.ts'

/** Max client connections, even if the operating system allows more: each takes about 10 KB. */
const maxConnections = 20_000
/** Connections in their TLS handshake, and those of the redirect to https, each as a part of all client connections. */
export const [handshakeShare, redirectShare] = [1 / 4, 1 / 4]
/** File descriptors for everything but connections: the listeners, the log, the API process, libraries. */
const reserved = 256
/** Never fewer, or Berth would be unusable. */
const minConnections = 64

/**
 * How many client connections this process may hold: two fifths of its file descriptors (RLIMIT_NOFILE; Node raises the soft
 * limit to the hard one at its start), because each may need another connection to an app, and with TLS there are handshakes and
 * redirects beside them.
 * @param limits text of `/proc/self/limits`
 */
export function maxClientConnections(limits = readLimits()): number {
  const allowed = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(
    minConnections,
    Math.min(maxConnections, Math.floor((allowed - reserved) / (2 + handshakeShare + redirectShare))),
  )
}

/** Empty where there is no such file: outside of Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** Connection limits of all clients together. */
export interface ConnectionLimits {
  readonly connections: number
  /** Bytes of heads that have not come to their end, with the memory that waits for the rest, all connections together. */
  readonly unfinishedHeads: number
  /** Bytes of answers that need no account and wait for clients to read them, all connections together. */
  readonly unreadAnswers: number
  /** Bytes of answers of public apps that are being sent to clients without an account, all connections together. */
  readonly unreadAppAnswers: number
}

/** Limits of one user, and of all clients together. */
export interface GatewayLimits extends ConnectionLimits, PersonLimits {}

export const defaultGatewayLimits: GatewayLimits = {
  connections: maxClientConnections(),
  unfinishedHeads: 32 * 1024 * 1024,
  // A thousand clients that read nothing of a page; those of a class on a slow network read some of it.
  unreadAnswers: 64 * 1024 * 1024,
  // A thousand clients on slow lines: of a file that is being sent 256 KB wait for each.
  unreadAppAnswers: 256 * 1024 * 1024,
  webSocketsPerPerson: 100,
  requestsPerPerson: 250,
}

/** What all connections of one gateway share: what their requests need, and what they need beside it. */
export interface ConnectionContext extends RequestContext {
  readonly connections: ClientConnections<LimitedConnection>
  readonly accessLog: Pick<AccessLogSwitch, 'current'>
  /** Undefined without traces. */
  readonly tracer: Tracer | undefined
}

/** What the limits need of a connection. */
export interface LimitedConnection {
  /** The network that it is counted by; undefined for trusted proxies, which carry many clients. */
  readonly network: string | undefined
  /** Since when it has had no request, by `clock.now`: since its last answer, or since it was opened. */
  readonly idleSince: number
  /** A request is being served, or it carries a WebSocket. */
  readonly isWorking: boolean
  /** What is open on it now: a request, or a WebSocket. */
  readonly activeRequest: { readonly caller: Caller | undefined } | undefined
  /** The request that is being served, once it has an upstream. */
  readonly exchange: LimitedExchange | undefined
  readonly isGone: boolean
  /** So much of what was written waits for the client that it has to be counted. */
  readonly hasUnread: boolean
  /** Bytes that it keeps in memory for a client that does not read. */
  readonly heldBytes: number
  hasUnsentBytes(): boolean
  /** Calls back when all that was written until now has been sent, or never will be. */
  onceSent(callback: () => void): void
  /** Closes it at once. */
  cut(): void
}

interface LimitedExchange {
  readonly caller: Caller | undefined
  readonly isRequestDone: boolean
  readonly parts: { readonly upstream: Upstream }
}

/**
 * Downstream connections within limits: in total, per address, and in bytes of unfinished request heads and of answers that
 * are not read. At a limit it evicts the least recently used (LRU) idle connections, then those of `evictionOrder`, so that a
 * client that holds connections open cannot exhaust them. One address gets half of the total.
 */
export class ClientConnections<Connection extends LimitedConnection> {
  readonly #limits: ConnectionLimits
  readonly #all = new Set<Connection>()
  readonly #byNetwork = new Map<string, Set<Connection>>()
  readonly unfinishedHeads: HeldBytes<Connection>
  readonly unreadAnswers: HeldBytes<Connection>
  readonly unreadAppAnswers: HeldBytes<Connection>
  /** Since the start: not taken because nothing could be closed, and closed to make room. */
  refused = 0
  evicted = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    const close = (connection: Connection) => this.#close(connection)
    this.unfinishedHeads = new HeldBytes({ limit: limits.unfinishedHeads, isHeld: () => true, close })
    const isHeld = ({ hasUnread }: Connection) => hasUnread
    this.unreadAnswers = new HeldBytes({ limit: limits.unreadAnswers, isHeld, close })
    this.unreadAppAnswers = new HeldBytes({ limit: limits.unreadAppAnswers, isHeld, close })
  }

  get size(): number {
    return this.#all.size
  }

  get unfinishedBytes(): number {
    return this.unfinishedHeads.total
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#all.values()
  }

  /**
   * Whether one more may be opened; closes others for it when it has to.
   * @param network of the client, as `networkOf` names it; undefined for proxies that speak for many
   */
  makeRoom(network: string | undefined): boolean {
    const { connections } = this.#limits
    const same = network === undefined ? undefined : this.#byNetwork.get(network)
    const perNetwork = Math.max(1, Math.floor(connections / 2))
    const isRoom =
      (same === undefined || same.size < perNetwork || this.#evict(same, perNetwork)) &&
      (this.#all.size < connections || this.#evict(this.#all, connections))
    if (!isRoom) this.refused++
    return isRoom
  }

  add(connection: Connection): void {
    this.#all.add(connection)
    const { network } = connection
    if (network === undefined) return
    const same = this.#byNetwork.get(network) ?? new Set()
    this.#byNetwork.set(network, same.add(connection))
  }

  delete(connection: Connection): void {
    this.unfinishedHeads.delete(connection)
    this.unreadAnswers.delete(connection)
    this.unreadAppAnswers.delete(connection)
    if (!this.#all.delete(connection) || connection.network === undefined) return
    const same = this.#byNetwork.get(connection.network)
    same?.delete(connection)
    if (same?.size === 0) this.#byNetwork.delete(connection.network)
  }

  /** Evicts some at once, which amortizes the scan over many new connections. @returns whether any was closed */
  #evict(among: ReadonlySet<Connection>, limit: number): boolean {
    const some = Math.ceil(limit / 100)
    const evictable = evictionOrder.map((isIn) => [...among].filter(isIn)).find(({ length }) => length > 0) ?? []
    const oldest = evictable.toSorted((a, b) => a.idleSince - b.idleSince).slice(0, some)
    for (const each of oldest) this.#close(each)
    return oldest.length > 0
  }

  #close(connection: Connection): void {
    this.evicted++
    this.delete(connection)
    connection.cut()
  }
}

/** Eviction order: a kind is evicted only when there is none of the kinds before it. */
const evictionOrder: readonly ((connection: LimitedConnection) => boolean)[] = [
  ({ isWorking }) => !isWorking,
  isAnonymousUpload,
  isUnreadByClient,
  isAnonymous,
]

/** An anonymous client (no account) has not sent all of a request yet. */
function isAnonymousUpload({ exchange }: LimitedConnection): boolean {
  return exchange !== undefined && exchange.caller === undefined && !exchange.isRequestDone
}

/** An answer of the platform, which anyone gets, waits for its client to read. */
function isUnreadByClient(connection: LimitedConnection): boolean {
  return isForPlatform(connection) && connection.hasUnsentBytes()
}

/** An anonymous client waits for or receives an app's response, or has a WebSocket open. */
function isAnonymous(connection: LimitedConnection): boolean {
  const { activeRequest } = connection
  return activeRequest !== undefined && activeRequest.caller === undefined && !isForPlatform(connection)
}

const isForPlatform = ({ exchange }: LimitedConnection) => exchange?.parts.upstream instanceof PlatformUpstream

/** What becomes of connections that hold too much. */
interface HeldBytesOptions<Connection> {
  /** Of all connections together. */
  readonly limit: number
  /** Whether a connection still holds what was counted; those that do not are counted no more. */
  isHeld(connection: Connection): boolean
  close(connection: Connection): void
}

/** What the connections of one network hold, in the order in which they began. */
interface NetworkBytes<Connection> {
  total: number
  readonly held: Map<Connection, number>
}

/**
 * Bytes of one kind that connections hold, with a limit for all together. Above it those of the network that holds most are closed, the
 * first to begin first: one network cannot have the connections of others closed. Clients behind trusted proxies count as one.
 */
class HeldBytes<Connection extends LimitedConnection> {
  readonly #options: HeldBytesOptions<Connection>
  /** By `LimitedConnection.network`. At most a few thousand: each holds 16 KB, and all together the limit. */
  readonly #networks = new Map<string | undefined, NetworkBytes<Connection>>()
  #total = 0

  constructor(options: HeldBytesOptions<Connection>) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  /** @param bytes that the connection holds now; it keeps its position in the order */
  set(connection: Connection, bytes: number): void {
    const network = this.#networks.get(connection.network) ?? { total: 0, held: new Map<Connection, number>() }
    this.#networks.set(connection.network, network)
    const more = bytes - (network.held.get(connection) ?? 0)
    network.held.set(connection, bytes)
    network.total += more
    this.#total += more
    while (this.#total > this.#options.limit) this.#closeOne()
  }

  delete(connection: Connection): void {
    const network = this.#networks.get(connection.network)
    const bytes = network?.held.get(connection)
    if (!network || bytes === undefined) return
    network.held.delete(connection)
    network.total -= bytes
    this.#total -= bytes
    if (network.held.size === 0) this.#networks.delete(connection.network)
  }

  #closeOne(): void {
    const { isHeld, close } = this.#options
    let most: NetworkBytes<Connection> | undefined
    for (const network of this.#networks.values()) if (network.total > (most?.total ?? 0)) most = network
    const [oldest] = most?.held.keys() ?? []
    if (!oldest) throw new Error(`${this.#total} bytes are held by no connection`)
    this.delete(oldest)
    if (isHeld(oldest)) close(oldest)
  }
}

/**
 * What the client of one connection has not read yet of its answers takes memory, also after their requests are over: a client
 * that reads nothing could ask on thousands of connections. A user's request to an app counts until its answer is read. Answers
 * that need no account, of public apps, the platform and the gateway, have a limit of bytes for all clients together: a network may
 * be a school on a slow line.
 */
export class UnreadAnswer {
  readonly #connection: LimitedConnection
  readonly #limiter: ConnectionLimiter
  readonly #connections: ClientConnections<LimitedConnection>
  /** Where the request is counted whose answer is not read. */
  #active: ActiveCount | undefined
  #isHeld = false

  constructor(connection: LimitedConnection, { limiter, connections }: ConnectionContext) {
    this.#connection = connection
    this.#limiter = limiter
    this.#connections = connections
  }

  /** Counts the request no more; called when the next one begins, because one connection counts as one request. */
  endCount(): void {
    if (this.#active === undefined) return
    this.#limiter.endRequest(this.#active)
    this.#active = undefined
  }

  /** A request is over. @param active where it is counted; undefined for answers of the platform and of the gateway */
  requestEnded(active: ActiveCount | undefined): void {
    this.endCount()
    const { hasUnread } = this.#connection
    const isCounted = hasUnread && active !== undefined && active.key === undefined
    if (isCounted) this.#active = active
    else this.#limiter.endRequest(active)
    if (!hasUnread) return
    if (isCounted) this.#isHeld = true
    else this.hold()
    this.#connection.onceSent(() => this.settle())
  }

  /** An answer that needs no account waits for its client. */
  hold(): void {
    if (this.#connection.isGone) return
    this.#isHeld = true
    const { unreadAnswers, unreadAppAnswers } = this.#connections
    unreadAppAnswers.delete(this.#connection)
    unreadAnswers.set(this.#connection, this.#connection.heldBytes)
  }

  /** What has come of an app's answer, which needs no account, waits for its client. */
  holdOfApp(): void {
    if (this.#connection.isGone) return
    this.#isHeld = true
    this.#connections.unreadAppAnswers.set(this.#connection, this.#connection.heldBytes)
  }

  /** Called when something has been read. */
  settle(): void {
    if (this.#isHeld && !this.#connection.hasUnread) this.release()
  }

  /** Nothing of it is in memory any more. */
  release(): void {
    this.#isHeld = false
    this.endCount()
    this.#connections.unreadAnswers.delete(this.#connection)
    this.#connections.unreadAppAnswers.delete(this.#connection)
  }
}
