export interface KeyedLimits {
  readonly ofKey: number
  /** Of all keys together; without one as many as there are. */
  readonly ofAll?: number
}

/** Counts what is under way for each key, such as downloads of a user, and lets in so many for each and so many in all. */
export class KeyedLimit<K> {
  readonly #limits: Required<KeyedLimits>
  readonly #underWay = new Map<K, number>()
  #all = 0

  constructor({ ofKey, ofAll = Number.POSITIVE_INFINITY }: KeyedLimits) {
    this.#limits = { ofKey, ofAll }
  }

  /** @returns ends it, whose further calls do nothing; undefined when as many are under way as may be */
  enter(key: K): (() => void) | undefined {
    if (this.isFull(key)) return undefined
    this.#count(key, 1)
    let isOver = false
    return () => {
      if (!isOver) this.#count(key, -1)
      isOver = true
    }
  }

  /** Whether `enter` would let none in. */
  isFull(key: K): boolean {
    return this.isFullForAll || (this.#underWay.get(key) ?? 0) >= this.#limits.ofKey
  }

  /** Whether `enter` would let none in, whatever the key. */
  get isFullForAll(): boolean {
    return this.#all >= this.#limits.ofAll
  }

  /** Keys for which something is under way. */
  get keys(): number {
    return this.#underWay.size
  }

  #count(key: K, by: number): void {
    this.#all += by
    const count = (this.#underWay.get(key) ?? 0) + by
    if (count > 0) this.#underWay.set(key, count)
    else this.#underWay.delete(key)
  }
}
