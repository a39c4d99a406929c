import { refusals } from '#/refusals/errors.ts'

/** Max wrong codes of a user within a minute. */
const maxPerMinute = 10
const minute = 60_000
/** Max users that are remembered; with more, those who are oldest in the list are forgotten. */
const maxUsers = 10_000

/**
 * Counts wrong join codes per user, in a sliding minute (against brute force): codes cannot be guessed, whatever their
 * length.
 */
export class WrongCodeLimit {
  /** By user, when the latest wrong codes came, by `performance.now()`. */
  readonly #at = new Map<number, number[]>()

  /**
   * Counts a code as wrong before it is looked up, so that many requests at once are no way around the limit.
   * @returns to be called when the code is right @throws {Refusal} 429 after ten wrong codes within the last minute
   */
  count(userId: number): () => void {
    const now = performance.now()
    const recent = (this.#at.get(userId) ?? []).filter((at) => at > now - minute)
    if (recent.length >= maxPerMinute)
      throw refusals.tooManyJoinCodes(maxPerMinute, Math.ceil((minute - (now - (recent[0] ?? 0))) / 1_000))
    // The latest user goes to the end of the map.
    this.#at.delete(userId)
    this.#at.set(userId, [...recent, now])
    for (const [oldest] of this.#at) if (this.#at.size > maxUsers) this.#at.delete(oldest)
    return () => this.#forgive(userId, now)
  }

  #forgive(userId: number, at: number): void {
    const counted = this.#at.get(userId) ?? []
    const left = counted.filter((each) => each !== at)
    if (left.length > 0) this.#at.set(userId, left)
    else this.#at.delete(userId)
  }
}
