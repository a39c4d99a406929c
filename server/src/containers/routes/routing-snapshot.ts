import { unblockedStatuses } from '@berth/api/unblocked-statuses.ts'
import {
  unavailable,
  type ContainerShares,
  type ShareGroup,
  type Unavailable,
  type UpstreamAddress,
  type GatewayChange,
  type GatewayState,
  type GatewayUser,
  type RouteEntry,
  type Revocation,
} from '@berth/gateway/port/gateway-state.ts'
import { isAddress } from './container-state.ts'

/** State of the container of a route, blocked or not. */
export type RouteState = 'running' | 'paused' | Unavailable['reason']

export const routeStates: readonly RouteState[] = unblockedStatuses

const none: ReadonlySet<string> = new Set()

export function routeStateOf({ where }: Pick<RouteEntry, 'where'>): RouteState {
  if (!isAddress(where)) return where.reason
  return where.isPaused ? 'paused' : 'running'
}

/**
 * Routing snapshot: the routes and users that the gateway has acknowledged, and the deltas that lead to a new state.
 * Every method that returns changes expects that they are sent, in this order.
 */
export class RoutingSnapshot {
  readonly #users = new Map<number, GatewayUser>()
  readonly #routes = new Map<string, RouteEntry>()
  readonly #shares = new Map<string, ContainerShares>()
  readonly #shareGroups = new Map<number, ShareGroup>()
  /** Prefix by address: the engine reuses addresses, and no two routes may have the same. */
  readonly #prefixByAddress = new Map<string, string>()
  /** Prefixes by state: searching 100,000 routes each time would take too long. */
  readonly #prefixesByState = new Map<RouteState, Set<string>>()

  route(prefix: string): RouteEntry | undefined {
    return this.#routes.get(prefix)
  }

  /** Number of routes. */
  get size(): number {
    return this.#routes.size
  }

  /** Prefixes of the routes in a state. */
  inState(state: RouteState): ReadonlySet<string> {
    return this.#prefixesByState.get(state) ?? none
  }

  user(userId: number): GatewayUser | undefined {
    return this.#users.get(userId)
  }

  putUser(user: GatewayUser): GatewayChange[] {
    if (isSame(this.#users.get(user.userId), user)) return []
    this.#users.set(user.userId, user)
    return [{ kind: 'user', user }]
  }

  removeUser(userId: number): GatewayChange[] {
    return this.#users.delete(userId) ? [{ kind: 'user-gone', userId }] : []
  }

  /**
   * An address of another route is removed from that one first. @param isAnew includes the route although it is
   * unchanged
   */
  putRoute(route: RouteEntry, isAnew = false): GatewayChange[] {
    const old = this.#routes.get(route.prefix)
    if (!isAnew && isSame(old, route)) return []
    const taken = isAddress(route.where) ? this.#releaseAddress(route.where, route.prefix) : []
    this.#set(route)
    return [...taken, { kind: 'route', route }]
  }

  removeRoute(prefix: string): GatewayChange[] {
    const old = this.#routes.get(prefix)
    if (!old) return []
    this.#forgetAddress(old)
    this.#routes.delete(prefix)
    this.#prefixesByState.get(routeStateOf(old))?.delete(prefix)
    return [{ kind: 'route-gone', prefix }]
  }

  /** Replaces the shares of one container. */
  putShares(shares: ContainerShares): GatewayChange[] {
    const old = this.#shares.get(shares.prefix)
    if (isSame(old ?? { ...shares, grants: [] }, shares)) return []
    if (shares.grants.length === 0) this.#shares.delete(shares.prefix)
    else this.#shares.set(shares.prefix, shares)
    return [{ kind: 'shares', shares }]
  }

  /** Replaces the members of a group with which containers are shared. */
  putShareGroup(group: ShareGroup): GatewayChange[] {
    const old = this.#shareGroups.get(group.groupId)
    if (isSame(old ?? { ...group, emails: [] }, group)) return []
    if (group.emails.length === 0) this.#shareGroups.delete(group.groupId)
    else this.#shareGroups.set(group.groupId, group)
    return [{ kind: 'share-group', group }]
  }

  all(revoked: readonly Revocation[]): GatewayState {
    return {
      users: [...this.#users.values()],
      routes: [...this.#routes.values()],
      revoked,
      shares: [...this.#shares.values()],
      shareGroups: [...this.#shareGroups.values()],
    }
  }

  #releaseAddress(address: UpstreamAddress, from: string): GatewayChange[] {
    const prefix = this.#prefixByAddress.get(addressKey(address))
    const other = prefix === undefined || prefix === from ? undefined : this.#routes.get(prefix)
    if (!other) return []
    const route = { ...other, where: unavailable('asleep') }
    this.#set(route)
    return [{ kind: 'route', route }]
  }

  #set(route: RouteEntry): void {
    const old = this.#routes.get(route.prefix)
    if (old) this.#forgetAddress(old)
    this.#routes.set(route.prefix, route)
    this.#indexState(route, old)
    if (isAddress(route.where)) this.#prefixByAddress.set(addressKey(route.where), route.prefix)
  }

  #indexState(route: RouteEntry, old: RouteEntry | undefined): void {
    const state = routeStateOf(route)
    if (old) this.#prefixesByState.get(routeStateOf(old))?.delete(old.prefix)
    const prefixes = this.#prefixesByState.get(state) ?? new Set()
    this.#prefixesByState.set(state, prefixes.add(route.prefix))
  }

  #forgetAddress({ prefix, where }: RouteEntry): void {
    if (isAddress(where) && this.#prefixByAddress.get(addressKey(where)) === prefix)
      this.#prefixByAddress.delete(addressKey(where))
  }
}

/**
 * A container has its address to itself, whatever port its app listens on: the next container with the address may
 * listen on any. Only programs on the host's own address are identified by port.
 */
const addressKey = ({ host, port }: UpstreamAddress) => (/^(127\.|::1$)/.test(host) ? `${host} ${port}` : host)

/** Deep comparison of plain data; written out because ten thousand are compared at a time. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key in left) if (!isSame(left[key], right[key])) return false
  for (const key in right) if (!(key in left)) return false
  return true
}
