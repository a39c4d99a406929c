import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '#/engines/runtime.ts'

/** Interval of pings, in ms. */
const pingInterval = 1_000
/** Grace period without an answer before the engine counts as down, in ms. */
const unreachableGrace = 3_000

/** Notified once each: the engine counts as down, and it answers again. */
export interface EngineHealthListener {
  onUnreachable(): void
  onRecovered(): void
}

/**
 * Engine health check with a grace period: the engine answers pings, and its events arrive. Without events an address
 * may belong to another container by now, so both are needed. No other call counts: an engine may fail to answer about
 * one container for ever while it serves all others.
 */
export class EngineHealth {
  readonly #runtime: Runtime
  readonly #listener: EngineHealthListener
  #areEventsLost = false
  #failingSince: number | undefined
  /** When the ping of the newest answer was sent; a failure of an older one tells nothing. */
  #answeredAt = -Infinity
  #isDown = false

  constructor(runtime: Runtime, listener: EngineHealthListener) {
    this.#runtime = runtime
    this.#listener = listener
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** Pings every second until the signal aborts. */
  async monitor(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ping()
      await sleep(pingInterval, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Whether the event stream is connected. An engine that was down is pinged at once then. */
  setEventsHeard(areEventsHeard: boolean): void {
    this.#areEventsLost = !areEventsHeard
    if (this.#areEventsLost) this.#noteFailure(performance.now())
    else if (this.#isDown) void this.#ping()
  }

  /**
   * Counts as a failed ping without the grace period: at the start no earlier answer exists. @param askedAt by
   * `performance.now()`
   */
  markDown(askedAt: number): void {
    this.#failingSince = Math.min(askedAt, performance.now() - unreachableGrace)
    this.#noteFailure(this.#failingSince)
  }

  /** A ping of that time (`performance.now()`) was not answered, or the event stream is disconnected since. */
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
      return askedAt < this.#answeredAt ? undefined : this.#noteFailure(askedAt)
    }
    this.#answeredAt = Math.max(this.#answeredAt, askedAt)
    if (this.#areEventsLost) return this.#noteFailure(askedAt)
    this.#failingSince = undefined
    if (!this.#isDown) return
    this.#isDown = false
    this.#listener.onRecovered()
  }
}
