/** Whether Berth answers: it does, this device is offline, or it does not although the device is not. */
export type Connectivity = 'reachable' | 'offline' | 'unreachable'

export interface ConnectivityMonitorParts {
  /** Asks for as little as possible; rejects when nobody answers. */
  readonly ping: () => Promise<unknown>
  readonly isOnline: () => boolean
  /** Nobody looks at a hidden page, so it asks nothing. */
  readonly isVisible: () => boolean
}

/** ms between two questions while nobody answers: the first, and the longest. */
const retryDelays = { first: 2_000, max: 20_000 } as const

/**
 * Watches whether Berth can be reached. One request that fails is no news: networks hiccup, and the page asks itself
 * before it says anything; then it asks on, more and more seldom, until there is an answer.
 */
export class ConnectivityMonitor {
  readonly #parts: ConnectivityMonitorParts
  readonly #listeners = new Set<() => void>()
  #state: Connectivity = 'reachable'
  #wasUnreachable = false
  #isChecking = false
  #wake: (() => void) | undefined

  constructor(parts: ConnectivityMonitorParts) {
    this.#parts = parts
  }

  /** Whether it was ever anything but reachable. */
  get wasUnreachable(): boolean {
    return this.#wasUnreachable
  }

  get state(): Connectivity {
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
  check(): void {
    this.#wake?.()
    if (!this.#isChecking) void this.#checkUntilReachable()
  }

  async #checkUntilReachable(): Promise<void> {
    this.#isChecking = true
    for (let delay: number = retryDelays.first; ; delay = Math.min(retryDelays.max, delay * 1.5)) {
      if (this.#parts.isVisible()) {
        if (await this.#respondsToPing()) break
        this.#set(this.#parts.isOnline() ? 'unreachable' : 'offline')
      }
      await this.#sleep(delay)
    }
    this.#isChecking = false
    this.#set('reachable')
  }

  #respondsToPing(): Promise<boolean> {
    return this.#parts.ping().then(
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

  #set(state: Connectivity): void {
    if (state === this.#state) return
    this.#state = state
    this.#wasUnreachable = true
    for (const listener of this.#listeners) listener()
  }
}
