import type { KnownContainer } from '#/containers/known-container.ts'
import type { RuntimeEvent } from '#/runtime/runtime.ts'

/**
 * How long a launch may take to store whom it started, in ms, and a block to be lifted by whoever starts again. Asking at
 * once would make a thousand launches a thousand looks at everything.
 */
const patience = 2_000

export interface NewcomersParts {
  /** What is known of the container with this id of the engine. */
  readonly find: (containerId: string) => KnownContainer | undefined
  /** Asks for a look at everything. */
  readonly activate: () => void
}

/** Containers that begin to run although nothing that Berth knows of should: somebody else started them, or they are left over. */
export class Newcomers {
  readonly #parts: NewcomersParts
  readonly #heardAt = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: NewcomersParts) {
    this.#parts = parts
  }

  hear({ id, action }: RuntimeEvent): void {
    if (id === undefined) return
    if (action === 'die' || action === 'destroy') this.#heardAt.delete(id)
    if (action !== 'start' && action !== 'unpause') return
    if (!this.#isExpected(id)) this.#heardAt.set(id, performance.now())
    if (this.#heardAt.size > 0) this.#timer ??= setTimeout(() => this.#look(), patience).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #look(): void {
    this.#timer = undefined
    let isWrong = false
    for (const [id, at] of this.#heardAt) {
      const isDue = performance.now() - at >= patience
      const isExpected = this.#isExpected(id)
      if (isDue || isExpected) this.#heardAt.delete(id)
      isWrong ||= isDue && !isExpected
    }
    if (isWrong) this.#parts.activate()
    if (this.#heardAt.size > 0) this.#timer = setTimeout(() => this.#look(), patience / 4).unref()
  }

  #isExpected(id: string): boolean {
    const known = this.#parts.find(id)
    return known !== undefined && !known.isBlocked
  }
}
