import type { Runtime } from '#/engines/runtime.ts'

/** Keeps creations waiting, so that a test can look at what waits behind them. Open at first. */
export class CreationGate {
  #opening: PromiseWithResolvers<void> | undefined
  #inside = 0
  /** Names of the containers whose creation was asked for, in order. */
  readonly asked: string[] = []
  /** How many were being created at the same time. */
  maxConcurrent = 0

  close(): void {
    this.#opening ??= Promise.withResolvers()
  }

  open(): void {
    this.#opening?.resolve()
    this.#opening = undefined
  }

  /** An engine behind this gate. */
  before(runtime: Runtime): Runtime {
    return {
      ...runtime,
      create: async (spec, options) => {
        this.asked.push(spec.name)
        this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#inside)
        try {
          await this.#opening?.promise
          return await runtime.create(spec, options)
        } finally {
          this.#inside--
        }
      },
    }
  }
}
