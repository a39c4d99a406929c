import { refusals, type Refusal } from '#/refusals/errors.ts'
import { containerKey, type ContainerRef } from '#/store/container-key.ts'
import { checkMemberLimits, type MemberLimits, type ResourceNeeds } from '#/templates/member-limits.ts'

/** Max containers at the same time; null is no limit. */
export interface CapacityLimits {
  readonly maxRunning: number | null
  readonly maxPerUser: number | null
}

interface Occupant {
  /** Running or paused, as far as the engine reported. */
  isUp: boolean
  /** A launch is in progress or queued. */
  isReserved: boolean
}

/**
 * Capacity accounting of running, paused and launching containers. A launch reserves its capacity before it is queued:
 * the limit holds although many are in progress, and a launch without capacity is refused at once.
 */
export class Capacity {
  readonly #limits: CapacityLimits
  readonly #occupants = new Map<string, Occupant>()
  /** Types of each user's occupants. */
  readonly #perUser = new Map<number, ReadonlySet<string>>()
  readonly #needsOf: (type: string) => ResourceNeeds | undefined
  #running = 0

  /** @param needsOf what a container of a configured type takes, for the limits of groups */
  constructor(limits: CapacityLimits, needsOf: (type: string) => ResourceNeeds | undefined = () => undefined) {
    this.#limits = limits
    this.#needsOf = needsOf
  }

  /** Running and paused containers. */
  get running(): number {
    return this.#running
  }

  /** Max containers of all users together; null is no limit. */
  get maxRunning(): number | null {
    return this.#limits.maxRunning
  }

  isUp(owned: ContainerRef): boolean {
    return this.#occupants.get(containerKey(owned))?.isUp ?? false
  }

  /** Updates the state of a container. */
  note(owned: ContainerRef, isUp: boolean): void {
    if (this.isUp(owned) === isUp) return
    this.#running += isUp ? 1 : -1
    this.#change(owned, { isUp })
  }

  /** Reserves capacity for a container until `release`, whether it runs by then or not. */
  reserve(owned: ContainerRef): void {
    this.#change(owned, { isReserved: true })
  }

  release(owned: ContainerRef): void {
    this.#change(owned, { isReserved: false })
  }

  /** Containers of a user that run, are paused or are being launched. */
  of(userId: number): ContainerRef[] {
    return [...(this.#perUser.get(userId) ?? [])].map((type) => ({ userId, type }))
  }

  /**
   * Why there is no capacity for this container beside all others; its own is not counted.
   * @param memberLimits of the groups of its owner
   */
  refusal(owned: ContainerRef, memberLimits: readonly MemberLimits[] = []): Refusal | undefined {
    const { maxRunning, maxPerUser } = this.#limits
    const own = this.#occupants.has(containerKey(owned)) ? 1 : 0
    const others = [...(this.#perUser.get(owned.userId) ?? [])].filter((type) => type !== owned.type)
    if (maxPerUser !== null && others.length >= maxPerUser) return refusals.tooManyOfYours(maxPerUser)
    const refusal = checkMemberLimits(memberLimits, owned.type, others, this.#needsOf)
    if (refusal) return refusal
    return maxRunning !== null && this.#occupants.size - own >= maxRunning ? refusals.serverFull() : undefined
  }

  #change(owned: ContainerRef, change: Partial<Occupant>): void {
    const key = containerKey(owned)
    const old = this.#occupants.get(key)
    const occupant = { isUp: false, isReserved: false, ...old, ...change }
    const isKept = occupant.isUp || occupant.isReserved
    if (isKept) this.#occupants.set(key, occupant)
    else this.#occupants.delete(key)
    const types = new Set(this.#perUser.get(owned.userId))
    if (isKept) types.add(owned.type)
    else types.delete(owned.type)
    if (types.size > 0) this.#perUser.set(owned.userId, types)
    else this.#perUser.delete(owned.userId)
  }
}
