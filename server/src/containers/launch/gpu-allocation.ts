import type { RuntimeContainer } from '#/engines/runtime.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'

/** As `GPU_IDS` has them. */
type GpuIds = readonly string[]

/** Of containers, by `containerKey`. */
type GpuIdsByKey = ReadonlyMap<string, GpuIds>

/** GPUs of one container. */
export interface AllocatedGpus {
  readonly owned: ContainerRef
  readonly ids: GpuIds
}

/** What a container needs, and which ids it had before. */
export interface GpuNeeds {
  readonly count: number
  readonly before: GpuIds
}

/** Asks the engine for containers of ours that run or are paused; others may be among them. */
export type ListWithGpus = () => Promise<readonly Pick<RuntimeContainer, 'owner' | 'gpuIds'>[]>

/**
 * Allocation of GPUs: which container has which of the ids of `GPU_IDS`. An engine that is asked for a number of GPUs gives every
 * container the first ones. The truth is on the containers, whose label has their ids: it outlives Berth, and is read from every list.
 * What is noted here is that, and what launches have reserved that are under way. A container that does not run has none, and gets
 * the same ones again if they are free.
 */
export class GpuAllocation {
  /** Ids of the engine, in the configured order. */
  readonly all: GpuIds
  readonly #list: ListWithGpus
  /** Of containers that run or are paused, by `containerKey`. */
  readonly #inUse = new Map<string, AllocatedGpus>()
  /** Of launches that are under way. */
  readonly #reserved = new Map<string, AllocatedGpus>()

  constructor(all: GpuIds, list: ListWithGpus) {
    this.all = all
    this.#list = list
  }

  /** Containers with GPUs, those that are being launched included; of two entries of one container the ids together. */
  containers(): AllocatedGpus[] {
    const found = new Map<string, AllocatedGpus>()
    for (const each of [...this.#inUse.values(), ...this.#reserved.values()]) {
      const ids = new Set([...(found.get(containerKey(each.owned))?.ids ?? []), ...each.ids])
      found.set(containerKey(each.owned), { owned: each.owned, ids: [...ids] })
    }
    return [...found.values()]
  }

  /** How many of the configured ids are taken. */
  get taken(): number {
    const ids = new Set(this.containers().flatMap((each) => each.ids))
    return this.all.filter((id) => ids.has(id)).length
  }

  /** Whether so many are free for this container; those that it has itself are. */
  isFree(owned: ContainerRef, count: number): boolean {
    return this.#freeFor(owned).length >= count
  }

  /**
   * Reserves ids for a launch until `release`: those that the container has or had, as far as they are free.
   * @param listed of what the engine runs now, by `containerKey`; it counts beside what is noted
   * @returns undefined when too few are free
   */
  reserve(owned: ContainerRef, { count, before }: GpuNeeds, listed: GpuIdsByKey = new Map()): GpuIds | undefined {
    const free = this.#freeFor(owned, listed)
    if (free.length < count) return undefined
    const key = containerKey(owned)
    const own = [this.#reserved.get(key)?.ids, this.#inUse.get(key)?.ids, listed.get(key), before].flatMap(
      (ids) => ids ?? [],
    )
    const inOrder = [...new Set([...own.filter((id) => free.includes(id)), ...free])]
    const wanted = new Set(inOrder.slice(0, count))
    const ids = this.all.filter((id) => wanted.has(id))
    this.#reserved.set(key, { owned, ids })
    return ids
  }

  /**
   * As `reserve`, once the engine has said which containers have ids: one may run that is not known here, because the engine
   * did not answer about it, or because it was blocked or deleted and its program is still being stopped. The list counts for this
   * launch alone: the end of such a container changes no status, so nothing would take an id out again that was noted.
   * @throws {RuntimeError} when the engine does not answer
   */
  async confirm(owned: ContainerRef, needs: GpuNeeds): Promise<GpuIds | undefined> {
    const listed = new Map<string, GpuIds>()
    for (const { owner, gpuIds } of await this.#list()) if (owner && gpuIds) listed.set(containerKey(owner), gpuIds)
    return this.reserve(owned, needs, listed)
  }

  /** The outcome of a launch is known: from now on the container has what the engine reports. */
  release(owned: ContainerRef): void {
    this.#reserved.delete(containerKey(owned))
  }

  /** A container runs or is paused with these ids; with none, when it has none or does not run. */
  note({ userId, type }: ContainerRef, ids: GpuIds): void {
    const owned = { userId, type }
    if (ids.length > 0) this.#inUse.set(containerKey(owned), { owned, ids })
    else this.#inUse.delete(containerKey(owned))
  }

  #freeFor(owned: ContainerRef, listed: GpuIdsByKey = new Map()): string[] {
    const own = containerKey(owned)
    const noted = [...this.#inUse, ...this.#reserved].map(([key, { ids }]) => [key, ids] as const)
    const others = [...noted, ...listed].filter(([key]) => key !== own)
    const taken = new Set(others.flatMap(([, ids]) => ids))
    return this.all.filter((id) => !taken.has(id))
  }
}

/**
 * Ids of a container that runs. One from before `GPU_IDS` was set was asked for as a number of GPUs, and its engine gave it the
 * first ones.
 * @param count of its template
 */
export const gpuIdsOf = ({ gpuIds }: Pick<RuntimeContainer, 'gpuIds'>, count: number): readonly string[] =>
  gpuIds ?? Array.from({ length: count }, (_, index) => String(index))
