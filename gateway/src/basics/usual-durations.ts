/** Durations of one kind that are kept, so that one that was slow counts for a while only. */
const kept = 9
/** Fewer say nothing about what is usual. */
const fewest = 3

/** How long something usually takes: the median of its latest durations, in memory. */
export class UsualDurations {
  /** By kind, in ms, the oldest first. */
  readonly #latest = new Map<string, readonly number[]>()

  /** @param kind such as the type of a container; kinds are few, and none is forgotten */
  add(kind: string, ms: number): void {
    this.#latest.set(kind, [...(this.#latest.get(kind) ?? []), ms].slice(-kept))
  }

  /** In whole seconds, from 10 on in steps of 5; at least 1. Undefined where fewer than three were seen. */
  secondsOf(kind: string): number | undefined {
    const latest = this.#latest.get(kind) ?? []
    if (latest.length < fewest) return undefined
    const median = latest.toSorted((one, other) => one - other)[latest.length >> 1] ?? 0
    const seconds = Math.max(1, Math.ceil(median / 1_000))
    return seconds < 10 ? seconds : Math.ceil(seconds / 5) * 5
  }
}
