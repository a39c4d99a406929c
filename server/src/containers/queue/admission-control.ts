import type { Refusal } from '#/errors.ts'
import type { LaunchSlot } from './queue-entry.ts'
import type { HostResources } from './host-resources.ts'
import { LaunchQueue } from './launch-queue.ts'
import type { Capacity } from './capacity.ts'
import type { ContainerRef } from '../container-key.ts'
import type { LaunchProgress } from '../launch/progress/launch-progress.ts'

export interface AdmissionControlParts {
  readonly capacity: Pick<Capacity, 'isUp' | 'refusal' | 'reserve' | 'release'>
  readonly hostResources: Pick<HostResources, 'refusal' | 'noteStart'>
  readonly launchProgress: Pick<LaunchProgress, 'enter' | 'pulling'>
  /** Why it may not be launched any more: blocked, or deleted. */
  readonly checkBlock: (userId: number, type: string) => Promise<Refusal | undefined>
  /** How many the engine works for at the same time. */
  readonly parallel: number
  /** Resolves when the engine answers. */
  readonly ping: () => Promise<void>
}

/** Something that makes the engine work. */
export interface Admitted {
  readonly owned: ContainerRef
  readonly image: string
  /** Whether it is made now; what is there is only started. */
  readonly needsImage: boolean
  /** Nobody asked for it now, so it goes behind all who did. */
  readonly isLowPriority: boolean
}

/**
 * Admission control for launches: capacity limits and host resources first, then a slot of the launch queue. Both are
 * looked at before anybody waits, so that nobody waits for a no, and once more when the turn comes.
 */
export class AdmissionControl {
  readonly #parts: AdmissionControlParts
  readonly #queue: LaunchQueue
  #onRequest: ((owned: ContainerRef) => void) | undefined

  constructor(parts: AdmissionControlParts) {
    this.#parts = parts
    this.#queue = new LaunchQueue({ parallel: parts.parallel, ping: parts.ping })
  }

  /**
   * Does the work when its turn has come. Its room stays reserved until `release`, so that it is counted until it is
   * known to run.
   * @throws {Refusal} no room, blocked or deleted meanwhile, or Berth stops · whatever the work throws
   */
  async run<T>(admitted: Admitted, work: (slot: LaunchSlot) => Promise<T>): Promise<T> {
    const { owned } = admitted
    const { capacity, hostResources, launchProgress, checkBlock } = this.#parts
    const refusal = this.#capacityRefusal(admitted)
    if (refusal) throw refusal
    capacity.reserve(owned)
    const request = {
      ...admitted,
      onPosition: (place: number, waiting: number) => launchProgress.enter(owned, { stage: 'queued', place, waiting }),
      onPull: (progress: Parameters<LaunchProgress['pulling']>[1]) => launchProgress.pulling(owned, progress),
      mayGoOn: async () => (await checkBlock(owned.userId, owned.type)) ?? this.#capacityRefusal(admitted),
    }
    return this.#queue.run(request, async (slot) => {
      if (!capacity.isUp(owned)) hostResources.noteStart()
      return work(slot)
    })
  }

  /** Whether it runs or is paused, as far as is known without asking the engine. */
  isUp(owned: ContainerRef): boolean {
    return this.#parts.capacity.isUp(owned)
  }

  /** What became of a launch is known: whether it takes up room is what the engine says of it. */
  release(owned: ContainerRef): void {
    this.#parts.capacity.release(owned)
  }

  /** Somebody asks now for what was to be restored some time. */
  promote(owned: ContainerRef): void {
    this.#queue.promote(owned)
    this.#onRequest?.(owned)
  }

  /** @param listener told what people ask for, whether or not there is room for it; one listener */
  onRequest(listener: (owned: ContainerRef) => void): void {
    this.#onRequest = listener
  }

  /** Something about this user (and type) has changed: whoever waits and may not go on any more hears it at once. */
  recheck(userId: number, type?: string): void {
    this.#queue.recheck(userId, type)
  }

  /** Its owner wants it no more: a launch of it that waits, or pulls, is refused with this. */
  cancel(owned: ContainerRef, why: Refusal): void {
    this.#queue.cancel(owned, why)
  }

  counts(): { waiting: number; underWay: number; parallel: number } {
    return this.#queue.counts()
  }

  /** Refuses all who wait, and who come. Resolves when the engine works for nobody any more. */
  async close(): Promise<void> {
    return this.#queue.close()
  }

  /** What runs already, and is only replaced, takes nothing more. */
  #capacityRefusal({ owned, needsImage }: Admitted): Refusal | undefined {
    const { capacity, hostResources } = this.#parts
    if (capacity.isUp(owned)) return undefined
    return capacity.refusal(owned) ?? hostResources.refusal(needsImage)
  }
}
