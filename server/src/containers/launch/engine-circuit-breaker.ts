import { setTimeout as sleep } from 'node:timers/promises'

/** How long the queue waits for an engine that does not answer, and the interval of pings, in ms. */
const [recoveryTimeout, pingInterval] = [30_000, 1_000]

/** Circuit breaker: pauses the launch queue while the engine is down, long enough for a restart of the engine. */
export class EngineCircuitBreaker {
  readonly #ping: () => Promise<void>
  #recovery: Promise<boolean> | undefined
  #isClosed = false

  /** @param ping resolves when the engine answers; must have a timeout of its own */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  /** Resolves when the outage ends, with whether the engine answers again; undefined when there is none. */
  get recovery(): Promise<boolean> | undefined {
    return this.#recovery
  }

  /** Opens the circuit, because the engine did not answer. Resolves as `recovery`. */
  async trip(): Promise<boolean> {
    this.#recovery ??= this.#waitForRecovery()
    return this.#recovery
  }

  /** Ends all waits. */
  stop(): void {
    this.#isClosed = true
  }

  async #waitForRecovery(): Promise<boolean> {
    const end = performance.now() + recoveryTimeout
    let isAnswering = await this.#isAnswering()
    while (!isAnswering && performance.now() < end && !this.#isClosed) {
      await sleep(pingInterval, undefined, { ref: false })
      isAnswering = await this.#isAnswering()
    }
    this.#recovery = undefined
    return isAnswering
  }

  async #isAnswering(): Promise<boolean> {
    return this.#ping().then(
      () => true,
      () => false,
    )
  }
}
