import { RuntimeError } from '#/engines/runtime-error.ts'
import type { EngineClient } from './engine-client.ts'
import { isOfAnyInstallation, isOfInstallation } from './labels.ts'
import { NetworkMembers, type MemberCount } from './network-members.ts'
import { addressesOf, askNetworks, assertIsolated, ensureNetwork, interfaceOf, type Network } from './bridge-network.ts'
import { MemberCounter } from './member-counter.ts'
import { withSignal } from '#/engines/transport/with-signal.ts'

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

/** Of one container, by the name of the network. */
export type Addresses = Readonly<Record<string, { readonly IPAddress?: string }>>

/** What the engine's addresses and networks have come to. */
export interface NetworkCapacity {
  /** Containers that can still be put on the networks there are. */
  readonly left: number
  /** Every network of the engine, also those of others. */
  readonly all: readonly Network[]
}

/**
 * The networks of an installation, and how many containers each has. A container belongs to its network from its creation
 * to its removal, whether it runs or not, so that all that are stopped can be started again.
 *
 * What is known comes from the engine with each list of all containers, or else with `ensure`, and from what is created and
 * removed here in between; a launch costs no call of its own. As long as the containers were never counted, because the
 * engine takes long over its list, the newest network has room: creations go on, and at worst a start finds it full.
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
   * Reads everything anew. Makes the first network when there is none, and one more while there is little room left; that
   * there are no addresses for one more is no failure, `allocate` and `capacity` report it.
   * @throws {RuntimeError} `unreachable`; `full` when not even the first can be made; `failed` when containers on one of
   *   them can reach each other
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
      // Of a crowd that waits, each round lets as many through as find room.
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

  /** The first may have been made by an operator; of the others only our label shows that they belong to this installation. */
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
