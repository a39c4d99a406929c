/** Whether Berth answers; if it does not, whether this device is offline. */
export type Connectivity = 'reachable' | 'offline' | 'unreachable'

interface ConnectivityMonitorParts {
  /** Sends the cheapest request; rejects when there is no response. */
  readonly ping: () => Promise<unknown>
  readonly isOnline: () => boolean
  /** A hidden page sends no pings. */
  readonly isVisible: () => boolean
}

/** Exponential backoff between pings while Berth does not answer, in ms. */
const retryDelays = { first: 2_000, max: 20_000 } as const

/**
 * Watches whether Berth can be reached. One failed request is not reported: the monitor sends a ping first, and then
 * pings with exponential backoff until there is a response.
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

  /** Whether the state was ever anything but reachable. */
  get wasUnreachable(): boolean {
    return this.#wasUnreachable
  }

  get state(): Connectivity {
    return this.#state
  }

  /** @param listener is called when the state has changed @returns unsubscribes */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A request received a response, of any status. */
  noteAnswer(): void {
    this.#set('reachable')
  }

  /** A request failed, or the network may have changed: pings at once. */
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
