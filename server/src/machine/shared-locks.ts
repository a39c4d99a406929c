interface Lock {
  sharers: number
  isHeld: boolean
  readonly waiting: { readonly isShared: boolean; readonly enter: () => void }[]
}

/**
 * Per-key locks that many may share, or one may hold alone; in the order in which they are asked for, so that neither
 * kind waits for ever.
 */
export class SharedLocks {
  readonly #locks = new Map<string, Lock>()

  /** Runs work while others that share may run, and nothing that holds alone. */
  async share<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lock = await this.#enter(key, true)
    return work().finally(() => {
      lock.sharers--
      this.#next(key, lock)
    })
  }

  /** Runs work while nothing else has the key. */
  async hold<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lock = await this.#enter(key, false)
    return this.#held(key, lock, work)
  }

  /**
   * For work within `share`: runs it alone if nothing else shares the key at this moment, because two that share and
   * wait for each other would wait for ever. @returns undefined when it was not run
   */
  async holdIfAlone<T>(key: string, work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    const lock = this.#locks.get(key)
    if (lock?.sharers !== 1 || lock.isHeld) return undefined
    lock.isHeld = true
    return { result: await this.#held(key, lock, work) }
  }

  async #held<T>(key: string, lock: Lock, work: () => Promise<T>): Promise<T> {
    return work().finally(() => {
      lock.isHeld = false
      this.#next(key, lock)
    })
  }

  async #enter(key: string, isShared: boolean): Promise<Lock> {
    const lock = this.#locks.get(key) ?? { sharers: 0, isHeld: false, waiting: [] }
    this.#locks.set(key, lock)
    const { promise, resolve } = Promise.withResolvers<void>()
    lock.waiting.push({ isShared, enter: resolve })
    this.#next(key, lock)
    await promise
    return lock
  }

  #next(key: string, lock: Lock): void {
    for (let first = lock.waiting[0]; first && !lock.isHeld; first = lock.waiting[0]) {
      if (!first.isShared && lock.sharers > 0) break
      lock.waiting.shift()
      if (first.isShared) lock.sharers++
      else lock.isHeld = true
      first.enter()
    }
    if (lock.sharers === 0 && !lock.isHeld && lock.waiting.length === 0) this.#locks.delete(key)
  }
}
