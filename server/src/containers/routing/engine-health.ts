import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '#/runtime/runtime.ts'

/** Between two questions, in ms. */
const pingInterval = 1_000
/** How long the engine may keep silent before nothing that it said counts any more, in ms. */
const unreachableGrace = 3_000

/** What is told, each once: that what the engine said counts no more, and that it answers again. */
export interface EngineHealthListener {
  onUnreachable(): void
  onRecovered(): void
}

/**
 * Health check of the engine, with a grace time: it answers pings, and its events arrive. Without events an address may be another
 * else's by now, so both are needed. No other question counts: engines do not answer about one container for ever while
 * they serve all others.
 */
export class EngineHealth {
  readonly #runtime: Runtime
  readonly #listener: EngineHealthListener
  #areEventsLost = false
  #failingSince: number | undefined
  #isDown = false

  constructor(runtime: Runtime, listener: EngineHealthListener) {
    this.#runtime = runtime
    this.#listener = listener
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** Asks every second until the signal aborts. */
  async monitor(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ping()
      await sleep(pingInterval, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Events are heard, or are not. */
  setEventsHeard(areEventsHeard: boolean): void {
    this.#areEventsLost = !areEventsHeard
    if (this.#areEventsLost) this.#noteFailure(performance.now())
  }

  /** As if a ping had failed, without the grace time: nothing is known yet that could count on. @param askedAt by `performance.now()` */
  markDown(askedAt: number): void {
    this.#failingSince = Math.min(askedAt, performance.now() - unreachableGrace)
    this.#noteFailure(this.#failingSince)
  }

  /** A ping was not answered that was sent then (`performance.now()`), or no event is heard since. */
  #noteFailure(askedAt: number): void {
    this.#failingSince = Math.min(this.#failingSince ?? askedAt, askedAt)
    if (this.#isDown || performance.now() - this.#failingSince < unreachableGrace) return
    this.#isDown = true
    this.#listener.onUnreachable()
  }

  async #ping(): Promise<void> {
    const askedAt = performance.now()
    try {
      await this.#runtime.ping()
    } catch {
      return this.#noteFailure(askedAt)
    }
    if (this.#areEventsLost) return this.#noteFailure(askedAt)
    this.#failingSince = undefined
    if (!this.#isDown) return
    this.#isDown = false
    this.#listener.onRecovered()
  }
}
