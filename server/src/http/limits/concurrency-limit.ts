import { refusals } from '#/errors.ts'

/** Far above what pages do (a browser has six connections to a host) and what a script for a class asks for at once. */
export const maxAtOnce = 100

/**
 * Limits how many requests of one account are under way at the same time, so that one account cannot take up the process
 * that serves all others. Streams count until they are open; after that `OpenStreams` bounds them.
 */
export class ConcurrencyLimit {
  readonly #underWay = new Map<number, number>()

  /** Counts a request. @returns what ends it, to be called once @throws {Refusal} 429 with `Retry-After` */
  enter(userId: number): () => void {
    const count = this.#underWay.get(userId) ?? 0
    if (count >= maxAtOnce) throw refusals.tooManyAtOnce(maxAtOnce)
    this.#underWay.set(userId, count + 1)
    return () => this.#leave(userId)
  }

  #leave(userId: number): void {
    const count = this.#underWay.get(userId) ?? 1
    if (count > 1) this.#underWay.set(userId, count - 1)
    else this.#underWay.delete(userId)
  }
}
