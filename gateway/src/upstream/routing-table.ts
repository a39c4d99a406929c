import { isDeepStrictEqual } from 'node:util'
import type { UserCache } from '#/tokens/token-verifier.ts'
import { clock } from '#/basics/clock.ts'
import {
  unavailable,
  type GatewaySettings,
  type GatewayUser,
  type RouteActivity,
  type RouteEntry,
  type TypeRules,
  type UseKind,
} from '#/port/gateway.ts'
import { Route, type RouteIndexes, type ScopedTokenCache } from './route.ts'
import type { ConnectionPool } from './upstream.ts'

/**
 * Routing table: every route entry, by prefix and by upstream address. A route is made when its entry is used for the first time: of
 * 100,000 most are not, and one for each took 15 MB.
 */
export class RoutingTable {
  readonly #entries = new Map<string, RouteEntry>()
  /** Of the entries that were used, by prefix. */
  readonly #routes = new Map<string, Route>()
  readonly #prefixByAddress = new Map<string, string>()
  readonly #users: UserCache
  #types: ReadonlyMap<string, TypeRules> = new Map()
  #firstType = ''
  /** By `clock.now`: since then no byte was moved to or from an entry without a route. */
  #since = clock.now
  /** Those that have idle connections now, the platform's among them. */
  readonly idle = new Set<ConnectionPool>()
  readonly #open = new Set<Route>()
  readonly #tokens = new Set<ScopedTokenCache>()
  readonly #indexes: RouteIndexes = {
    withIdleConnections: this.idle,
    withActiveRequests: this.#open,
    withTokens: this.#tokens,
    touched: [],
  }

  constructor(users: UserCache) {
    this.#users = users
  }

  /** Number of route entries. */
  get size(): number {
    return this.#entries.size
  }

  used(): Iterable<Route> {
    return this.#routes.values()
  }

  /** Those to which something is open; they are fewer than those that were used, which accumulate. */
  *inUse(): Iterable<Route> {
    for (const route of this.#open) {
      if (route.activeRequests.size > 0) yield route
      else this.#open.delete(route)
    }
  }

  /** Takes other rules for the types, and cuts what is open to routes of which they change what is forwarded, or who may. */
  setTypes({ types, firstType }: Pick<GatewaySettings, 'types' | 'firstType'>): void {
    this.#firstType = firstType
    const before = this.#types
    // A new control plane sends equal rules as other objects; open connections must survive that.
    this.#types = new Map(
      Object.entries(types).map(([type, rules]) => {
        const known = before.get(type)
        return [type, known && isDeepStrictEqual(known, rules) ? known : rules]
      }),
    )
    // Templates can change while this control plane stays.
    for (const entry of this.#entries.values()) this.#takeRules(entry)
  }

  #takeRules(entry: RouteEntry): void {
    const rules = this.#types.get(entry.type)
    if (!rules) return this.remove(entry.prefix)
    const route = this.#routes.get(entry.prefix)
    if (!route || route.rules === rules) return
    if (isSameForwarding(rules, route.rules)) route.takeRules(rules)
    else this.#makeAnew(route)
  }

  has(prefix: string): boolean {
    return this.#entries.has(prefix)
  }

  /** The rules of its type, if there is such a route. */
  rulesOf(prefix: string): TypeRules | undefined {
    const entry = this.#entries.get(prefix)
    return entry && this.#types.get(entry.type)
  }

  /** The route with this prefix, which is made if it was not used before. */
  get(prefix: string): Route | undefined {
    const known = this.#routes.get(prefix)
    if (known) return known
    const entry = this.#entries.get(prefix)
    const rules = entry && this.#types.get(entry.type)
    if (!rules) return undefined
    const route = new Route(entry, rules, this.#indexes)
    // Its first request may be one that is no use.
    route.lastByteAt = this.#since
    this.#routes.set(prefix, route)
    return route
  }

  /** See `Gateway.hold`. */
  hold(prefix: string, minIdle: number, by: UseKind = 'traffic'): boolean {
    const isUsed = this.#routes.has(prefix)
    if (!isUsed && by === 'traffic' && clock.now - this.#since < minIdle) return !this.has(prefix)
    const route = this.get(prefix)
    if (!route) return true
    return route.hold(minIdle, by)
  }

  /**
   * Where this segment leads, or undefined. The type is compared as it is encoded in our own addresses: one container has one path.
   * Makes no route, because it is asked before access is checked.
   */
  match(segment: string): RouteMatch | undefined {
    const entry = this.#entries.get(segment)
    if (!entry) return this.#matchMissing(segment)
    const { ownerId, type, isBlocked } = entry
    const owner = this.#users.get(ownerId)
    const rules = this.#types.get(type)
    return owner && rules && { kind: 'container', type, rules, owner, isBlocked }
  }

  #matchMissing(segment: string): RouteMatch | undefined {
    const hyphen = segment.indexOf('-')
    const owner = this.#users.bySlug(hyphen === -1 ? segment : segment.slice(0, hyphen))
    if (!owner) return undefined
    if (hyphen === -1) return { kind: 'home', path: `/${owner.slug}-${this.#firstType}/`, owner }
    const type = segment.slice(hyphen + 1)
    const rules = this.#types.get(type)
    return rules && { kind: 'container', type, rules, owner, isBlocked: false }
  }

  /** An address belongs to one entry: the route that had it before has none until its next change. */
  set(entry: RouteEntry): void {
    const rules = this.#types.get(entry.type)
    // Its template is gone: the container runs on, but there is no way to it.
    if (!rules) return this.remove(entry.prefix)
    const route = this.#routes.get(entry.prefix)
    if (route && route.rules !== rules) this.#makeAnew(route)
    this.#releaseAddress(entry.prefix)
    const shared = withSharedWhere(entry)
    this.#move(shared)
    this.#takeAddress(shared)
  }

  remove(prefix: string): void {
    this.#releaseAddress(prefix)
    this.#entries.delete(prefix)
    const route = this.#routes.get(prefix)
    if (route) this.#discard(route)
  }

  /** Makes exactly these places known. */
  replace(entries: readonly RouteEntry[]): void {
    const gone = new Set(this.#entries.keys())
    for (const entry of entries) {
      gone.delete(entry.prefix)
      this.set(entry)
    }
    for (const prefix of gone) this.remove(prefix)
  }

  /** Containers that bytes moved to or from since the last call. */
  takeActivity(): RouteActivity[] {
    return this.#indexes.touched.splice(0).map((route) => route.report())
  }

  /** Forgets tokens for apps that expired `grace` ms ago. */
  pruneTokens(grace: number): void {
    for (const cache of this.#tokens) {
      cache.prune(grace)
      if (cache.size === 0) this.#tokens.delete(cache)
    }
  }

  /** Forgets all tokens for apps. */
  clearTokens(): void {
    for (const cache of this.#tokens) cache.clear()
    this.#tokens.clear()
  }

  #move(entry: RouteEntry): void {
    this.#entries.set(entry.prefix, entry)
    this.#routes.get(entry.prefix)?.move(entry)
  }

  /** A route has its rules for good, but for those that concern no forwarding: the next use of the entry makes another one. */
  #makeAnew(route: Route): void {
    this.#since = clock.now
    this.#discard(route)
  }

  /** Ends everything that is open to it. */
  #discard(route: Route): void {
    this.#routes.delete(route.entry.prefix)
    route.cut()
  }

  #takeAddress({ prefix, where }: RouteEntry): void {
    const key = addressKey(where)
    if (key === undefined) return
    const displaced = this.#entries.get(this.#prefixByAddress.get(key) ?? prefix)
    if (displaced && displaced.prefix !== prefix) this.#move({ ...displaced, where: unavailable('unknown') })
    this.#prefixByAddress.set(key, prefix)
  }

  #releaseAddress(prefix: string): void {
    const entry = this.#entries.get(prefix)
    const key = entry && addressKey(entry.where)
    if (key !== undefined && this.#prefixByAddress.get(key) === prefix) this.#prefixByAddress.delete(key)
  }
}

/** Whether they differ at most in the name and sign that pages show, in what a starting app is asked, and in what counts as use. */
function isSameForwarding(one: TypeRules, other: TypeRules): boolean {
  const apart = { displayName: '', sign: '', readyPath: '', ignoredPaths: [], isAskedForUse: true, askedPort: 0 }
  return isDeepStrictEqual({ ...one, ...apart }, { ...other, ...apart })
}

/** Each message of the control plane has objects of its own. */
function withSharedWhere(entry: RouteEntry): RouteEntry {
  const { where } = entry
  return 'reason' in where ? { ...entry, where: unavailable(where.reason, where.exitCode) } : entry
}

function addressKey(where: RouteEntry['where']): string | undefined {
  return 'reason' in where ? undefined : `${where.host}:${where.port}`
}

/** Result of a look-up in the routing table: the destination of a first path segment. */
export type RouteMatch =
  | {
      readonly kind: 'container'
      readonly type: string
      readonly rules: TypeRules
      readonly owner: GatewayUser
      /** Whether the container itself is; false also when it was never launched, and has no route. */
      readonly isBlocked: boolean
    }
  /** `/{slug}`: leads its owner to the container of the first type. */
  | { readonly kind: 'home'; readonly path: string; readonly owner: GatewayUser }
