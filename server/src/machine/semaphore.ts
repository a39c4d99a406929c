/** Limits of a semaphore. */
export interface SemaphoreLimits {
  /** Tasks that run at the same time. */
  readonly max: number
  /** Max waiting callers; further ones are refused at once. Unbounded if left out. */
  readonly maxWaiting?: number
  /** Max wait of a caller, in ms; unlimited if left out. */
  readonly timeout?: number
}

/** Limits of one caller's wait. */
export interface WaitOptions {
  /** In ms, instead of the semaphore's. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal
}

/**
 * Counting semaphore with a bounded FIFO queue; with `max: 1` a mutex. Our own, because p-limit keeps a caller that has
 * timed out in its queue (decision 037).
 */
export class Semaphore {
  readonly #limits: SemaphoreLimits
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs `work` once there is a slot. @throws as `acquire`; then `work` was not called · what `work` throws */
  async run<T>(work: () => Promise<T>, options?: WaitOptions): Promise<T> {
    await this.acquire(options)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /**
   * Resolves when the caller has a slot, until `release`. @throws {SemaphoreFull} queue full or timeout · the signal's
   * reason
   */
  async acquire({ timeout = this.#limits.timeout, signal }: WaitOptions = {}): Promise<void> {
    const { max, maxWaiting = Infinity } = this.#limits
    if (this.#running < max) {
      this.#running++
      return
    }
    if (this.#waiting.size >= maxWaiting) throw new SemaphoreFull(`${maxWaiting} callers wait already`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A slot that was handed over in the same tick wins: the caller has to release it.
    const giveUp = (reason: unknown) => void (this.#waiting.delete(resolve) && reject(reason as Error))
    const onTimeout = () => giveUp(new SemaphoreFull(`no slot became free within ${timeout} ms`))
    const timer = timeout === undefined ? undefined : setTimeout(onTimeout, timeout)
    const onAbort = () => giveUp(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#waiting.add(resolve)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Hands the slot to the next caller without freeing it in between. */
  release(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

/** The queue is full, or the wait took too long; nothing was done. */
export class SemaphoreFull extends Error {
  override readonly name = 'SemaphoreFull'
}

export interface KeyedLimits {
  readonly ofKey: number
  /** Limit of all keys together; unlimited if left out. */
  readonly ofAll?: number
}

/**
 * Counts what is under way for each key, such as downloads of a user, and lets in so many for each and so many in all.
 */
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
