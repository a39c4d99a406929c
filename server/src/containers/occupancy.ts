import { refusals, type Refusal } from '#/errors.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'

/** How many may be there at the same time; null is no limit. */
export interface Caps {
  readonly maxRunning: number | null
  readonly maxPerUser: number | null
}

interface Occupant {
  /** Running or paused, as far as the engine said. */
  isThere: boolean
  /** A launch is under way, or waits for its turn. */
  isReserved: boolean
}

/**
 * Who takes up room: what runs or is paused, and what is on its way. A launch reserves its room before it waits, so that a
 * cap is kept although many are under way, and nobody waits for minutes to hear that there was none.
 */
export class Occupancy {
  readonly #caps: Caps
  readonly #occupants = new Map<string, Occupant>()
  readonly #perUser = new Map<number, number>()
  #running = 0

  constructor(caps: Caps) {
    this.#caps = caps
  }

  /** Running and paused ones. */
  get running(): number {
    return this.#running
  }

  isThere(owned: OwnedType): boolean {
    return this.#occupants.get(ownedKey(owned))?.isThere ?? false
  }

  /** What became known of a container. */
  note(owned: OwnedType, isThere: boolean): void {
    if (this.isThere(owned) === isThere) return
    this.#running += isThere ? 1 : -1
    this.#change(owned, { isThere })
  }

  /** Keeps room for a container until `release`, whether it runs by then or not. */
  reserve(owned: OwnedType): void {
    this.#change(owned, { isReserved: true })
  }

  release(owned: OwnedType): void {
    this.#change(owned, { isReserved: false })
  }

  /** Why there is no room for this container beside all others; its own room is not counted. */
  refusal(owned: OwnedType): Refusal | undefined {
    const { maxRunning, maxPerUser } = this.#caps
    const own = this.#occupants.has(ownedKey(owned)) ? 1 : 0
    if (maxPerUser !== null && (this.#perUser.get(owned.userId) ?? 0) - own >= maxPerUser)
      return refusals.tooManyOfYours(maxPerUser)
    return maxRunning !== null && this.#occupants.size - own >= maxRunning ? refusals.serverFull() : undefined
  }

  #change(owned: OwnedType, change: Partial<Occupant>): void {
    const key = ownedKey(owned)
    const old = this.#occupants.get(key)
    const occupant = { isThere: false, isReserved: false, ...old, ...change }
    const isKept = occupant.isThere || occupant.isReserved
    if (isKept) this.#occupants.set(key, occupant)
    else this.#occupants.delete(key)
    const count = (this.#perUser.get(owned.userId) ?? 0) + Number(isKept) - Number(old !== undefined)
    if (count > 0) this.#perUser.set(owned.userId, count)
    else this.#perUser.delete(owned.userId)
  }
}
