import { setTimeout as sleep } from 'node:timers/promises'

/** How long an engine that does not answer is waited for, and how often it is asked, in ms. */
const [patience, askEvery] = [30_000, 1_000]

/** Time in which the engine does not answer: its restart is worth waiting for, its end is not. */
export class EngineOutage {
  readonly #ping: () => Promise<void>
  #over: Promise<boolean> | undefined
  #isClosed = false

  /** @param ping resolves when the engine answers; must end within a limit of its own */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  /** Resolves when it is over, with whether the engine answers again; undefined when there is none. */
  get over(): Promise<boolean> | undefined {
    return this.#over
  }

  /** Begins one, because the engine did not answer. Resolves as `over`. */
  async begin(): Promise<boolean> {
    this.#over ??= this.#sitOut()
    return this.#over
  }

  /** Nobody waits any more. */
  close(): void {
    this.#isClosed = true
  }

  async #sitOut(): Promise<boolean> {
    const end = performance.now() + patience
    let isAnswering = await this.#isAnswering()
    while (!isAnswering && performance.now() < end && !this.#isClosed) {
      await sleep(askEvery, undefined, { ref: false })
      isAnswering = await this.#isAnswering()
    }
    this.#over = undefined
    return isAnswering
  }

  async #isAnswering(): Promise<boolean> {
    return this.#ping().then(
      () => true,
      () => false,
    )
  }
}
