/** Random numbers that are the same again for the same seed; enough for tests and nothing else. */
export class Random {
  #state: number

  /** @param seed an integer; its low 32 bits count */
  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** At least 0 and less than `end`, an integer. mulberry32: a few lines, and its 2^32 states are plenty for one case. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }

  /** @param chance 0 to 1 */
  happens(chance: number): boolean {
    return this.below(1_000_000) < chance * 1_000_000
  }

  /** @throws {Error} when there is nothing to choose from */
  oneOf<T>(all: readonly T[]): T {
    if (all.length === 0) throw new Error('nothing to choose from')
    return all[this.below(all.length)] as T
  }
}

/** The seed of one case of a run, so that a case can be made again without the ones before it. Runs with seeds side by side have other cases. */
export function caseSeed(runSeed: number, index: number): number {
  const run = new Random(runSeed).below(2 ** 32)
  return new Random(run ^ Math.imul(index + 1, 0x9e3779b1)).below(2 ** 32)
}
