import { unblockedStatuses } from '@berth/api/unblocked-statuses.ts'
import {
  unavailable,
  type ContainerShares,
  type Gateway,
  type GatewayChange,
  type GatewayState,
  type GatewayUser,
  type Revocation,
  type RouteEntry,
  type ShareGroup,
  type Unavailable,
  type UpstreamAddress,
} from '@berth/gateway/port/gateway.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { ContainerIndex } from './container-index.ts'
import { isAddress, type ContainerState } from './container-state.ts'

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

  get size(): number {
    return this.#routes.size
  }

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
    if (isSame(old ?? { prefix: shares.prefix, grants: [] }, shares)) return []
    if (hasNoGrants(shares)) this.#shares.delete(shares.prefix)
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

const hasNoGrants = ({ grants, portGrants = [] }: ContainerShares) => grants.length + portGrants.length === 0

/** Deep comparison of plain data; written out because ten thousand are compared at a time. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key in left) if (!isSame(left[key], right[key])) return false
  for (const key in right) if (!(key in left)) return false
  return true
}

/** Queries about known containers, and about the routes that the gateway has. None of them asks store or engine. */
export class RouteReader {
  readonly #known: ContainerIndex
  readonly #snapshot: RoutingSnapshot

  constructor(index: ContainerIndex, snapshot: RoutingSnapshot) {
    this.#known = index
    this.#snapshot = snapshot
  }

  get(owned: ContainerRef): ContainerState | undefined {
    return this.#known.get(owned)?.known
  }

  /** The container with this first path segment. */
  findByPrefix(prefix: string): ContainerState | undefined {
    return this.#known.byPrefix(prefix)?.known
  }

  findByContainerId(containerId: string): ContainerState | undefined {
    return this.#known.byId(containerId)?.known
  }

  /** The route that the gateway has for this container. */
  routeOf({ prefix }: ContainerState): RouteEntry | undefined {
    return this.#snapshot.route(prefix)
  }

  /** The user as the gateway knows them. */
  gatewayUserOf({ userId }: Pick<ContainerRef, 'userId'>): GatewayUser | undefined {
    return this.#snapshot.user(userId)
  }

  /** Containers whose routes are in these states, or all others if those are fewer. */
  fewerInStates(states: ReadonlySet<RouteState>): {
    readonly containers: ContainerState[]
    readonly areOthers: boolean
  } {
    const count = [...states].reduce((sum, state) => sum + this.#snapshot.inState(state).size, 0)
    const areOthers = count > this.#snapshot.size / 2
    const wanted = routeStates.filter((state) => states.has(state) !== areOthers)
    const prefixes = wanted.flatMap((state) => [...this.#snapshot.inState(state)])
    return { containers: prefixes.flatMap((prefix) => this.findByPrefix(prefix) ?? []), areOthers }
  }

  /** Containers whose routes are running or paused; stopped containers cost nothing here. */
  *running(): Generator<{ readonly known: ContainerState; readonly isPaused: boolean }> {
    for (const state of ['running', 'paused'] as const)
      for (const prefix of this.#snapshot.inState(state)) {
        const known = this.findByPrefix(prefix)
        if (known) yield { known, isPaused: state === 'paused' }
      }
  }

  /** Whether its route is running or paused. */
  isRunning(owned: ContainerRef): boolean {
    const known = this.get(owned)
    const where = known && this.routeOf(known)?.where
    return where !== undefined && isAddress(where)
  }

  /** Whether its route is `unknown`: the engine does not answer, as a whole or about this container. */
  isUnknown(known: ContainerState): boolean {
    const where = this.routeOf(known)?.where
    return where !== undefined && !isAddress(where) && where.reason === 'unknown'
  }
}

/** Delay after a failed publication before everything is sent again, in ms. */
const retryAfter = 500

export interface RoutePublisherParts {
  readonly gateway: Gateway
  /** Present revocations. */
  readonly revoked: () => readonly Revocation[]
  readonly report: (error: unknown, what: string) => void
}

/** Route publisher: sends changes to the gateway in order, and everything again after a failure. */
export class RoutePublisher {
  readonly snapshot = new RoutingSnapshot()
  readonly #parts: RoutePublisherParts
  /** The last publication; a call without changes waits for it. */
  #lastPublish: Promise<void> = Promise.resolve()
  /** Nothing is published before the whole state was. */
  #signal: AbortSignal | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: RoutePublisherParts) {
    this.#parts = parts
  }

  /** Whether the whole state was published once. */
  get hasBegun(): boolean {
    return this.#signal !== undefined
  }

  /** Resolves when these and all earlier changes are acknowledged. @throws when the gateway did not acknowledge them */
  async publish(changes: readonly GatewayChange[]): Promise<void> {
    if (!this.#signal) return
    const { gateway } = this.#parts
    if (changes.length > 0) {
      this.#lastPublish = this.#confirmed(gateway.apply(changes))
      return this.#lastPublish
    }
    await this.#lastPublish
    await gateway.settled?.()
  }

  /** Publishes without waiting; a failure is reported. */
  publishLater(changes: readonly GatewayChange[]): void {
    if (changes.length === 0) return
    this.publish(changes).catch((error: unknown) => this.#parts.report(error, 'telling the gateway'))
  }

  /** Publishes the whole state in one step. @param signal ends retries @throws as `publish` */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#lastPublish = this.#confirmed(this.#parts.gateway.replace(this.snapshot.all(this.#parts.revoked())))
    return this.#lastPublish
  }

  /** Changes that were not acknowledged may or may not be in force: soon everything is sent again. */
  async #confirmed(published: Promise<void>): Promise<void> {
    try {
      await published
    } catch (error) {
      if (!this.#retry) this.#retry = setTimeout(() => this.#republishAll(), retryAfter).unref()
      throw error
    }
  }

  #republishAll(): void {
    this.#retry = undefined
    if (!this.#signal || this.#signal.aborted) return
    this.publishAll(this.#signal).catch((error: unknown) =>
      this.#parts.report(error, 'telling the gateway everything anew'),
    )
  }
}
