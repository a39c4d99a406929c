/** Max numbers that are remembered, of all keys together and of each: some megabytes at most. */
const defaultMaxRemembered = 20_000

/** What came at one moment. */
interface Batch {
  readonly at: number
  count: number
}

export interface RecentCountsLimits {
  /** How long something counts, in ms. */
  readonly window: number
  /** Max count of one key within the window. */
  readonly max: number
  /** Max batches that are remembered, of all keys together and of each; above it those of the key that came longest ago go. */
  readonly maxRemembered?: number
}

/** The count of a key. */
export interface RecentCount {
  /** In ms, until what was asked for may come; 0: it was counted. */
  readonly wait: number
  /** How much more may come now. */
  readonly left: number
  /** In ms, until the first that counts does not count any more. */
  readonly reset: number
  /** So much of it does not count after all; all of it without a number. */
  undo(count?: number): void
}

/**
 * Rate limiter: counts what comes, by key, in a sliding window. In memory and bounded: a start of Berth begins anew, and keys
 * whose window is over are forgotten as others come.
 */
export class RecentCounts<K> {
  readonly #limits: Required<RecentCountsLimits>
  readonly #now: () => number
  /** Batches, the oldest first; keys in order of their last one. */
  readonly #batches = new Map<K, readonly Batch[]>()
  #remembered = 0

  /** @param now clock, in ms; for one that may be set back, what comes later than now counts no more */
  constructor(limits: RecentCountsLimits, now: () => number = () => performance.now()) {
    this.#limits = { maxRemembered: defaultMaxRemembered, ...limits }
    this.#now = now
  }

  /** Counts so much of a key, unless it were too much with what counts already; then nothing is counted. */
  add(key: K, count = 1): RecentCount {
    const { max, window, maxRemembered } = this.#limits
    const now = this.#now()
    const recent = this.#recent(key, now)
    const wait = this.waitFor(key, count)
    const batch = { at: now, count: wait > 0 ? 0 : count }
    const kept = wait > 0 ? recent : [...recent, batch].slice(-maxRemembered)
    this.#set(key, kept, now)
    return {
      wait,
      left: max - sum(kept),
      reset: (kept[0]?.at ?? now) + window - now,
      undo: (less = batch.count) => void (batch.count -= less),
    }
  }

  /** In ms, until so much of a key may come; 0: it may now. */
  waitFor(key: K, count = 1): number {
    const now = this.#now()
    const recent = this.#recent(key, now)
    let over = sum(recent) + count - this.#limits.max
    if (over <= 0) return 0
    const last = recent.find((batch) => (over -= batch.count) <= 0)
    return (last?.at ?? now) + this.#limits.window - now
  }

  #recent(key: K, now: number): readonly Batch[] {
    const since = now - this.#limits.window
    return (this.#batches.get(key) ?? []).filter(({ at, count }) => at > since && at <= now && count > 0)
  }

  #set(key: K, batches: readonly Batch[], now: number): void {
    this.#delete(key)
    this.#batches.set(key, batches)
    this.#remembered += batches.length
    for (const [oldest, theirs] of this.#batches) {
      const isOver = (theirs.at(-1)?.at ?? 0) <= now - this.#limits.window
      if (oldest === key || (!isOver && this.#remembered <= this.#limits.maxRemembered)) return
      this.#delete(oldest)
    }
  }

  #delete(key: K): void {
    this.#remembered -= this.#batches.get(key)?.length ?? 0
    this.#batches.delete(key)
  }
}

const sum = (batches: readonly Batch[]) => batches.reduce((all, { count }) => all + count, 0)

/** Sets an entry of a map that keeps the latest ones: it becomes the last, and the first goes when there are more than `max`. */
export function setLatest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.size > max ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}
