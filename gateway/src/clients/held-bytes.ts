import type { ClientConnection } from './client-connection.ts'

/** What becomes of connections that hold too much. */
interface HeldBytesOptions {
  /** Of all connections together. */
  readonly limit: number
  /** Whether a connection still holds what was counted; those that do not are counted no more. */
  isHeld(connection: ClientConnection): boolean
  /** Closes a connection. */
  close(connection: ClientConnection): void
}

/** What the connections of one network hold, in the order in which they began. */
interface NetworkBytes {
  total: number
  readonly held: Map<ClientConnection, number>
}

/**
 * Bytes of one kind that connections hold, with a limit for all together. Above it those of the network that holds most are closed, the
 * first to begin first: one network cannot have the connections of others closed. Clients behind trusted proxies count as one.
 */
export class HeldBytes {
  readonly #options: HeldBytesOptions
  /** By `ClientConnection.network`. At most a few thousand: each holds 16 KB, and all together the limit. */
  readonly #networks = new Map<string | undefined, NetworkBytes>()
  #total = 0

  constructor(options: HeldBytesOptions) {
    this.#options = options
  }

  get total(): number {
    return this.#total
  }

  /** @param bytes that the connection holds now; it keeps its position in the order */
  set(connection: ClientConnection, bytes: number): void {
    const network = this.#networks.get(connection.network) ?? { total: 0, held: new Map<ClientConnection, number>() }
    this.#networks.set(connection.network, network)
    const more = bytes - (network.held.get(connection) ?? 0)
    network.held.set(connection, bytes)
    network.total += more
    this.#total += more
    while (this.#total > this.#options.limit) this.#closeOne()
  }

  delete(connection: ClientConnection): void {
    const network = this.#networks.get(connection.network)
    const bytes = network?.held.get(connection)
    if (!network || bytes === undefined) return
    network.held.delete(connection)
    network.total -= bytes
    this.#total -= bytes
    if (network.held.size === 0) this.#networks.delete(connection.network)
  }

  #closeOne(): void {
    const { isHeld, close } = this.#options
    let most: NetworkBytes | undefined
    for (const network of this.#networks.values()) if (network.total > (most?.total ?? 0)) most = network
    const [oldest] = most?.held.keys() ?? []
    if (!oldest) throw new Error(`${this.#total} bytes are held by no connection`)
    this.delete(oldest)
    if (isHeld(oldest)) close(oldest)
  }
}
