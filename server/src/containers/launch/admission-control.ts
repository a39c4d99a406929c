import { setTimeout as sleep } from 'node:timers/promises'
import { withSignal } from '#/machine/try-or-log.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import { findUser, type User } from '#/store/users.ts'
import { checkMemberLimits, type MemberLimits, type ResourceNeeds } from '#/templates/launch-rules.ts'
import type { Template } from '#/templates/template.ts'
import type { AllocatedGpus, GpuAllocation, GpuNeeds } from './gpu-allocation.ts'
import type { HostResources, HostShortage } from './host-resources.ts'
import type { LaunchProgress } from './launch-progress.ts'
import { LaunchQueue, type Claim, type LaunchSlot, type QueuePosition } from './launch-queue.ts'

/** Stops what may give way to a launch that was refused, one container for each item that is taken. */
export type MakeRoom = (owned: ContainerRef, refusal: Refusal) => AsyncIterable<unknown>

export interface AdmissionControlParts {
  readonly capacity: Pick<Capacity, 'isUp' | 'refusal' | 'reserve' | 'release'>
  readonly hostResources: Pick<HostResources, 'shortage' | 'diskRefusal' | 'noteStart' | 'askAnew'>
  readonly launchProgress: Pick<LaunchProgress, 'enter' | 'pulling'>
  /** Limits of groups, see `LaunchRules`; without any, nothing waits. */
  readonly limitsFor: (owned: ContainerRef) => Promise<readonly MemberLimits[]> | undefined
  /** Flows of the launch queue, see `LaunchRules`. */
  readonly flowsOf: (owned: ContainerRef) => Promise<readonly string[]> | undefined
  /** Why it may not be launched any more: blocked, or deleted. */
  readonly checkBlock: (userId: number, type: string) => Promise<Refusal | undefined>
  /** Max launches that the engine works on at the same time. */
  readonly parallel: number
  /** Resolves when the engine answers. */
  readonly ping: () => Promise<void>
  /** Undefined: the engine gives them away, as many as it is asked for. */
  readonly gpus?: GpuQueueParts | undefined
}

/** What launches with GPUs wait for. */
export interface GpuQueueParts {
  readonly allocation: GpuAllocation
  /** Max time that a launch waits in the queue when it needs GPUs, in seconds. */
  readonly maxWait: number
}

/** GPUs of the engine and their use. */
export interface GpuReport {
  readonly total: number
  readonly taken: number
  /** Launches that wait for some. */
  readonly waiting: number
  readonly containers: readonly AllocatedGpus[]
}

/** Claim of a launch on GPUs. */
interface GpuClaim extends Claim {
  /**
   * @returns the ids that it gets @throws {Refusal} when the engine still runs a container with them that was not known of, after the
   * time that a stop may take, or why the launch was cancelled meanwhile
   */
  confirm(slot: LaunchSlot): Promise<readonly string[]>
}

/**
 * How long a launch waits for the end of a container that has its GPUs and is blocked or deleted, and how often the engine is asked
 * for it, in ms. The program of one that is deleted has 10 s.
 */
const [endTimeout, endInterval] = [12_000, 1_000]

/** @param gpuIds ids of the GPUs that it gets */
type AdmittedWork<T> = (slot: LaunchSlot, gpuIds: readonly string[] | undefined) => Promise<T>

/** A launch that asks for admission. */
export interface Admitted {
  readonly owned: ContainerRef
  readonly image: string
  /** Whether a new container is created; otherwise an existing one is started. */
  readonly needsImage: boolean
  /** No user asked for it now, so it waits behind all launches that a user asked for. */
  readonly isLowPriority: boolean
  /** Keeps its order among others of the kind: it belongs to no group's flow. */
  readonly isRestore?: boolean
  readonly gpus?: GpuNeeds
}

/** Why there is no room for a launch. `limit`: one of the installation, its owner or a group. */
interface Shortage {
  readonly of: 'limit' | 'gpus' | HostShortage
  readonly refusal: Refusal
}

/** A stopped container keeps its disk and its place on a network. */
const isMendedByStops = ({ of }: Shortage) => of === 'limit' || of === 'memory' || of === 'gpus'

/**
 * Admission control for launches: capacity limits and host resources first, then a slot of the launch queue. Both are
 * checked before a launch waits, so that a refusal comes at once, and again when it has its slot.
 */
export class AdmissionControl {
  readonly #parts: AdmissionControlParts
  readonly #queue: LaunchQueue
  readonly #onRequest: ((owned: ContainerRef) => void)[] = []
  /** Launches for which room is made, by `containerKey`: they are not queued yet. */
  readonly #makingRoom = new Map<string, { cancelled: Refusal | undefined }>()
  #makeRoom: MakeRoom | undefined
  /** Launches that no user has asked for, by `containerKey`: they do not wait for GPUs. */
  readonly #unasked = new Set<string>()

  constructor(parts: AdmissionControlParts) {
    this.#parts = parts
    this.#queue = new LaunchQueue({ parallel: parts.parallel, ping: parts.ping })
  }

  /**
   * Runs the work with a slot of the queue. Its capacity stays reserved until `release`, so that it is counted until it
   * is known to run.
   * @param work gets the ids of the GPUs that are its own until `release`; undefined: it needs none, or the engine chooses
   * @throws {Refusal} no capacity, blocked or deleted meanwhile, or Berth stops · whatever the work throws
   */
  async run<T>(admitted: Admitted, work: AdmittedWork<T>): Promise<T> {
    const key = containerKey(admitted.owned)
    if (admitted.isLowPriority) this.#unasked.add(key)
    try {
      return await this.#run(admitted, work)
    } finally {
      this.#unasked.delete(key)
    }
  }

  async #run<T>(admitted: Admitted, work: AdmittedWork<T>): Promise<T> {
    const { owned } = admitted
    const { capacity, hostResources, launchProgress, limitsFor, flowsOf, checkBlock } = this.#parts
    const asked = limitsFor(owned)
    const limits = asked ? await asked : []
    // Nothing waits between the check and the reservation, so of two launches at once the second sees the first.
    const shortage = this.#shortage(admitted, limits) ?? this.#gpuShortage(admitted)
    if (shortage) await this.#giveWay(admitted, limits, shortage)
    capacity.reserve(owned)
    const claim = this.#claimOf(admitted)
    const limit = claim && this.#limitWait(owned)
    const request = {
      ...admitted,
      onPosition: (place: QueuePosition) => launchProgress.enter(owned, queuedStage(place)),
      claim,
      onPull: (progress: Parameters<LaunchProgress['pulling']>[1]) => launchProgress.pulling(owned, progress),
      flowsOf: () => (admitted.isRestore ? undefined : flowsOf(owned)),
      mayGoOn: async () => (await checkBlock(owned.userId, owned.type)) ?? this.#shortage(admitted, limits)?.refusal,
    }
    const launch = async (slot: LaunchSlot) => {
      clearTimeout(limit)
      const gpuIds = await claim?.confirm(slot)
      if (!capacity.isUp(owned)) hostResources.noteStart()
      return work(slot, gpuIds)
    }
    return this.#queue.run(request, launch).finally(() => clearTimeout(limit))
  }

  /** Why an admitted launch that turns out to need a new container may not create one. */
  creationRefusal(): Refusal | undefined {
    return this.#parts.hostResources.diskRefusal()
  }

  /** Whether it runs or is paused, as far as is known without asking the engine. */
  isUp(owned: ContainerRef): boolean {
    return this.#parts.capacity.isUp(owned)
  }

  /** The outcome of a launch is known: from now on the state of the engine decides whether it uses capacity. */
  release(owned: ContainerRef): void {
    const { capacity, gpus } = this.#parts
    capacity.release(owned)
    if (!gpus) return
    gpus.allocation.release(owned)
    this.#queue.retryClaims()
  }

  /** A container runs or is paused with GPUs of these ids; with none, when it has none or does not run any more. */
  noteGpus(owned: ContainerRef, ids: readonly string[]): void {
    const { gpus } = this.#parts
    if (!gpus) return
    gpus.allocation.note(owned, ids)
    this.#queue.retryClaims()
  }

  /** GPUs of the engine: who has them, and how many launches wait for some; undefined without `GPU_IDS`. */
  gpuReport(): GpuReport | undefined {
    const { gpus } = this.#parts
    if (!gpus) return undefined
    const { all, taken } = gpus.allocation
    const containers = gpus.allocation.containers()
    return { total: all.length, taken, waiting: this.#queue.countClaims(), containers }
  }

  /** A user now asks for a container that waits with low priority. */
  promote(owned: ContainerRef): void {
    this.#unasked.delete(containerKey(owned))
    this.#queue.promote(owned)
    for (const listener of this.#onRequest) listener(owned)
  }

  /** @param listener called for each launch that a user asks for, admitted or not */
  onRequest(listener: (owned: ContainerRef) => void): void {
    this.#onRequest.push(listener)
  }

  /** @param makeRoom called for each launch of a user that has no capacity; one of them */
  onShortage(makeRoom: MakeRoom): void {
    this.#makeRoom = makeRoom
  }

  /**
   * The rights of this user (and type) have changed: queued launches that are no longer allowed are refused at once.
   */
  recheck(userId: number, type?: string): void {
    this.#queue.recheck(userId, type)
  }

  /** Cancels a launch that is queued, waits for room or has given its slot back, with this refusal: its owner does not want it any more. */
  cancel(owned: ContainerRef, why: Refusal): void {
    const waiting = this.#makingRoom.get(containerKey(owned))
    if (waiting) waiting.cancelled = why
    this.#queue.cancel(owned, why)
  }

  counts(): { waiting: number; underWay: number; parallel: number } {
    return this.#queue.counts()
  }

  /** Refuses queued and new launches. Resolves when the engine works on none any more. */
  async close(): Promise<void> {
    return this.#queue.close()
  }

  /** @throws the refusal that remains, or that of a launch that is blocked or cancelled meanwhile */
  async #giveWay(admitted: Admitted, limits: readonly MemberLimits[], first: Shortage): Promise<void> {
    const { owned, isLowPriority } = admitted
    const stopped = isLowPriority || !isMendedByStops(first) ? [] : this.#makeRoom?.(owned, first.refusal)
    let shortage = first
    const waiting = { cancelled: undefined as Refusal | undefined }
    this.#makingRoom.set(containerKey(owned), waiting)
    try {
      for await (const _ of stopped ?? []) {
        if (shortage.of === 'memory') await this.#parts.hostResources.askAnew()
        const block = await this.#parts.checkBlock(owned.userId, owned.type)
        if (waiting.cancelled ?? block) throw waiting.cancelled ?? block
        const left = this.#shortage(admitted, limits) ?? this.#gpuShortage(admitted)
        if (!left) return
        if (!isMendedByStops(left)) throw left.refusal
        shortage = left
      }
    } finally {
      this.#makingRoom.delete(containerKey(owned))
    }
    // Others give theirs back in time.
    if (shortage.of === 'gpus' && !this.#unasked.has(containerKey(owned))) return
    throw shortage.refusal
  }

  /** Undefined: it needs no GPU, or the engine chooses. */
  #claimOf({ owned, gpus: needs }: Admitted): GpuClaim | undefined {
    const allocation = this.#parts.gpus?.allocation
    if (!allocation || !needs || needs.count === 0) return undefined
    const isFree = () => allocation.isFree(owned, needs.count)
    const refusal = () => (this.#unasked.has(containerKey(owned)) ? refusals.gpusTaken() : undefined)
    // What is noted says that they are free, so the container that has them is about to end.
    const confirmAgain = async (signal: AbortSignal) => {
      for (let left = endTimeout; left > 0 && isFree() && !refusal(); left -= endInterval) {
        await withSignal(sleep(endInterval), signal)
        const ids = await allocation.confirm(owned, needs)
        if (ids) return ids
      }
      throw refusals.gpusTaken()
    }
    return {
      isFree,
      take: () => void allocation.reserve(owned, needs),
      refusal,
      confirm: async (slot) => (await allocation.confirm(owned, needs)) ?? slot.fetch(confirmAgain),
    }
  }

  /** Ends the wait of a launch for GPUs when it has lasted for too long. */
  #limitWait(owned: ContainerRef): NodeJS.Timeout {
    const maxWait = this.#parts.gpus?.maxWait ?? 0
    return setTimeout(() => this.#queue.cancel(owned, refusals.gpusTaken()), maxWait * 1_000).unref()
  }

  #gpuShortage(admitted: Admitted): Shortage | undefined {
    const isShort = this.#claimOf(admitted)?.isFree() === false
    return isShort ? { of: 'gpus', refusal: refusals.gpusTaken() } : undefined
  }

  /** Replacing a running container needs no further capacity. */
  #shortage({ owned, needsImage }: Admitted, limits: readonly MemberLimits[]): Shortage | undefined {
    const { capacity, hostResources } = this.#parts
    if (capacity.isUp(owned)) return undefined
    const refusal = capacity.refusal(owned, limits)
    if (refusal) return { of: 'limit', refusal }
    const of = hostResources.shortage(needsImage)
    return of && { of, refusal: refusals.serverFull() }
  }
}

const queuedStage = ({ position, waiting, waitsFor }: QueuePosition) => ({
  stage: 'queued' as const,
  place: position,
  waiting,
  ...(waitsFor && { waits_for: waitsFor }),
})

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

/**
 * A reason why this user's container of this type may not be started now; undefined when there is none. Called before
 * anything is started, unless the container runs already. Must have a timeout of its own.
 */
export type PreLaunchHook = (user: User, template: Template) => Refusal | undefined | Promise<Refusal | undefined>

/** Pre-launch hooks: other features that may refuse a start. */
export class PreLaunchHooks {
  readonly #database: Database
  readonly #hooks: readonly PreLaunchHook[]

  /** @param hooks called in this order; the first refusal counts */
  constructor(database: Database, hooks: readonly PreLaunchHook[]) {
    this.#database = database
    this.#hooks = hooks
  }

  /** The first reason why this user's container may not be started now. */
  async refusalFor(userId: number, template: Template): Promise<Refusal | undefined> {
    const user = this.#hooks.length > 0 ? await findUser(this.#database.db, userId) : undefined
    for (const hook of this.#hooks) {
      const refusal = user && (await hook(user, template))
      if (refusal) return refusal
    }
    return undefined
  }
}
