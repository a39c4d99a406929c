import type { RestoreQueue, Restoration } from './restore-queue.ts'

/** Pauses before the next attempt, in ms; each is doubled from the first to the last. */
export interface RestorePauses {
  /** The server refused: no capacity, or engine or store do not answer. */
  readonly server: readonly [first: number, last: number]
  /** This container cannot be started. */
  readonly container: readonly [first: number, last: number]
  /** Interval in which the queue is polled. */
  readonly poll: number
}

export const defaultPauses: RestorePauses = { server: [1_000, 15_000], container: [2_000, 300_000], poll: 250 }

/** Exponential backoff. @param attempts from 1 on @returns ms */
export const backoff = ([first, last]: readonly [number, number], attempts: number) =>
  Math.min(last, first * 2 ** Math.min(attempts - 1, 20))

/**
 * Shared backoff of all restorations after a refusal. A refusal usually concerns all containers, so that nothing is started
 * until the pause is over. But some refusals, such as no disk space for a new container, do not: in each pause another
 * container is tried as a probe, the one with the oldest attempt first, and more of them while they succeed.
 */
export class RestoreBackoff {
  readonly #pauses: RestorePauses['server']
  readonly #maxProbes: number
  /** Pauses in a row. */
  #refusals = 0
  /** When the present pause ends, by `performance.now()`. */
  #pausedUntil = 0
  /** Refused in the present pause. */
  readonly #refusedNow = new Set<Restoration>()
  /** Probes left in the present pause. */
  #probes = 0

  constructor(pauses: RestorePauses['server'], maxProbes: number) {
    this.#pauses = pauses
    this.#maxProbes = maxProbes
  }

  /** Whether the last attempt was refused. */
  get isActive(): boolean {
    return this.#refusals > 0
  }

  /** The next restoration to attempt now; undefined when there is none. */
  next(queue: RestoreQueue): Restoration | undefined {
    if (performance.now() >= this.#pausedUntil) return queue.take()
    if (this.#probes === 0) return undefined
    const next = queue.takeOther(this.#refusedNow)
    if (next) this.#probes--
    return next
  }

  /** The attempt was refused: begins a pause, unless it was a probe in one. */
  noteRefusal(restoration: Restoration): void {
    const now = performance.now()
    if (now >= this.#pausedUntil) {
      this.#pausedUntil = now + backoff(this.#pauses, ++this.#refusals)
      this.#refusedNow.clear()
      this.#probes = 1
    }
    this.#refusedNow.add(restoration)
  }

  /** The attempt was not refused: the pause is shortened, and more probes are allowed. */
  noteProgress(): void {
    this.#refusals = 0
    this.#pausedUntil = Math.min(this.#pausedUntil, performance.now() + this.#pauses[0])
    this.#probes = Math.min(this.#maxProbes, this.#probes + 2)
  }
}
