import type { Caller } from '#/access/token-verifier.ts'

/** Something open that can be forbidden at any moment: a request under way or a WebSocket. */
export interface ActiveRequest {
  /** Whose token opened it; undefined for public visitors. */
  readonly caller: Caller | undefined
  /** Its position in `ActiveRequests`, which sets it. */
  index: number
  /** Nothing of it has gone to the app yet, and nothing of the app has come: it may wait for another one. */
  readonly isWaiting: boolean
  /** It asks the app to change nothing: see `isReadRequest`. */
  readonly isRead: boolean
  /** Ends both sides at once, without a word. */
  cut(): void
}

/** Active requests of one upstream. Every request adds and deletes one, so both take constant time. */
export class ActiveRequests {
  readonly #all: ActiveRequest[] = []
  readonly #onFirst: () => void

  /** @param onFirst called when something is opened while nothing is open */
  constructor(onFirst: () => void = () => undefined) {
    this.#onFirst = onFirst
  }

  get size(): number {
    return this.#all.length
  }

  add(stream: ActiveRequest): void {
    if (this.#all.length === 0) this.#onFirst()
    stream.index = this.#all.length
    this.#all.push(stream)
  }

  delete(stream: ActiveRequest): void {
    const { index } = stream
    if (this.#all[index] !== stream) return
    const last = this.#all.pop()
    if (last === undefined || last === stream) return
    this.#all[index] = last
    last.index = index
  }

  [Symbol.iterator](): Iterator<ActiveRequest> {
    return this.#all.slice().values()
  }

  /** Cuts them all. */
  cut(): void {
    for (const stream of this.#all.slice()) stream.cut()
  }

  /** Cuts those that an app has to do with. What waits finds out by itself what has become of the app, and can still say it. */
  cutForwarded(): void {
    for (const stream of this.#all.slice()) if (!stream.isWaiting) stream.cut()
  }
}
