import type { ClientConnection } from './client-connection.ts'
import { evictionOrder } from './eviction-order.ts'
import { HeldBytes } from './held-bytes.ts'

/** Connection limits of all clients together. */
export interface ConnectionLimits {
  readonly connections: number
  /** Bytes of heads that have not come to their end, with the memory that waits for the rest, all connections together. */
  readonly unfinishedHeads: number
  /** Bytes of answers that need no account and wait for clients to read them, all connections together. */
  readonly unreadAnswers: number
  /** Bytes of answers of public apps that are being sent to clients without an account, all connections together. */
  readonly unreadAppAnswers: number
}

/**
 * Downstream connections within limits: in total, per address, and in bytes of unfinished request heads and of answers that
 * are not read. At a limit it evicts the least recently used (LRU) idle connections, then those of `evictionOrder`, so that a
 * client that holds connections open cannot exhaust them. One address gets half of the total.
 */
export class ClientConnections {
  readonly #limits: ConnectionLimits
  readonly #all = new Set<ClientConnection>()
  readonly #byNetwork = new Map<string, Set<ClientConnection>>()
  readonly unfinishedHeads: HeldBytes
  readonly unreadAnswers: HeldBytes
  readonly unreadAppAnswers: HeldBytes
  /** Since the start: not taken because nothing could be closed, and closed to make room. */
  refused = 0
  evicted = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    const close = (connection: ClientConnection) => this.#close(connection)
    this.unfinishedHeads = new HeldBytes({ limit: limits.unfinishedHeads, isHeld: () => true, close })
    const isHeld = ({ hasUnread }: ClientConnection) => hasUnread
    this.unreadAnswers = new HeldBytes({ limit: limits.unreadAnswers, isHeld, close })
    this.unreadAppAnswers = new HeldBytes({ limit: limits.unreadAppAnswers, isHeld, close })
  }

  get size(): number {
    return this.#all.size
  }

  get unfinishedBytes(): number {
    return this.unfinishedHeads.total
  }

  [Symbol.iterator](): IterableIterator<ClientConnection> {
    return this.#all.values()
  }

  /**
   * Whether one more may be opened; closes others for it when it has to.
   * @param network of the client, as `networkOf` names it; undefined for proxies that speak for many
   */
  makeRoom(network: string | undefined): boolean {
    const { connections } = this.#limits
    const same = network === undefined ? undefined : this.#byNetwork.get(network)
    const perNetwork = Math.max(1, Math.floor(connections / 2))
    const isRoom =
      (same === undefined || same.size < perNetwork || this.#evict(same, perNetwork)) &&
      (this.#all.size < connections || this.#evict(this.#all, connections))
    if (!isRoom) this.refused++
    return isRoom
  }

  add(connection: ClientConnection): void {
    this.#all.add(connection)
    const { network } = connection
    if (network === undefined) return
    const same = this.#byNetwork.get(network) ?? new Set()
    this.#byNetwork.set(network, same.add(connection))
  }

  delete(connection: ClientConnection): void {
    this.unfinishedHeads.delete(connection)
    this.unreadAnswers.delete(connection)
    this.unreadAppAnswers.delete(connection)
    if (!this.#all.delete(connection) || connection.network === undefined) return
    const same = this.#byNetwork.get(connection.network)
    same?.delete(connection)
    if (same?.size === 0) this.#byNetwork.delete(connection.network)
  }

  /** Evicts some at once, which amortizes the scan over many new connections. @returns whether any was closed */
  #evict(among: ReadonlySet<ClientConnection>, limit: number): boolean {
    const some = Math.ceil(limit / 100)
    const evictable = evictionOrder.map((isIn) => [...among].filter(isIn)).find(({ length }) => length > 0) ?? []
    const oldest = evictable.toSorted((a, b) => a.idleSince - b.idleSince).slice(0, some)
    for (const each of oldest) this.#close(each)
    return oldest.length > 0
  }

  #close(connection: ClientConnection): void {
    this.evicted++
    this.delete(connection)
    connection.cut()
  }
}
