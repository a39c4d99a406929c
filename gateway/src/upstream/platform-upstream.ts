import { ActiveRequests } from '#/proxy/active-requests.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Upstream, SocketAddress } from './upstream.ts'

/** The API and the front end: one upstream on a Unix socket, which is away while they restart. */
export class PlatformUpstream implements Upstream {
  readonly name = 'the API'
  readonly address: SocketAddress
  readonly idle: ConnectionPool
  readonly activeRequests = new ActiveRequests()
  hasAnswered = true
  /** Clients without an account get its answers, too. */
  readonly maxRead = 64 * 1024

  constructor(path: string, idle: Set<ConnectionPool>) {
    this.idle = new ConnectionPool(idle)
    this.address = { path }
  }

  touch(): void {}
}
