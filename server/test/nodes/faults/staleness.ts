/** How long after the last renewal of its lease the earlier primary may be read by a follower, in ms: the lease, and two seconds. */
const limit = 7_000

/** A newer entry of the audit log was answered before an answer without it was asked for. */
interface StaleAnswer {
  readonly node: string
  readonly askedAt: number
}

/**
 * Whether answers are of before: each answer has at least what any node has answered when it was asked for. While two primaries are
 * at one address, a follower may answer from the earlier one for a time.
 */
export class Staleness {
  readonly #violate: (words: string) => void
  /** Id of the newest entry that was answered. */
  #newest = 0
  #isSplit = false
  #stale: StaleAnswer[] = []
  /** Stale answers that were allowed. */
  allowed = 0
  /** How long after the cut the last of them was asked for, in ms. */
  longest = 0

  constructor(violate: (words: string) => void) {
    this.#violate = violate
  }

  /** To be taken before a request is sent. */
  get newest(): number {
    return this.#newest
  }

  /** @param newest of the entries that were answered @param known as it was before the request @param askedAt by `performance.now()` */
  note(node: string, newest: number, known: number, askedAt: number): void {
    this.#newest = Math.max(this.#newest, newest)
    if (newest >= known) return
    if (this.#isSplit) this.#stale.push({ node, askedAt })
    else this.#violate(`${node} answered with the audit log of before: entry ${newest} and not ${known}`)
  }

  /** The earlier primary is about to be cut from the leader. */
  begin(): void {
    this.#isSplit = true
  }

  /** @param cutAt when it was, by `performance.now()` */
  judge(cutAt: number): void {
    const delays = this.#stale.map(({ askedAt }) => askedAt - cutAt)
    this.longest = Math.max(this.longest, ...delays)
    const late = delays.filter((delay) => delay > limit)
    if (late.length > 0)
      this.#violate(
        `${this.#stale[0]?.node} answered from the earlier primary until ${Math.round(Math.max(...late))} ms after the cut`,
      )
    this.allowed += delays.length - late.length
    this.#stale = []
    this.#isSplit = false
  }
}
