import { unavailable, type GatewayChange, type RouteEntry } from '@berth/gateway/port/gateway.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import type { ContainerIndex, IndexEntry } from './container-index.ts'
import { isAddress, upstreamOf, type ContainerState } from './container-state.ts'
import { routeStateOf, type RouteState, type RoutingSnapshot } from './routing-snapshot.ts'

/** State of a route as it is reported to its owner. */
export type RouteStatus = 'blocked' | RouteState

export interface RouteChangesParts {
  readonly index: ContainerIndex
  readonly snapshot: RoutingSnapshot
  /** Whether the engine as a whole does not answer. */
  readonly isEngineDown: () => boolean
  /** Whether the engine does not answer about the container with this id. */
  readonly isUnresponsive: (containerId: string) => boolean
  /** Called when another container has got the address of the one with this id; must not throw. */
  readonly onDisplaced: (containerId: string) => void
  /** Called when the status of a container changes; must not throw. */
  readonly onStatus: (container: ContainerState, status: RouteStatus) => void
}

/** Computes the changes of routes that follow from what is known of a container, and reports changes of its status. */
export class RouteChanges {
  readonly #parts: RouteChangesParts
  readonly #statuses = new Map<string, RouteStatus>()
  /** Types as they are in paths: one text for all routes. */
  readonly #encodedTypes = new Map<string, string>()

  constructor(parts: RouteChangesParts) {
    this.#parts = parts
  }

  /** Changes for one container; none if its route is up to date. @param isForced includes the route although it is unchanged */
  of({ known }: IndexEntry, { isForced = false } = {}): GatewayChange[] {
    const route = this.#toRoute(known)
    const changes = this.#parts.snapshot.putRoute(route, isForced)
    this.#reportDisplaced(changes, route.prefix)
    if (isInspected(known)) this.#updateStatus(known, route)
    return changes
  }

  /** Stores an answer of the engine. @param asOf when the engine was asked, on the index's clock */
  applyInspect(entry: IndexEntry, seen: RuntimeContainer | 'gone', asOf: number): GatewayChange[] {
    entry.asOf = asOf
    entry.before = undefined
    entry.known = { ...entry.known, seen }
    return this.of(entry)
  }

  /** Stores a state that the engine has just confirmed. */
  applyConfirmed(entry: IndexEntry, seen: RuntimeContainer): GatewayChange[] {
    entry.asOf = this.#parts.index.tick()
    entry.known = { ...entry.known, seen }
    return this.of(entry)
  }

  /** Its program has ended: the engine gives its address to other containers from now on. */
  clearAddress(entry: IndexEntry): GatewayChange[] {
    entry.endedAt = this.#parts.index.now
    const { seen } = entry.known
    if (!seen || seen === 'gone') return []
    entry.known = { ...entry.known, seen: { ...seen, state: justEnded, address: null } }
    return this.of(entry)
  }

  /** The container was removed. */
  remove(prefix: string): GatewayChange[] {
    this.#statuses.delete(prefix)
    return this.#parts.snapshot.removeRoute(prefix)
  }

  /** The last reported status, or the one of the route if none was reported yet. */
  statusOf({ prefix }: ContainerState): RouteStatus | undefined {
    const route = this.#parts.snapshot.route(prefix)
    return route && (this.#statuses.get(prefix) ?? routeStatusOf(route))
  }

  #toRoute(known: ContainerState): RouteEntry {
    const { userId, type, prefix, isBlocked } = known
    return { prefix, ownerId: userId, type: this.#encoded(type), isBlocked, where: this.#where(known) }
  }

  #encoded(type: string): string {
    const encoded = this.#encodedTypes.get(type) ?? encodeURIComponent(type)
    this.#encodedTypes.set(type, encoded)
    return encoded
  }

  /** The route of a container that was not inspected yet does not change, unless it belongs to an earlier container. */
  #where(known: ContainerState): RouteEntry['where'] {
    const { containerId, seen, prefix } = known
    if (containerId === null || seen !== undefined) return upstreamOf(known)
    if (this.#parts.isEngineDown() || this.#parts.isUnresponsive(containerId)) return unavailable('unknown')
    const published = this.#parts.snapshot.route(prefix)?.where
    return published && (!isAddress(published) || published.containerId === containerId)
      ? published
      : unavailable('asleep')
  }

  #reportDisplaced(changes: readonly GatewayChange[], winner: string): void {
    for (const change of changes) {
      const displaced = change.kind === 'route' && change.route.prefix !== winner ? change.route.prefix : undefined
      const id = displaced && this.#parts.index.byPrefix(displaced)?.known.containerId
      if (id) this.#parts.onDisplaced(id)
    }
  }

  #updateStatus(known: ContainerState, route: RouteEntry): void {
    const status = routeStatusOf(route)
    if (this.#statuses.get(known.prefix) === status) return
    this.#statuses.set(known.prefix, status)
    this.#parts.onStatus(known, status)
  }
}

/** State of a container whose end was reported by an event, until the engine is asked how it ended. */
const justEnded = 'ended'

/**
 * Whether the engine was asked about its present state. Between the event of an end and the inspect that follows, another
 * publish, such as of another launch of the same user, must not report the end: it would have no exit code.
 */
const isInspected = ({ seen }: ContainerState) => seen !== undefined && (seen === 'gone' || seen.state !== justEnded)

const routeStatusOf = (route: RouteEntry): RouteStatus => (route.isBlocked ? 'blocked' : routeStateOf(route))
