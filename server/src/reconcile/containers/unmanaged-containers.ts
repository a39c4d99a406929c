import type { ContainerState } from '#/containers/state/container-state.ts'
import type { RuntimeEvent } from '#/runtime/runtime.ts'

/**
 * How long a launch may take to store whom it started, in ms, and a block to be lifted by whoever starts again. Asking at
 * once would make a thousand launches a thousand looks at everything.
 */
const grace = 2_000

export interface UnmanagedContainersParts {
  /** What is known of the container with this id of the engine. */
  readonly find: (containerId: string) => ContainerState | undefined
  /** Asks for a look at everything. */
  readonly activate: () => void
}

/** Detects unmanaged containers: they start although no record expects it, because another program started them or they are left over. */
export class UnmanagedContainers {
  readonly #parts: UnmanagedContainersParts
  readonly #heardAt = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UnmanagedContainersParts) {
    this.#parts = parts
  }

  onEvent({ id, action }: RuntimeEvent): void {
    if (id === undefined) return
    if (action === 'die' || action === 'destroy') this.#heardAt.delete(id)
    if (action !== 'start' && action !== 'unpause') return
    if (!this.#isExpected(id)) this.#heardAt.set(id, performance.now())
    if (this.#heardAt.size > 0) this.#timer ??= setTimeout(() => this.#check(), grace).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(): void {
    this.#timer = undefined
    let isWrong = false
    for (const [id, at] of this.#heardAt) {
      const isDue = performance.now() - at >= grace
      const isExpected = this.#isExpected(id)
      if (isDue || isExpected) this.#heardAt.delete(id)
      isWrong ||= isDue && !isExpected
    }
    if (isWrong) this.#parts.activate()
    if (this.#heardAt.size > 0) this.#timer = setTimeout(() => this.#check(), grace / 4).unref()
  }

  #isExpected(id: string): boolean {
    const known = this.#parts.find(id)
    return known !== undefined && !known.isBlocked
  }
}
