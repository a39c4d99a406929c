import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '#/runtime/runtime.ts'

/** Between two questions, in ms. */
const pause = 1_000
/** How long the engine may keep silent before nothing that it said counts any more, in ms. */
const patience = 3_000

/** What is told, each once: that what the engine said counts no more, and that it answers again. */
export interface PulseListener {
  onLost(): void
  onFound(): void
}

/**
 * Health of the engine as a whole: it answers pings, and its events are heard. Without events an address may be somebody
 * else's by now, so both are needed. No other question counts: engines do not answer about one container for ever while
 * they serve all others.
 */
export class EnginePulse {
  readonly #runtime: Runtime
  readonly #listener: PulseListener
  #isBlind = false
  #silentSince: number | undefined
  #isLost = false

  constructor(runtime: Runtime, listener: PulseListener) {
    this.#runtime = runtime
    this.#listener = listener
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Asks every second until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ask()
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Events are heard, or are not. */
  hears(isHearing: boolean): void {
    this.#isBlind = !isHearing
    if (this.#isBlind) this.#fails(performance.now())
  }

  /** As if a ping had failed, without the grace time: nothing is known yet that could count on. @param askedAt by `performance.now()` */
  giveUp(askedAt: number): void {
    this.#silentSince = Math.min(askedAt, performance.now() - patience)
    this.#fails(this.#silentSince)
  }

  /** A ping was not answered that was sent then (`performance.now()`), or no event is heard since. */
  #fails(askedAt: number): void {
    this.#silentSince = Math.min(this.#silentSince ?? askedAt, askedAt)
    if (this.#isLost || performance.now() - this.#silentSince < patience) return
    this.#isLost = true
    this.#listener.onLost()
  }

  async #ask(): Promise<void> {
    const askedAt = performance.now()
    try {
      await this.#runtime.ping()
    } catch {
      return this.#fails(askedAt)
    }
    if (this.#isBlind) return this.#fails(askedAt)
    this.#silentSince = undefined
    if (!this.#isLost) return
    this.#isLost = false
    this.#listener.onFound()
  }
}
