/** Whether Berth answers: it does, this device is offline, or it does not although the device is not. */
export type Reach = 'reachable' | 'offline' | 'unreachable'

export interface ReachParts {
  /** Asks for as little as possible; rejects when nobody answers. */
  readonly ask: () => Promise<unknown>
  readonly isOnline: () => boolean
  /** Nobody looks at a hidden page, so it asks nothing. */
  readonly isVisible: () => boolean
}

/** ms between two questions while nobody answers: the first, and the longest. */
const pauses = { first: 2_000, longest: 20_000 } as const

/**
 * Watches whether Berth can be reached. One request that fails is no news: networks hiccup, and the page asks itself
 * before it says anything; then it asks on, more and more seldom, until there is an answer.
 */
export class ReachWatch {
  readonly #parts: ReachParts
  readonly #listeners = new Set<() => void>()
  #state: Reach = 'reachable'
  #wasAway = false
  #isLooking = false
  #wake: (() => void) | undefined

  constructor(parts: ReachParts) {
    this.#parts = parts
  }

  /** Whether it was ever anything but reachable. */
  get wasAway(): boolean {
    return this.#wasAway
  }

  get state(): Reach {
    return this.#state
  }

  /** @param listener is called when the state has changed @returns what ends that */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A request had an answer, whichever. */
  noteAnswer(): void {
    this.#set('reachable')
  }

  /** A request had none, or something happened that may have changed how things are: asks at once. */
  look(): void {
    this.#wake?.()
    if (!this.#isLooking) void this.#lookOn()
  }

  async #lookOn(): Promise<void> {
    this.#isLooking = true
    for (let pause: number = pauses.first; ; pause = Math.min(pauses.longest, pause * 1.5)) {
      if (this.#parts.isVisible()) {
        if (await this.#answers()) break
        this.#set(this.#parts.isOnline() ? 'unreachable' : 'offline')
      }
      await this.#sleep(pause)
    }
    this.#isLooking = false
    this.#set('reachable')
  }

  #answers(): Promise<boolean> {
    return this.#parts.ask().then(
      () => true,
      () => false,
    )
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #set(state: Reach): void {
    if (state === this.#state) return
    this.#state = state
    this.#wasAway = true
    for (const listener of this.#listeners) listener()
  }
}
