import type { ConnectionPool } from './connection-pool.ts'
import type { ActiveRequests } from '#/proxy/active-requests.ts'

/** Upstream: a target of requests, either a container's app or the platform itself. */
export interface Upstream {
  /** For logs: never a secret. */
  readonly name: string
  /** Where it is reached now; undefined when it is not. */
  readonly address: SocketAddress | undefined
  /** It has answered at this address: a refused connection means that it ended, not that it is still starting. */
  hasAnswered: boolean
  /** Max bytes that are read of it at once; a client that does not read its answer makes the gateway hold as many. */
  readonly maxRead: number
  /** Requests and WebSockets under way. */
  readonly activeRequests: ActiveRequests
  /** Its idle connections. */
  readonly idle: ConnectionPool
  /** Bytes moved. */
  touch(): void
}

export type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string }
