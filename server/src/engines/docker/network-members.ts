/** Containers as the engine lists them; nothing counts before `end`. */
export interface MemberCount {
  add(id: string, network: string): void
  /** They count, and with them what was created and removed here since the count began. */
  end(): void
  /** What was known before goes on to count. */
  abort(): void
}

/**
 * Which container is on which network, and how many are on each. Updated by lists of the engine, and by what is
 * created and removed here in between.
 */
export class NetworkMembers {
  /** Network of each container, by the container's id. */
  #networks = new Map<string, string>()
  #counts = new Map<string, number>()
  /** For each count under way, what came (its network) and went (null) since: the engine's answer may not know of it yet. */
  readonly #since = new Set<Map<string, string | null>>()
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
    this.#note(id, network)
  }

  remove(id: string): void {
    this.#note(id, null)
  }

  /** To be called before the engine is asked which containers there are, and ended or given up afterwards. */
  beginCount(): MemberCount {
    const [since, networks] = [new Map<string, string | null>(), new Map<string, string>()]
    this.#since.add(since)
    const abort = () => void this.#since.delete(since)
    const end = () => {
      if (this.#since.delete(since)) this.#replace(networks, since)
    }
    return { add: (id, network) => void networks.set(id, network), end, abort }
  }

  #replace(networks: ReadonlyMap<string, string>, since: ReadonlyMap<string, string | null>): void {
    this.#networks = new Map()
    this.#counts = new Map()
    for (const [id, network] of networks) this.#set(id, network)
    for (const [id, network] of since) this.#set(id, network)
  }

  #note(id: string, network: string | null): void {
    for (const since of this.#since) since.set(id, network)
    this.#set(id, network)
  }

  #set(id: string, network: string | null): void {
    const before = this.#networks.get(id)
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 1) - 1)
    if (network === null) return void this.#networks.delete(id)
    this.#networks.set(id, network)
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1)
  }
}
