import type { Refusal } from '#/errors.ts'
import type { Turn } from './entrant.ts'
import type { HostGuard } from './host-guard.ts'
import { LaunchQueue } from './launch-queue.ts'
import type { Occupancy } from './occupancy.ts'
import type { OwnedType } from './owned-type.ts'
import type { Stages } from './stages.ts'

export interface AdmissionParts {
  readonly occupancy: Pick<Occupancy, 'isThere' | 'refusal' | 'reserve' | 'release'>
  readonly guard: Pick<HostGuard, 'refusal' | 'noteStart'>
  readonly stages: Pick<Stages, 'enter' | 'pulling'>
  /** Why it may not be launched any more: blocked, or deleted. */
  readonly blockOf: (userId: number, type: string) => Promise<Refusal | undefined>
  /** How many the engine works for at the same time. */
  readonly parallel: number
  /** Resolves when the engine answers. */
  readonly ping: () => Promise<void>
}

/** Something that makes the engine work. */
export interface Admitted {
  readonly owned: OwnedType
  readonly image: string
  /** Whether it is made now; what is there is only started. */
  readonly needsImage: boolean
  /** Nobody asked for it now, so it goes behind all who did. */
  readonly isPatient: boolean
}

/**
 * Who may make the engine work, and when: there is room under the caps and on the host, and it is their turn. Both are
 * looked at before anybody waits, so that nobody waits for a no, and once more when the turn comes.
 */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #queue: LaunchQueue
  #onAsked: ((owned: OwnedType) => void) | undefined

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#queue = new LaunchQueue({ parallel: parts.parallel, ping: parts.ping })
  }

  /**
   * Does the work when its turn has come. Its room stays reserved until `release`, so that it is counted until it is
   * known to run.
   * @throws {Refusal} no room, blocked or deleted meanwhile, or Berth stops · whatever the work throws
   */
  async run<T>(admitted: Admitted, work: (turn: Turn) => Promise<T>): Promise<T> {
    const { owned } = admitted
    const { occupancy, guard, stages, blockOf } = this.#parts
    const refusal = this.#roomFor(admitted)
    if (refusal) throw refusal
    occupancy.reserve(owned)
    const entrant = {
      ...admitted,
      onPlace: (place: number, waiting: number) => stages.enter(owned, { stage: 'queued', place, waiting }),
      onPull: (progress: Parameters<Stages['pulling']>[1]) => stages.pulling(owned, progress),
      mayGoOn: async () => (await blockOf(owned.userId, owned.type)) ?? this.#roomFor(admitted),
    }
    return this.#queue.run(entrant, async (turn) => {
      if (!occupancy.isThere(owned)) guard.noteStart()
      return work(turn)
    })
  }

  /** Whether it runs or is paused, as far as is known without asking the engine. */
  isThere(owned: OwnedType): boolean {
    return this.#parts.occupancy.isThere(owned)
  }

  /** What became of a launch is known: whether it takes up room is what the engine says of it. */
  release(owned: OwnedType): void {
    this.#parts.occupancy.release(owned)
  }

  /** Somebody asks now for what was to be restored some time. */
  promote(owned: OwnedType): void {
    this.#queue.promote(owned)
    this.#onAsked?.(owned)
  }

  /** @param listener told what people ask for, whether or not there is room for it; one listener */
  onAsked(listener: (owned: OwnedType) => void): void {
    this.#onAsked = listener
  }

  /** Something about this user (and type) has changed: whoever waits and may not go on any more hears it at once. */
  recheck(userId: number, type?: string): void {
    this.#queue.recheck(userId, type)
  }

  /** Its owner wants it no more: a launch of it that waits, or pulls, is refused with this. */
  dismiss(owned: OwnedType, why: Refusal): void {
    this.#queue.dismiss(owned, why)
  }

  counts(): { waiting: number; underWay: number; parallel: number } {
    return this.#queue.counts()
  }

  /** Refuses all who wait, and who come. Resolves when the engine works for nobody any more. */
  async close(): Promise<void> {
    return this.#queue.close()
  }

  /** What runs already, and is only replaced, takes nothing more. */
  #roomFor({ owned, needsImage }: Admitted): Refusal | undefined {
    const { occupancy, guard } = this.#parts
    if (occupancy.isThere(owned)) return undefined
    return occupancy.refusal(owned) ?? guard.refusal(needsImage)
  }
}
