import { containerKey, type ContainerRef } from '#/store/container-key.ts'
import type { Restoration } from './restore-queue.ts'

/** How long the end of a restored program counts as one of its start, in ms. */
const probationTime = 60_000
/** How long an entry is kept, in ms: an end is told apart from one by the engine only after a grace period. */
const keptFor = probationTime + 120_000

interface Entry {
  readonly restoration: Restoration
  /** By `performance.now()`. */
  readonly since: number
  /** The last end, and whether memory of the host was short then. */
  end: { readonly at: number; readonly wasMemoryShort: Promise<boolean> } | undefined
}

/**
 * Containers that were restored a short time ago. A start counts as soon as the program runs; where many start at once, the host's
 * OOM killer ends some of them seconds later.
 */
export class Probation {
  /** By `containerKey`, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #isMemoryShort: () => Promise<boolean>

  /** @param isMemoryShort must not reject */
  constructor(isMemoryShort: () => Promise<boolean>) {
    this.#isMemoryShort = isMemoryShort
  }

  begin(restoration: Restoration): void {
    this.#dropOld()
    this.#entries.delete(restoration.key)
    this.#entries.set(restoration.key, { restoration, since: performance.now(), end: undefined })
  }

  /** A program ended, whatever the cause. */
  noteEnd(owned: ContainerRef): void {
    this.#dropOld()
    const entry = this.#entries.get(containerKey(owned))
    if (entry) entry.end = { at: performance.now(), wasMemoryShort: this.#isMemoryShort() }
  }

  /**
   * Ends the probation of a container whose program ended by itself.
   * @returns its restoration with that end; undefined when it was not on probation then
   */
  takeEnded(owned: ContainerRef, containerId: string): Restoration | undefined {
    this.#dropOld()
    const entry = this.#entries.get(containerKey(owned))
    if (!entry) return undefined
    const { restoration, since } = entry
    this.#entries.delete(restoration.key)
    // Of an end whose event was missed, or came before the start was known, the time is not known: it counts.
    if (entry.end && entry.end.at - since > probationTime) return undefined
    restoration.end = { containerId, wasMemoryShort: entry.end?.wasMemoryShort ?? this.#isMemoryShort() }
    return restoration
  }

  #dropOld(): void {
    const oldest = performance.now() - keptFor
    for (const [key, { since }] of this.#entries) {
      if (since > oldest) return
      this.#entries.delete(key)
    }
  }
}
