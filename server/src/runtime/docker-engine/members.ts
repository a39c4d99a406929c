/**
 * Which container is on which network, and how many are on each. Told by the engine from time to time, and by what is
 * created and removed here in between.
 */
export class Members {
  /** Network of each container, by the container's id. */
  #networks = new Map<string, string>()
  #counts = new Map<string, number>()
  /** What came (its network) and went (null) since the engine was asked last: its answer may not know of it yet. */
  #since = new Map<string, string | null>()
  /** Creations under way, by network. */
  readonly #reserved = new Map<string, number>()

  /** Containers on this network, those that are being created included. */
  count(network: string): number {
    return (this.#counts.get(network) ?? 0) + (this.#reserved.get(network) ?? 0)
  }

  /** Keeps one place until `release`. */
  reserve(network: string): void {
    this.#reserved.set(network, (this.#reserved.get(network) ?? 0) + 1)
  }

  release(network: string): void {
    this.#reserved.set(network, (this.#reserved.get(network) ?? 1) - 1)
  }

  add(id: string, network: string): void {
    this.#since.set(id, network)
    this.#set(id, network)
  }

  remove(id: string): void {
    this.#since.set(id, null)
    this.#set(id, null)
  }

  /** To be called before the engine is asked for what `replace` is given. */
  expectReplacement(): void {
    this.#since = new Map()
  }

  /** @param networks of each container, by its id, as the engine says */
  replace(networks: ReadonlyMap<string, string>): void {
    this.#networks = new Map()
    this.#counts = new Map()
    for (const [id, network] of networks) this.#set(id, network)
    for (const [id, network] of this.#since) this.#set(id, network)
  }

  #set(id: string, network: string | null): void {
    const before = this.#networks.get(id)
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1)
    if (network === null) return void this.#networks.delete(id)
    this.#networks.set(id, network)
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1)
  }
}
