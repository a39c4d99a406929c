import { StoreFailure } from '../store-failure.ts'

interface Waiting {
  readonly begin: () => void
  readonly timer: NodeJS.Timeout
}

/**
 * One writer after the other, in the order they came. Whoever waits in vain gives up after their own time, counted from
 * when they came: a queue in which each waits for its head first would keep the last one for ever.
 */
export class WriteMutex {
  readonly #waiting: Waiting[] = []
  #isLocked = false

  /** Resolves when it is the caller's turn, which lasts until `end`. @param timeout ms @throws {StoreFailure} when it does not come in time */
  async acquire(timeout: number): Promise<void> {
    if (!this.#isLocked) {
      this.#isLocked = true
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onTimeout = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      reject(new StoreFailure(`other writers did not end within ${timeout} ms`))
    }
    const waiting: Waiting = { begin: resolve, timer: setTimeout(onTimeout, timeout) }
    this.#waiting.push(waiting)
    await promise
  }

  /** Hands the turn on. */
  release(): void {
    const next = this.#waiting.shift()
    if (!next) {
      this.#isLocked = false
      return
    }
    clearTimeout(next.timer)
    next.begin()
  }
}
