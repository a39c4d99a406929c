/** One operation of the control plane on a container, while which the container does not run. */
interface Absence {
  stepsLeft: number
  readonly end: () => Promise<void>
  readonly over: PromiseWithResolvers<void>
}

/**
 * Containers on which an operation is in progress that takes several steps of the world. No other operation on them begins
 * meanwhile, and a wake waits for the end, as both do in the single flight of a container.
 */
export class Absences {
  readonly #open = new Map<string, Absence>()

  /** @param end makes the container run again, after so many steps of the world; a wake waits until it resolves */
  begin(prefix: string, steps: number, end: () => Promise<void>): void {
    this.#open.set(prefix, { stepsLeft: steps, end, over: Promise.withResolvers() })
  }

  has(prefix: string): boolean {
    return this.#open.has(prefix)
  }

  /** Lets one step pass, and ends one operation that is due. @returns whether there was one */
  async pass(): Promise<boolean> {
    for (const absence of this.#open.values()) absence.stepsLeft--
    const due = [...this.#open].find(([, { stepsLeft }]) => stepsLeft <= 0)
    if (!due) return false
    const [prefix, { end, over }] = due
    await end()
    this.#open.delete(prefix)
    over.resolve()
    return true
  }

  /** Resolves when no operation on the container is in progress. */
  async settled(prefix: string): Promise<void> {
    await this.#open.get(prefix)?.over.promise
  }
}
