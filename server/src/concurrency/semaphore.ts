/** How much a semaphore lets in, and whom it refuses. */
export interface SemaphoreLimits {
  /** Work at the same time. */
  readonly max: number
  /** Callers that may wait; the next one is refused at once. */
  readonly maxWaiting: number
  /** How long a caller may wait, in ms. */
  readonly timeout: number
}

/** Counting semaphore with a bounded queue: first come, first served, nobody longer than the timeout. */
export class Semaphore {
  readonly #limits: SemaphoreLimits
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
  }

  /** Callers that wait now. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs `work` once there is a slot. @throws {SemaphoreFull} it was not begun · whatever `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire()
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  async #acquire(): Promise<void> {
    const { max, maxWaiting, timeout } = this.#limits
    if (this.#running < max) {
      this.#running++
      return
    }
    if (this.#waiting.size >= maxWaiting) throw new SemaphoreFull(`${maxWaiting} callers wait already`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#waiting.delete(resolve)
      reject(new SemaphoreFull(`no slot came free within ${timeout} ms`))
    }, timeout)
    this.#waiting.add(resolve)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** A slot is handed to the next caller without becoming free in between. */
  #release(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

/** No slot was to be had; nothing was done. */
export class SemaphoreFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SemaphoreFull'
  }
}
