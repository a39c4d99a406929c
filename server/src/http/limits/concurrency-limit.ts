import { refusals } from '#/errors.ts'

/**
 * Load shedding: requests of one client above it are refused. Far above what pages need (a browser has six connections to
 * a host) and what a script for a class requests at once.
 */
export const maxAtOnce = 100

/**
 * Limits the requests in progress of one account, so that one account cannot occupy the process that serves all others.
 * Streams count until they are open; after that `OpenStreams` limits them.
 */
export class ConcurrencyLimit {
  readonly #underWay = new Map<number, number>()

  /** Counts a request. @returns ends it, call it once @throws {Refusal} 429 with `Retry-After` */
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
