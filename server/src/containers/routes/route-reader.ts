import type { GatewayUser, RouteEntry } from '@berth/gateway/port/gateway-state.ts'
import type { ContainerRef } from '#/store/container-key.ts'
import type { ContainerIndex } from './container-index.ts'
import { isAddress, type ContainerState } from './container-state.ts'
import { routeStates, type RouteState, type RoutingSnapshot } from './routing-snapshot.ts'

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

  /** The container with this id of the engine. */
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
