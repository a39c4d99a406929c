import { KeyedLimit } from '#/machine/keyed-limit.ts'
import { refusals } from '#/refusals/errors.ts'

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
  readonly #requests = new KeyedLimit<number>({ ofKey: maxAtOnce })

  /** Counts a request. @returns ends it @throws {Refusal} 429 with `Retry-After` */
  enter(userId: number): () => void {
    const leave = this.#requests.enter(userId)
    if (!leave) throw refusals.tooManyAtOnce(maxAtOnce)
    return leave
  }
}
