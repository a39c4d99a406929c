import { setTimeout as sleep } from 'node:timers/promises'

/** How long an engine that does not answer is waited for, and how often it is asked, in ms. */
const [patience, askEvery] = [30_000, 1_000]

/** Time in which the engine does not answer: its restart is worth waiting for, its end is not. */
export class EngineOutage {
  readonly #ping: () => Promise<void>
  #isOn = false
  #isClosed = false

  /** @param ping resolves when the engine answers; must end within a limit of its own */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /**
   * Begins one, because the engine did not answer; nothing, when there is one already.
   * @returns when it is over, whether the engine answers again; undefined when somebody else began it
   */
  async begin(): Promise<boolean | undefined> {
    if (this.#isOn) return undefined
    this.#isOn = true
    const end = performance.now() + patience
    let isAnswering = await this.#isAnswering()
    while (!isAnswering && performance.now() < end && !this.#isClosed) {
      await sleep(askEvery, undefined, { ref: false })
      isAnswering = await this.#isAnswering()
    }
    this.#isOn = false
    return isAnswering
  }

  /** Nobody waits any more. */
  close(): void {
    this.#isClosed = true
  }

  async #isAnswering(): Promise<boolean> {
    return this.#ping().then(
      () => true,
      () => false,
    )
  }
}
