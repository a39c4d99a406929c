import { ScopedTokenCache } from '#/access/scoped-token-cache.ts'
import type { GatewayUser } from '#/port/gateway-state.ts'
import { ActiveRequests } from '#/proxy/active-requests.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Route } from './route.ts'

export interface PendingToken {
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
export class RouteTraffic {
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
