/** Max containers of which it is known; the oldest are forgotten. */
const maxKept = 50_000

/**
 * Containers whose owners are asked to restart them, by the engine's id, so that a new one is asked for nothing. In memory: after a
 * restart of Berth an administrator asks again.
 */
export class RestartRequests {
  readonly #ids = new Set<string>()

  has(containerId: string): boolean {
    return this.#ids.has(containerId)
  }

  /** As many of them as there are, up to this number. */
  first(max: number): string[] {
    return [...this.#ids.values().take(max)]
  }

  /** Asks for these, or withdraws that. */
  set(containerIds: readonly string[], isAsked: boolean): void {
    for (const id of containerIds) {
      this.#ids.delete(id)
      if (isAsked) this.#ids.add(id)
    }
    for (const oldest of this.#ids) {
      if (this.#ids.size <= maxKept) return
      this.#ids.delete(oldest)
    }
  }
}
