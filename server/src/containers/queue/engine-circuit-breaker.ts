import { setTimeout as sleep } from 'node:timers/promises'

/** How long an engine that does not answer is waited for, and how often it is asked, in ms. */
const [recoveryTimeout, pingInterval] = [30_000, 1_000]

/** Circuit breaker: pauses the launch queue while the engine is down; a restart is waited for, an end is not. */
export class EngineCircuitBreaker {
  readonly #ping: () => Promise<void>
  #recovery: Promise<boolean> | undefined
  #isClosed = false

  /** @param ping resolves when the engine answers; must end within a limit of its own */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  /** Resolves when it is over, with whether the engine answers again; undefined when there is none. */
  get recovery(): Promise<boolean> | undefined {
    return this.#recovery
  }

  /** Begins one, because the engine did not answer. Resolves as `over`. */
  async trip(): Promise<boolean> {
    this.#recovery ??= this.#waitForRecovery()
    return this.#recovery
  }

  /** Nobody waits any more. */
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
