/** So many at a time; the others wait in the order they came, and so many at most. */
export class SendSemaphore {
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(max: number, maxWaiting: number) {
    this.#free = max
    this.#maxWaiting = maxWaiting
  }

  /** Works once there is a slot. @param signal ends the wait @throws as the work does, and when no slot is to be had */
  async run(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    await this.#acquire(signal)
    try {
      await work()
    } finally {
      this.#release()
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return
    }
    if (this.#waiting.length >= this.#maxWaiting) throw new Error('too many wait already')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => {
      const at = this.#waiting.indexOf(resolve)
      // It was handed over in this very turn: the work finds out by itself that its time is over.
      if (at === -1) return
      this.#waiting.splice(at, 1)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting.push(resolve)
    await promise
    signal.removeEventListener('abort', onAbort)
  }

  /** Handed to the next without becoming free in between. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
