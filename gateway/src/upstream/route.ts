import { clock } from '#/basics/clock.ts'
import { answersReady, readinessTarget } from '#/basics/readiness-request.ts'
import { segmentOf } from '#/basics/container-port.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import type { GatewayUser, RouteActivity, RouteEntry, TypeRules, UpstreamAddress, UseKind } from '#/port/gateway.ts'
import { ActiveRequests, ConnectionPool, type RequestUse, type Upstream } from './upstream.ts'

/**
 * How long a hold lasts, in ms: longer than the pause or stop that it is for. Applying the route again ends it earlier; should
 * that never come, no request must wait indefinitely.
 */
const maxHold = 60_000

/** How long an app may take to answer whether it is ready, in ms. */
const readinessTimeout = 5_000

type Listening = Pick<UpstreamAddress, 'host' | 'port'>

/** Upstream of one container: its route entry, its connection pool and its active requests. Connections belong to one address of one container for ever. */
export class Route implements Upstream {
  #entry: RouteEntry
  #address: UpstreamAddress | undefined
  /** End of its hold, by `clock.now`; 0: it is not held. */
  #heldUntil = 0
  /**
   * Where everything that is open leads. While the engine is unreachable nothing is known about the containers: their connections
   * stay open, and are cut when the engine is back and reports another address.
   */
  #openedAt: RouteEntry['where']
  #rules: TypeRules
  /** Undefined until the first request. */
  #traffic: RouteTraffic | undefined
  /** Routes of further ports that were used; undefined until the first. */
  #ports: Map<number, PortRoute> | undefined
  hasAnswered = false
  /** Fewer and larger reads made downloads a tenth cheaper than with 64 KiB. */
  readonly maxRead = 256 * 1024
  /** Whether the app was found ready at its present address, where its template says what to ask. */
  #isReady = false
  /** The request that asks for it; one for all that wait. */
  #asking: Promise<boolean> | undefined
  /** By `clock.now`. */
  lastByteAt = clock.now
  /** Last navigation that was noted, by `clock.now`. */
  #navigatedAt = Number.NEGATIVE_INFINITY
  /** Set while it waits in the list of routes that were used. */
  #isTouched = false
  readonly #indexes: RouteIndexes

  /** @param indexes what routes enter by themselves while they have something to be looked after */
  constructor(entry: RouteEntry, rules: TypeRules, indexes: RouteIndexes) {
    this.#entry = entry
    this.#address = connectableAddress(entry)
    this.#openedAt = entry.where
    this.#rules = rules
    this.#indexes = indexes
  }

  get rules(): TypeRules {
    return this.#rules
  }

  /** Takes rules by which what is open to it may go on; an app that was found ready stays so. */
  takeRules(rules: TypeRules): void {
    this.#rules = rules
    for (const each of this.#ports?.values() ?? []) each.takeRules(rulesOfPort(rules))
  }

  /** Port of the container that it leads to; undefined: the main one. */
  get port(): number | undefined {
    return undefined
  }

  /** First segment of its path. */
  get segment(): string {
    return this.#entry.prefix
  }

  get usesTls(): boolean {
    return this.#rules.scheme === 'https'
  }

  /**
   * The route of another port of this container, which follows this one.
   * @throws {GatewayRefusal} 429 when as many are in use as may be
   */
  onPort(port: number): PortRoute {
    const ports = (this.#ports ??= new Map())
    const known = ports.get(port)
    if (known) return known
    for (const [each, route] of ports) if (ports.size >= maxPorts && route.leave()) ports.delete(each)
    if (ports.size >= maxPorts) throw gatewayRefusals.tooManyOfYours(maxPorts)
    const route = new PortRoute(this, port, this.#indexes)
    ports.set(port, route)
    return route
  }

  get idle(): ConnectionPool {
    return this.#usedTraffic().idle
  }

  get activeRequests(): ActiveRequests {
    return this.#usedTraffic().activeRequests
  }

  /** See `scoped-token-source.ts`. */
  get scopedTokens(): ScopedTokenCache {
    return this.#usedTraffic().scopedTokens
  }

  /** Scoped tokens that were asked for, by `jti` of the caller's token, and the state of the user at that time. */
  get pendingTokens(): Map<string, PendingToken> {
    return this.#usedTraffic().pendingTokens
  }

  #usedTraffic(): RouteTraffic {
    return (this.#traffic ??= new RouteTraffic(this, this.#indexes))
  }

  get entry(): RouteEntry {
    return this.#entry
  }

  get name(): string {
    return `/${this.#entry.prefix}`
  }

  /** Undefined while it is unavailable, paused, or held for a pause or stop. */
  get address(): UpstreamAddress | undefined {
    if (this.#heldUntil > 0 && clock.now >= this.#heldUntil) this.#release()
    return this.#address
  }

  /** Applies a new entry, and cuts connections that it no longer allows or that lead elsewhere. */
  move(entry: RouteEntry): void {
    const { ownerId } = this.#entry
    this.#entry = entry
    this.#release()
    for (const [port, each] of this.#ports ?? []) each.move(entryOfPort(entry, port))
    if (entry.isBlocked || entry.ownerId !== ownerId) this.cut()
    if ('reason' in entry.where && entry.where.reason === 'unknown') return this.#traffic?.idle.closeAll()
    if (isSameAddress(this.#openedAt, entry.where)) return
    this.hasAnswered = false
    this.#isReady = false
    this.#asking = undefined
    this.#traffic?.idle.closeAll()
    this.#traffic?.activeRequests.cutForwarded()
    this.#openedAt = entry.where
  }

  /** Ends everything that is open to it. */
  cut(): void {
    this.#traffic?.idle.closeAll()
    this.#traffic?.activeRequests.cut()
    for (const each of this.#ports?.values() ?? []) each.cut()
  }

  /** Closes what is kept for later requests. @returns false while one is under way */
  leave(): boolean {
    if (this.#traffic && this.#traffic.activeRequests.size > 0) return false
    this.#traffic?.idle.closeAll()
    return true
  }

  /** See `Gateway.hold`. */
  hold(minIdle: number, by: UseKind = 'traffic'): boolean {
    if (clock.now - (by === 'navigation' ? this.#navigatedAt : this.lastByteAt) < minIdle) return false
    this.#address = undefined
    this.#heldUntil = clock.now + maxHold
    return true
  }

  #release(): void {
    this.#heldUntil = 0
    this.#address = connectableAddress(this.#entry)
  }

  /** Whether its app is ready at this address; asks it, where its template says so, until it is. Never rejects. */
  isReady(address: Listening): boolean | Promise<boolean> {
    const { readyPath, stripPrefix } = this.rules
    if (readyPath === undefined || this.#isReady) return true
    const target = readinessTarget(readyPath, this.#entry.prefix, stripPrefix)
    return (this.#asking ??= this.#ask(address, target))
  }

  async #ask(address: Listening, target: string): Promise<boolean> {
    const openedAt = this.#openedAt
    const isReady = await answersReady(address, target, readinessTimeout, this.usesTls)
    if (openedAt !== this.#openedAt) return false
    this.#asking = undefined
    this.#isReady = isReady
    return isReady
  }

  /** @param use of a request that is no use nothing is noted */
  touch(use: RequestUse = 'traffic'): void {
    if (use === 'none') return
    this.lastByteAt = clock.now
    if (use === 'navigation') this.#navigatedAt = clock.now
    if (this.#isTouched) return
    this.#isTouched = true
    this.#indexes.touched.push(this)
  }

  /** What `touch` has noted since the last report. */
  report(): RouteActivity {
    this.#isTouched = false
    const wallOf = (at: number) => clock.wall - (clock.now - at)
    const navigated = this.#navigatedAt > 0 ? { navigatedAt: wallOf(this.#navigatedAt) } : {}
    return { prefix: this.#entry.prefix, at: wallOf(this.lastByteAt), ...navigated }
  }
}

/** Further ports of one container that have routes at a time. */
const maxPorts = 64

/**
 * Route of a further port of a container: that of the container with another port. What is asked of it counts as use of the
 * container, whose token its app gets.
 */
export class PortRoute extends Route {
  readonly #main: Route
  readonly #port: number

  constructor(main: Route, port: number, indexes: RouteIndexes) {
    super(entryOfPort(main.entry, port), rulesOfPort(main.rules), indexes)
    this.#main = main
    this.#port = port
  }

  override get port(): number {
    return this.#port
  }

  override get segment(): string {
    return segmentOf(this.entry.prefix, this.#port)
  }

  override get name(): string {
    return `/${this.segment}`
  }

  /** The main port speaks what its template says under its number, too. */
  override get usesTls(): boolean {
    const { where } = this.#main.entry
    return !('reason' in where) && where.port === this.#port && this.#main.usesTls
  }

  /** While the container is held there is no way to any of its ports. */
  override get address(): UpstreamAddress | undefined {
    return this.#main.address && super.address
  }

  override get scopedTokens(): ScopedTokenCache {
    return this.#main.scopedTokens
  }

  override get pendingTokens(): Map<string, PendingToken> {
    return this.#main.pendingTokens
  }

  override touch(use?: RequestUse): void {
    this.#main.touch(use)
  }
}

function entryOfPort(entry: RouteEntry, port: number): RouteEntry {
  return 'reason' in entry.where ? entry : { ...entry, where: { ...entry.where, port } }
}

/**
 * Rules of further ports. Their programs are a person's own, such as a development server, and not what the operator's template is
 * about: so its access is not theirs, they know no prefix, and no template says what they answer when ready, or which of their paths
 * are no use.
 */
export function rulesOfPort(rules: TypeRules): TypeRules {
  const { readyPath: _readyPath, scheme: _scheme, ignoredPaths: _ignoredPaths, ...others } = rules
  return { ...others, access: 'owner', stripPrefix: true, rewriteLocation: true }
}

function connectableAddress({ where }: RouteEntry): UpstreamAddress | undefined {
  return 'reason' in where || where.isPaused ? undefined : where
}

/** The same container at the same address, whether or not it is paused. */
function isSameAddress(one: RouteEntry['where'], other: RouteEntry['where']): boolean {
  if ('reason' in one || 'reason' in other) return 'reason' in one && 'reason' in other
  return one.containerId === other.containerId && one.host === other.host && one.port === other.port
}

interface PendingToken {
  readonly user: GatewayUser
  /** Never rejects; undefined when none can be had. */
  readonly answer: Promise<string | undefined>
}

/** Indexes of the routes with something to sweep: of 100,000 routes they are few, and a full scan is too slow. */
export interface RouteIndexes {
  readonly withIdleConnections: Set<ConnectionPool>
  /** Routes to which something is open; the reader removes those without any. */
  readonly withActiveRequests: Set<Route>
  readonly withTokens: Set<ScopedTokenCache>
  /** Routes to or from which bytes moved, until `report` takes them out. */
  readonly touched: Route[]
}

/**
 * What requests to one container leave at its route. Made at the first one: of 100,000 routes most have none, and two empty
 * maps and two empty lists for each took 68 MB.
 */
class RouteTraffic {
  readonly idle: ConnectionPool
  readonly activeRequests: ActiveRequests
  readonly scopedTokens: ScopedTokenCache
  readonly pendingTokens = new Map<string, PendingToken>()

  constructor(route: Route, { withIdleConnections, withActiveRequests, withTokens }: RouteIndexes) {
    this.idle = new ConnectionPool(withIdleConnections)
    this.activeRequests = new ActiveRequests(() => withActiveRequests.add(route))
    this.scopedTokens = new ScopedTokenCache(withTokens)
  }
}

/** A token for an app, and until when it is good (ms since 1970). */
export interface ScopedToken {
  readonly token: string
  readonly expiresAt: number
}

/** Callers' tokens for which one app's are kept; a class of 1,000 that opens one public app is served without asking twice. */
const maxTokens = 1_000

interface Entry extends ScopedToken {
  /** As it was when the token was asked for. */
  readonly user: GatewayUser
}

/**
 * Tokens for one app, by the `jti` of the caller's own token: bounded, and without those that have expired. A token is used
 * only for the caller's token and the state of the user that it was issued for, so that neither a change of rights or a
 * block nor another session meets an earlier one.
 */
export class ScopedTokenCache {
  readonly #byJti = new Map<string, Entry>()
  readonly #nonEmptyCaches: Set<ScopedTokenCache>

  /** @param nonEmptyCaches the caches that hold any, which this one enters by itself; who reads it takes out those that are empty */
  constructor(nonEmptyCaches: Set<ScopedTokenCache>) {
    this.#nonEmptyCaches = nonEmptyCaches
  }

  get size(): number {
    return this.#byJti.size
  }

  /** @param user as it is now */
  get(jti: string, user: GatewayUser): ScopedToken | undefined {
    const known = this.#byJti.get(jti)
    return known?.user === user ? known : undefined
  }

  /**
   * Evicts the token that was set first when there are too many: it expires first.
   * @param user as it was when the token was asked for
   */
  set(jti: string, user: GatewayUser, { token, expiresAt }: ScopedToken): void {
    this.#byJti.delete(jti)
    const [oldest] = this.#byJti.keys()
    if (oldest !== undefined && this.#byJti.size >= maxTokens) this.#byJti.delete(oldest)
    this.#byJti.set(jti, { token, expiresAt, user })
    this.#nonEmptyCaches.add(this)
  }

  /** Forgets tokens that expired `grace` ms ago: until then they are used on while no control plane answers. */
  prune(grace: number): void {
    for (const [jti, { expiresAt }] of this.#byJti) if (expiresAt + grace <= clock.wall) this.#byJti.delete(jti)
  }

  clear(): void {
    this.#byJti.clear()
  }
}
