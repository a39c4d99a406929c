import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { ContainerSpec } from '#/runtime/container-spec.ts'
import { ExitedOnStart } from './launch-failure.ts'

/**
 * How long a program is watched after its start, in ms. One that cannot start (no such file, bad configuration) has
 * ended by then; the engine notices an end only 50 to 100 ms after it.
 */
const watchTime = 500
const pollInterval = 50

/**
 * Start verification: decides whether a started container counts as running. The engine says so from the moment the program begins,
 * also of one that ends at once, and watching every start for half a second would double what a launch costs. So a
 * template is watched until one of its containers has lasted; from then on a start is believed, and looked at again
 * afterwards: one that did not last costs the template its trust.
 */
export class StartVerifier {
  readonly #runtime: Runtime
  readonly #trusted = new Set<string>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /**
   * @returns the container, running
   * @throws {ExitedOnStart} when it ended within the time it is watched
   */
  async verify(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const isTrusted = this.#trusted.has(programOf(spec))
    const instance = isTrusted ? await this.#inspect(spec, id) : await this.#watch(spec, id)
    if (isTrusted) this.#recheckLater(spec, id)
    else this.#trusted.add(programOf(spec))
    return instance
  }

  async #watch(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const started = performance.now()
    let instance = await this.#inspect(spec, id)
    while (performance.now() - started < watchTime) {
      await sleep(pollInterval)
      instance = await this.#inspect(spec, id)
    }
    return instance
  }

  async #inspect({ name }: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const instance = await this.#runtime.inspectId(id)
    if (instance?.state === 'running') return instance
    throw new ExitedOnStart(name, instance)
  }

  /** Nobody waits for this. A container that is gone, or an engine that does not answer, says nothing about the program. */
  #recheckLater(spec: ContainerSpec, id: string): void {
    const check = async () => {
      const instance = await this.#runtime.inspectId(id).catch(() => undefined)
      if (instance && instance.state !== 'running') this.#trusted.delete(programOf(spec))
    }
    setTimeout(() => void check(), watchTime).unref()
  }
}

/** What decides whether a start works, apart from whose it is. */
const programOf = ({ image, command, runtime, readOnly, owner }: ContainerSpec) =>
  JSON.stringify([owner.type, image, command, runtime, readOnly])
