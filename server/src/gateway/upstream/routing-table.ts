import { isDeepStrictEqual } from 'node:util'
import { unavailable, type RouteActivity, type RouteEntry } from '../gateway-state.ts'
import type { GatewaySettings, TypeRules } from '../gateway-settings.ts'
import type { UserCache } from '../auth/user-cache.ts'
import { Route } from './route.ts'
import type { RouteIndexes } from './route-traffic.ts'
import type { RouteMatch } from './route-match.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { ScopedTokenCache } from '../auth/scoped-token-cache.ts'

/** Routing table: every route entry, by prefix and by upstream address. */
export class RoutingTable {
  readonly #byPrefix = new Map<string, Route>()
  readonly #byAddress = new Map<string, Route>()
  readonly #users: UserCache
  #types: ReadonlyMap<string, TypeRules> = new Map()

  #firstType = ''
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

  get size(): number {
    return this.#byPrefix.size
  }

  all(): Iterable<Route> {
    return this.#byPrefix.values()
  }

  /** Those to which something is open: of 100,000 routes they are few, and looking at all takes 3 ms. */
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
    for (const route of this.#byPrefix.values()) {
      const rules = this.#types.get(route.entry.type)
      if (rules === route.rules) continue
      if (rules && isSameForwarding(rules, route.rules)) route.takeRules(rules)
      else this.set(route.entry)
    }
  }

  get(prefix: string): Route | undefined {
    return this.#byPrefix.get(prefix)
  }

  /** Where this segment leads, or undefined. The type is compared as it is encoded in our own addresses: one container has one path. */
  match(segment: string): RouteMatch | undefined {
    const route = this.#byPrefix.get(segment)
    if (route) {
      const owner = this.#users.get(route.entry.ownerId)
      return owner && { kind: 'route', route, owner }
    }
    return this.#matchMissing(segment)
  }

  #matchMissing(segment: string): RouteMatch | undefined {
    const hyphen = segment.indexOf('-')
    const owner = this.#users.bySlug(hyphen === -1 ? segment : segment.slice(0, hyphen))
    if (!owner) return undefined
    if (hyphen === -1) return { kind: 'home', path: `/${owner.slug}-${this.#firstType}/`, owner }
    const type = segment.slice(hyphen + 1)
    const rules = this.#types.get(type)
    return rules && { kind: 'missing', prefix: segment, type, rules, owner }
  }

  /** An address belongs to one entry: the route that had it before has none until its next change. */
  set(entry: RouteEntry): void {
    const rules = this.#types.get(entry.type)
    // Its template is gone: the container runs on, but there is no way to it.
    if (!rules) return this.remove(entry.prefix)
    const shared = withSharedWhere(entry)
    const known = this.#byPrefix.get(entry.prefix)
    const route = known?.rules === rules ? known : new Route(shared, rules, this.#indexes)
    if (known && known !== route) known.cut()
    this.#releaseAddress(known)
    route.move(shared)
    this.#byPrefix.set(entry.prefix, route)
    this.#takeAddress(route)
  }

  remove(prefix: string): void {
    const route = this.#byPrefix.get(prefix)
    if (!route) return
    this.#byPrefix.delete(prefix)
    this.#releaseAddress(route)
    route.cut()
  }

  /** Makes exactly these places known. */
  replace(entries: readonly RouteEntry[]): void {
    const gone = new Set(this.#byPrefix.keys())
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

  #takeAddress(route: Route): void {
    const key = addressKey(route.entry)
    if (key === undefined) return
    const before = this.#byAddress.get(key)
    if (before && before !== route) before.move({ ...before.entry, where: unavailable('unknown') })
    this.#byAddress.set(key, route)
  }

  #releaseAddress(route: Route | undefined): void {
    const key = route && addressKey(route.entry)
    if (key !== undefined && this.#byAddress.get(key) === route) this.#byAddress.delete(key)
  }
}

/** Whether they differ at most in the name that pages show, and in what a starting app is asked. */
function isSameForwarding(one: TypeRules, other: TypeRules): boolean {
  const apart = { displayName: '', readyPath: '' }
  return isDeepStrictEqual({ ...one, ...apart }, { ...other, ...apart })
}

/** Each message of the control plane has objects of its own. */
function withSharedWhere(entry: RouteEntry): RouteEntry {
  const { where } = entry
  return 'reason' in where ? { ...entry, where: unavailable(where.reason, where.exitCode) } : entry
}

function addressKey({ where }: RouteEntry): string | undefined {
  return 'reason' in where ? undefined : `${where.host}:${where.port}`
}
