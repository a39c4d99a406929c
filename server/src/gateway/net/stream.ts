import type { Caller } from './people.ts'

/** Something open that can be forbidden at any moment: a request under way or a WebSocket. */
export interface Stream {
  /** Whose token opened it; undefined for public visitors. */
  readonly caller: Caller | undefined
  /** Where it stands in its `Streams`; theirs to set. */
  place: number
  /** Nothing of it has gone to the app yet, and nothing of the app has come: it may wait for another one. */
  readonly isWaiting: boolean
  /** Ends both sides at once, without a word. */
  cut(): void
}

/** What is open to one upstream. Something comes and goes with every request, so that neither may cost more than a few steps. */
export class Streams {
  readonly #all: Stream[] = []
  readonly #onFirst: () => void

  /** @param onFirst called when something is opened while nothing is open */
  constructor(onFirst: () => void = () => undefined) {
    this.#onFirst = onFirst
  }

  get size(): number {
    return this.#all.length
  }

  add(stream: Stream): void {
    if (this.#all.length === 0) this.#onFirst()
    stream.place = this.#all.length
    this.#all.push(stream)
  }

  delete(stream: Stream): void {
    const { place } = stream
    if (this.#all[place] !== stream) return
    const last = this.#all.pop()
    if (last === undefined || last === stream) return
    this.#all[place] = last
    last.place = place
  }

  /** Cuts them all. */
  cut(): void {
    for (const stream of this.#all.slice()) stream.cut()
  }

  /** Cuts those that an app has to do with. What waits finds out by itself what has become of the app, and can still say it. */
  cutBegun(): void {
    for (const stream of this.#all.slice()) if (!stream.isWaiting) stream.cut()
  }
}
