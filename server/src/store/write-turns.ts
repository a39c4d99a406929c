import { StoreFailure } from './store-failure.ts'

interface Waiting {
  readonly begin: () => void
  readonly timer: NodeJS.Timeout
}

/**
 * One writer after the other, in the order they came. Whoever waits in vain gives up after their own time, counted from
 * when they came: a queue in which each waits for its head first would keep the last one for ever.
 */
export class WriteTurns {
  readonly #waiting: Waiting[] = []
  #isTaken = false

  /** Resolves when it is the caller's turn, which lasts until `end`. @param limit ms @throws {StoreFailure} when it does not come in time */
  async begin(limit: number): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      reject(new StoreFailure(`other writers did not end within ${limit} ms`))
    }
    const waiting: Waiting = { begin: resolve, timer: setTimeout(giveUp, limit) }
    this.#waiting.push(waiting)
    await promise
  }

  /** Hands the turn on. */
  end(): void {
    const next = this.#waiting.shift()
    if (!next) {
      this.#isTaken = false
      return
    }
    clearTimeout(next.timer)
    next.begin()
  }
}
