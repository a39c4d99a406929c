/** So many at a time; the others wait in the order they came, and so many at most. */
export class Slots {
  readonly #mostWaiting: number
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number, mostWaiting: number) {
    this.#free = most
    this.#mostWaiting = mostWaiting
  }

  /** Works once there is a slot. @param signal ends the wait @throws as the work does, and when no slot is to be had */
  async use(signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
    await this.#take(signal)
    try {
      await work()
    } finally {
      this.#giveBack()
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return
    }
    if (this.#waiting.length >= this.#mostWaiting) throw new Error('too many wait already')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      const at = this.#waiting.indexOf(resolve)
      // It was handed over in this very turn: the work finds out by itself that its time is over.
      if (at === -1) return
      this.#waiting.splice(at, 1)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    this.#waiting.push(resolve)
    await promise
    signal.removeEventListener('abort', giveUp)
  }

  /** Handed to the next without becoming free in between. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
