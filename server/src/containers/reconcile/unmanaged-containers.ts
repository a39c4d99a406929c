import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RuntimeEvent } from '#/engines/runtime-event.ts'

/**
 * Time that a launch may take to store its container, and a restart to lift its stop, in ms. Without it a thousand
 * launches would cause a thousand full runs.
 */
const grace = 2_000

export interface UnmanagedContainersParts {
  /** State of the container with this id of the engine. */
  readonly find: (containerId: string) => ContainerState | undefined
  /** Requests a run of the reconciler. */
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
