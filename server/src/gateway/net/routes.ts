import { isDeepStrictEqual } from 'node:util'
import type { Activity, GatewaySettings, Person, Place, TypeRules } from '../gateway.ts'
import type { People } from './people.ts'
import { Route, type IdleConnections } from './route.ts'
import type { TokenCache } from './token-cache.ts'

/** Where a first path segment leads. */
export type Destination =
  | { readonly kind: 'route'; readonly route: Route; readonly owner: Person }
  /** Its owner exists and the type is configured, but it was never launched. */
  | {
      readonly kind: 'missing'
      readonly prefix: string
      readonly type: string
      readonly rules: TypeRules
      readonly owner: Person
    }
  /** `/{slug}`: leads its owner to the container of the first type. */
  | { readonly kind: 'home'; readonly path: string; readonly owner: Person }

/** All places that were told, by prefix and by address. */
export class Routes {
  readonly #byPrefix = new Map<string, Route>()
  readonly #byAddress = new Map<string, Route>()
  readonly #people: People
  readonly #touched: Route[] = []
  #types: ReadonlyMap<string, TypeRules> = new Map()

  #firstType = ''
  /** Those that have idle connections now, the platform's among them. */
  readonly idle = new Set<IdleConnections>()
  readonly #open = new Set<Route>()
  readonly #tokens = new Set<TokenCache>()

  constructor(people: People) {
    this.#people = people
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
      if (route.streams.size > 0) yield route
      else this.#open.delete(route)
    }
  }

  /** Takes other rules for the types; routes whose rules changed are made anew at the next `set`. */
  setTypes({ types, firstType }: Pick<GatewaySettings, 'types' | 'firstType'>): void {
    this.#firstType = firstType
    const before = this.#types
    // Another control plane tells the same rules as other objects; open streams must not pay for that.
    this.#types = new Map(
      Object.entries(types).map(([type, rules]) => {
        const known = before.get(type)
        return [type, known && isDeepStrictEqual(known, rules) ? known : rules]
      }),
    )
  }

  get(prefix: string): Route | undefined {
    return this.#byPrefix.get(prefix)
  }

  /** Where this segment leads, or undefined. The type is compared as it is encoded in our own addresses: one container has one path. */
  find(segment: string): Destination | undefined {
    const route = this.#byPrefix.get(segment)
    if (route) {
      const owner = this.#people.get(route.place.ownerId)
      return owner && { kind: 'route', route, owner }
    }
    return this.#findMissing(segment)
  }

  #findMissing(segment: string): Destination | undefined {
    const hyphen = segment.indexOf('-')
    const owner = this.#people.bySlug(hyphen === -1 ? segment : segment.slice(0, hyphen))
    if (!owner) return undefined
    if (hyphen === -1) return { kind: 'home', path: `/${owner.slug}-${this.#firstType}/`, owner }
    const type = segment.slice(hyphen + 1)
    const rules = this.#types.get(type)
    return rules && { kind: 'missing', prefix: segment, type, rules, owner }
  }

  /** An address belongs to one place: whoever had it before has none until more is told. */
  set(place: Place): void {
    const rules = this.#types.get(place.type)
    // Its template is gone: the container runs on, but there is no way to it.
    if (!rules) return this.remove(place.prefix)
    const known = this.#byPrefix.get(place.prefix)
    const route = known?.rules === rules ? known : this.#make(place, rules)
    if (known && known !== route) known.cut()
    this.#releaseAddress(known)
    route.move(place)
    this.#byPrefix.set(place.prefix, route)
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
  replace(places: readonly Place[]): void {
    const gone = new Set(this.#byPrefix.keys())
    for (const place of places) {
      gone.delete(place.prefix)
      this.set(place)
    }
    for (const prefix of gone) this.remove(prefix)
  }

  /** Containers that bytes moved to or from since the last call. */
  takeActivity(): Activity[] {
    return this.#touched.splice(0).map((route) => route.report())
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

  #make(place: Place, rules: TypeRules): Route {
    const lists = { idle: this.idle, open: this.#open, tokens: this.#tokens }
    return new Route(place, rules, this.#touched, lists)
  }

  #takeAddress(route: Route): void {
    const key = addressKey(route.place)
    if (key === undefined) return
    const before = this.#byAddress.get(key)
    if (before && before !== route) before.move({ ...before.place, where: { absent: 'unknown', exitCode: null } })
    this.#byAddress.set(key, route)
  }

  #releaseAddress(route: Route | undefined): void {
    const key = route && addressKey(route.place)
    if (key !== undefined && this.#byAddress.get(key) === route) this.#byAddress.delete(key)
  }
}

function addressKey({ where }: Place): string | undefined {
  return 'absent' in where ? undefined : `${where.host}:${where.port}`
}
