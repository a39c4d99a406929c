import type { ClientConnection } from './client-connection.ts'

/** Connection limits of all clients together. */
export interface ConnectionLimits {
  readonly connections: number
  /** Bytes of heads that have not come to their end, with the memory that waits for the rest, all connections together. */
  readonly unfinishedHeads: number
}

/**
 * Downstream connections within limits: in total, per address, and in bytes of unfinished request heads. At a limit it evicts
 * the least recently used (LRU) idle connections, then uploads and finally all other connections of anonymous clients, so
 * that a client that holds connections open cannot exhaust them. One address gets half of the total.
 */
export class ClientConnections {
  readonly #limits: ConnectionLimits
  readonly #all = new Set<ClientConnection>()
  readonly #byNetwork = new Map<string, Set<ClientConnection>>()
  /** In the order in which they began. */
  readonly #unfinished = new Map<ClientConnection, number>()
  #unfinishedBytes = 0
  /** Since the start: not taken because nothing could be closed, and closed to make room. */
  refused = 0
  evicted = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#all.size
  }

  get unfinishedBytes(): number {
    return this.#unfinishedBytes
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
    this.untrackUnfinishedHead(connection)
    if (!this.#all.delete(connection) || connection.network === undefined) return
    const same = this.#byNetwork.get(connection.network)
    same?.delete(connection)
    if (same?.size === 0) this.#byNetwork.delete(connection.network)
  }

  /** Counts the bytes of a head that has not come to its end; above the limit the connections that began first are closed. */
  trackUnfinishedHead(connection: ClientConnection, bytes: number): void {
    this.#unfinishedBytes += bytes - (this.#unfinished.get(connection) ?? 0)
    this.#unfinished.set(connection, bytes)
    for (const [oldest] of this.#unfinished) {
      if (this.#unfinishedBytes <= this.#limits.unfinishedHeads) break
      this.#close(oldest)
    }
  }

  /** Its head is whole, or counts no more. */
  untrackUnfinishedHead(connection: ClientConnection): void {
    this.#unfinishedBytes -= this.#unfinished.get(connection) ?? 0
    this.#unfinished.delete(connection)
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

/** Eviction order: a kind is evicted only when there is none of the kinds before it. */
const evictionOrder: readonly ((connection: ClientConnection) => boolean)[] = [
  ({ isWorking }) => !isWorking,
  ({ isAnonymousUpload }) => isAnonymousUpload,
  ({ isAnonymous }) => isAnonymous,
]
