import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { addressesOf, askNetworks, assertIsolated, ensureNetwork, interfaceOf, type Network } from './bridge-network.ts'
import { callTimeouts, withHealthCheck, type EngineClient } from './engine-client.ts'
import { isOfAnyInstallation, isOfInstallation, labelFilter } from './labels.ts'

export interface NetworksOptions {
  readonly installation: string
  /** Name of the first network; the others are called `{first}-2`, `{first}-3`... */
  readonly first: string
  /** Containers on one network, at most. */
  readonly maxPerNetwork: number
}

/**
 * The kernel gives a bridge 1,023 ports (BR_MAX_PORTS, less one), and each container that runs takes one. What is left
 * over is for containers that other clients put on it, and for those that another process of ours creates meanwhile.
 */
export const defaultMaxPerNetwork = 900

/** Addresses of one container, by the name of the network. */
export type Addresses = Readonly<Record<string, { readonly IPAddress?: string }>>

/** What the engine's addresses and networks have come to. */
export interface NetworkCapacity {
  /** Containers that can still be put on the networks there are. */
  readonly left: number
  /** Every network of the engine, also those of others. */
  readonly all: readonly Network[]
}

/**
 * The networks of an installation, and how many containers each has. A container belongs to its network from its
 * creation to its removal, whether it runs or not, so that all that are stopped can be started again.
 *
 * What is known comes from the engine with each list of all containers, or else with `ensure`, and from what is created
 * and removed here in between; a launch costs no call of its own. As long as the containers were never counted, because
 * the engine takes long over its list, the newest network has room: creations go on, and at worst a start finds it
 * full.
 */
export class Networks {
  readonly #client: EngineClient
  readonly #installation: string
  readonly #first: string
  readonly #maxPerNetwork: number
  readonly #members = new NetworkMembers()
  readonly #counter: MemberCounter
  #all: readonly Network[] = []
  /** Undefined until the engine was asked. */
  #ours: readonly Network[] | undefined
  /** Why no further network could be made, when that was tried last. */
  #exhausted: RuntimeError | undefined
  #ensuring: Promise<void> | undefined
  readonly #restoring = new Map<string, Promise<unknown>>()

  constructor(client: EngineClient, { installation, first, maxPerNetwork }: NetworksOptions) {
    this.#client = client
    this.#installation = installation
    this.#first = first
    this.#maxPerNetwork = maxPerNetwork
    this.#counter = new MemberCounter(client, installation, this.#members)
  }

  /**
   * Reads everything anew. Makes the first network when there is none, and one more while there is little room left;
   * that there are no addresses for one more is no failure, `allocate` and `capacity` report it.
   * @throws {RuntimeError} `unreachable`; `full` when not even the first can be made; `failed` when containers on one
   *   of them can reach each other
   */
  async ensure(): Promise<void> {
    // Shared by all who ask meanwhile, so that a crowd makes one network.
    await (this.#ensuring ??= this.#ensureOnce().finally(() => (this.#ensuring = undefined)))
  }

  /**
   * Has `create` make a container on the fullest network that has room.
   * @returns what `create` answers
   * @throws {RuntimeError} `full` when there is no room, and no addresses for another network
   */
  async allocate<T extends { readonly Id: string }>(
    create: (network: string) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await this.#allocateOnce(create, signal)
    } catch (error) {
      // Newer engines look for the network when a container is created, older ones when it is started.
      if (!isNetworkGone(error)) throw error
      await withSignal(this.ensure(), signal)
      return this.#allocateOnce(create, signal)
    }
  }

  /** Counts with a list of all containers that is requested now; `abort` is called at its end in any case. */
  beginCount(): MemberCount {
    return this.#counter.beginListing()
  }

  /** A container that is gone; its place is free again. */
  forget(id: string): void {
    this.#members.remove(id)
  }

  /**
   * Restores a network that was removed, as `docker network prune` does with those on which nothing runs.
   * @returns false when none of ours has that name
   * @throws {RuntimeError} as `ensure`
   */
  async restore(name: string): Promise<boolean> {
    if (!this.#isNameOfOurs(name)) return false
    const restoring = this.#restoring.get(name) ?? ensureNetwork(this.#client, this.#installation, name)
    this.#restoring.set(name, restoring)
    await restoring.finally(() => this.#restoring.delete(name))
    return true
  }

  /** Where a container is reached, among the addresses that it has; null when it is on none of ours. */
  addressIn(addresses: Addresses | null | undefined): string | null {
    const found = Object.entries(addresses ?? {}).find(([name, { IPAddress }]) => IPAddress && this.#isNameOfOurs(name))
    return found?.[1].IPAddress ?? null
  }

  /** Whether a container with these networks is on one of ours; one that does not run has no address there. */
  isMember(addresses: Addresses | null): boolean {
    return Object.keys(addresses ?? {}).some((name) => this.#isNameOfOurs(name))
  }

  /** Names of the bridges of every installation on this engine, as they were when it was asked last. */
  interfaces(): string[] {
    const ours = new Set(this.#ours)
    return this.#all.filter((each) => ours.has(each) || isOfAnyInstallation(each.Labels)).map(interfaceOf)
  }

  /** Undefined until the engine was asked. */
  get capacity(): NetworkCapacity | undefined {
    return this.#ours && { left: this.#roomLeft(), all: this.#all }
  }

  /** How many containers a network of so many addresses gets. */
  maxContainers(addresses: number): number {
    return Math.min(this.#maxPerNetwork, addresses)
  }

  async #allocateOnce<T extends { readonly Id: string }>(
    create: (network: string) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const network = await this.#reserve(signal)
    try {
      const created = await create(network)
      this.#members.add(created.Id, network)
      return created
    } finally {
      this.#members.release(network)
    }
  }

  async #reserve(signal: AbortSignal | undefined): Promise<string> {
    for (;;) {
      const name = this.#fullest()
      if (name !== undefined) {
        this.#members.reserve(name)
        // Ahead, so that hardly a launch has to wait for it. Whether it worked is seen when there is no room at all.
        if (this.#isShort() && !this.#exhausted) this.ensure().catch(() => undefined)
        return name
      }
      // Each round lets as many of those who wait through as find room.
      await withSignal(this.ensure(), signal)
      if (this.#exhausted && this.#fullest() === undefined) throw this.#exhausted
    }
  }

  #fullest(): string | undefined {
    if (!this.#counter.isCounted) return this.#ours?.findLast((network) => this.#roomOn(network) > 0)?.Name
    const open = (this.#ours ?? []).filter((network) => this.#roomOn(network) > 0)
    return open.toSorted((one, other) => this.#roomOn(one) - this.#roomOn(other))[0]?.Name
  }

  /** The next network is made while a tenth of one is left. */
  #isShort(): boolean {
    return this.#roomLeft() <= Math.ceil(this.#maxPerNetwork / 10)
  }

  #roomLeft(): number {
    return (this.#ours ?? []).reduce((sum, network) => sum + this.#roomOn(network), 0)
  }

  #roomOn(network: Network): number {
    return Math.max(0, this.maxContainers(addressesOf(network)) - this.#members.count(network.Name))
  }

  async #ensureOnce(): Promise<void> {
    await this.#refresh()
    if (this.#ours?.length && !this.#isShort()) return void (this.#exhausted = undefined)
    try {
      const made = await ensureNetwork(this.#client, this.#installation, this.#nextName())
      await this.#refresh()
      this.#exhausted = this.maxContainers(addressesOf(made)) > 0 ? undefined : noAddressLeft()
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'full') throw error
      this.#exhausted = noAddressLeft(error.cause)
      if (!this.#ours?.length) throw this.#exhausted
    }
  }

  async #refresh(): Promise<void> {
    const [all] = await Promise.all([askNetworks(this.#client), this.#counter.refresh()])
    const ours = all.filter((each) => this.#isOurs(each)).toSorted(byNumber)
    ours.forEach(assertIsolated)
    this.#all = all
    this.#ours = ours
  }

  /** The first free number; a name that another network has is skipped. */
  #nextName(): string {
    const taken = new Set(this.#all.map(({ Name }) => Name))
    for (let number = 1; ; number++) {
      const name = number === 1 ? this.#first : `${this.#first}-${number}`
      if (!taken.has(name)) return name
    }
  }

  /**
   * The first may have been made by an operator; of the others only our label shows that they belong to this
   * installation.
   */
  #isOurs({ Name, Labels }: Network): boolean {
    return Name === this.#first || (this.#isNameOfOurs(Name) && isOfInstallation(Labels, this.#installation))
  }

  #isNameOfOurs(name: string): boolean {
    return (
      name === this.#first || (name.startsWith(`${this.#first}-`) && /^\d+$/.test(name.slice(this.#first.length + 1)))
    )
  }
}

/** So that of two with as much room the one that was there first is filled first. */
const byNumber = (one: Network, other: Network) =>
  one.Name.length - other.Name.length || (one.Name < other.Name ? -1 : 1)

const noAddressLeft = (cause?: unknown) =>
  new RuntimeError(
    'full',
    'no address is left for another container: the engine has none for another network; docs/how-to/plan-capacity.md says how to give it more',
    cause,
  )

const isNetworkGone = (error: unknown) =>
  error instanceof RuntimeError && error.kind === 'failed' && /network .*not found/i.test(String(error.cause))

/**
 * How long `refresh` waits for the engine's list of containers, in ms; a container creation may wait for that. The
 * first refresh is part of the start of Berth, so it waits less.
 */
const [countTimeout, firstCountTimeout] = [2_500, 400]
/** A list of all containers stays fresh for this multiple of the time that it took, and for at least so many ms. */
const [freshFactor, minFresh] = [35, 1_000]

interface Member {
  readonly Id: string
  readonly HostConfig?: { readonly NetworkMode?: string }
}

/**
 * Counts the containers of each network: from each list of all containers, and by a request of its own when there was
 * none.
 */
class MemberCounter {
  readonly #client: EngineClient
  readonly #installation: string
  readonly #members: NetworkMembers
  /** When a list of all containers counted them last, by `performance.now()`, and how long it took in ms. */
  #listed: { readonly at: number; readonly took: number } | undefined
  #counting: Promise<void> | undefined
  /** A list of all containers that is under way and counts them. */
  #listing: Promise<void> | undefined
  #isCounted = false

  constructor(client: EngineClient, installation: string, members: NetworkMembers) {
    this.#client = client
    this.#installation = installation
    this.#members = members
  }

  /** Whether they were counted since the start. */
  get isCounted(): boolean {
    return this.#isCounted
  }

  /** Counts with a list of all containers that is requested now; `abort` is called at its end in any case. */
  beginListing(): MemberCount {
    const [began, count] = [performance.now(), this.#members.beginCount()]
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#listing = promise
    return {
      ...count,
      end: () => {
        count.end()
        this.#listed = { at: performance.now(), took: performance.now() - began }
        this.#isCounted = true
      },
      abort: () => {
        count.abort()
        if (this.#listing === promise) this.#listing = undefined
        resolve()
      },
    }
  }

  /**
   * Counts anew unless the last list is still fresh. When the engine takes longer or fails, the counts stay as they
   * were.
   */
  async refresh(): Promise<void> {
    const age = this.#listed && performance.now() - this.#listed.at
    if (this.#listed && age !== undefined && age < Math.max(minFresh, this.#listed.took * freshFactor)) return
    const count = () => this.#listing ?? this.#countMembers()
    this.#counting ??= count().finally(() => (this.#counting = undefined))
    const timeout = this.#isCounted ? countTimeout : firstCountTimeout
    // Whether the engine answers at all is seen by the request for networks.
    await withSignal(this.#counting, AbortSignal.timeout(timeout)).catch(() => undefined)
  }

  async #countMembers(): Promise<void> {
    const count = this.#members.beginCount()
    const query = { all: 'true', filters: JSON.stringify({ label: labelFilter(this.#installation) }) }
    const call = {
      what: 'count the containers of each network',
      method: 'GET',
      path: '/containers/json',
      query,
    } as const
    try {
      const take = (items: readonly Member[]) => {
        for (const { Id, HostConfig } of items) count.add(Id, HostConfig?.NetworkMode ?? '')
      }
      await withHealthCheck(this.#client, (signal) =>
        this.#client.each<Member>({ ...call, timeout: callTimeouts.list, signal }, take),
      )
      count.end()
      this.#isCounted = true
    } finally {
      count.abort()
    }
  }
}

/** Containers as the engine lists them; nothing counts before `end`. */
interface MemberCount {
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
class NetworkMembers {
  /** Network of each container, by the container's id. */
  #networks = new Map<string, string>()
  #counts = new Map<string, number>()
  /**
   * For each count under way, what came (its network) and went (null) since: the engine's answer may not know of it
   * yet.
   */
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
