import { OneAtATime } from '#/one-at-a-time.ts'

/**
 * One flight per key and verb. Work on the same key never overlaps; whoever asks for what is already under way, or
 * already waiting, shares its outcome instead of doing it again. So twenty launches of one container are one launch,
 * and a block that comes in between waits its turn.
 */
export class Flights {
  readonly #queue = new OneAtATime()
  readonly #shared = new Map<string, Promise<unknown>>()

  /**
   * Joins the waiting or running flight of this key and verb, or starts one behind the key's other flights.
   * All callers of one verb must pass work with the same result type.
   */
  async join<T>(key: string, verb: string, work: () => Promise<T>): Promise<T> {
    const name = `${key} ${verb}`
    const underWay = this.#shared.get(name) as Promise<T> | undefined
    if (underWay) return underWay
    const flight = this.#queue.run(key, work)
    this.#shared.set(name, flight)
    try {
      return await flight
    } finally {
      this.#shared.delete(name)
    }
  }
}
