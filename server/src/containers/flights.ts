import { OneAtATime } from '#/one-at-a-time.ts'

/**
 * One flight per key and verb. Work on the same key never overlaps; whoever asks for what is already under way, or
 * already waiting, shares its outcome instead of doing it again. So twenty launches of one container are one launch.
 * Nobody joins a flight that something else waits behind: a launch asked for after a stop must come after that stop.
 */
export class Flights {
  readonly #queue = new OneAtATime()
  /** The flight that was asked for last, by key. */
  readonly #last = new Map<string, { verb: string; flight: Promise<unknown> }>()

  /**
   * Joins the key's last flight when it is of this verb, or starts one behind it.
   * All callers of one verb must pass work with the same result type.
   */
  async join<T>(key: string, verb: string, work: () => Promise<T>): Promise<T> {
    const last = this.#last.get(key)
    if (last?.verb === verb) return last.flight as Promise<T>
    const mine = { verb, flight: this.#queue.run(key, work) }
    this.#last.set(key, mine)
    try {
      return await mine.flight
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
