import { setTimeout as sleep } from 'node:timers/promises'
import { readWithRetries } from '#/engines/runtime-error.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { ExitedOnStart } from './launch-failure.ts'

/**
 * How long a program is watched after its start, in ms. One that cannot start (no such file, bad configuration) has
 * ended by then; the engine notices an end only 50 to 100 ms after it.
 */
const watchTime = 500
const pollInterval = 50

/**
 * Start verification: decides whether a started container counts as running. The engine reports it running from the
 * moment the program begins, also if it ends at once, and watching every start for half a second would double the
 * duration of a launch. So starts of a template are watched until one of its containers has lasted. After that a start
 * counts at once and is checked again later; one that did not last makes the next starts be watched again.
 */
export class StartVerifier {
  readonly #runtime: Runtime
  readonly #trusted = new Set<string>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /**
   * On a cluster an inspect without an answer is repeated for 20 s.
   * @returns the container, running @throws {ExitedOnStart} when it ended while it was watched; {RuntimeError} `unreachable`
   */
  async verify(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const isTrusted = this.#trusted.has(programOf(spec))
    const container = isTrusted ? await this.#inspect(spec, id) : await this.#watch(spec, id)
    if (isTrusted) this.#recheckLater(spec, id)
    else this.#trusted.add(programOf(spec))
    return container
  }

  async #watch(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const started = performance.now()
    let container = await this.#inspect(spec, id)
    while (performance.now() - started < watchTime) {
      await sleep(pollInterval)
      container = await this.#inspect(spec, id)
    }
    return container
  }

  async #inspect({ name }: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const { capabilities } = this.#runtime
    const inspect = () => this.#runtime.inspectId(id)
    // The API server of a cluster may be too busy for one inspect; a machine's own engine that does not answer is down.
    const container = await (capabilities.hasNodes ? readWithRetries(inspect) : inspect())
    if (container?.state === 'running') return container
    throw new ExitedOnStart(name, container)
  }

  /** In the background. A container that is gone, or an engine that does not answer, says nothing about the program. */
  #recheckLater(spec: ContainerSpec, id: string): void {
    const check = async () => {
      const container = await this.#runtime.inspectId(id).catch(() => undefined)
      if (container && container.state !== 'running') this.#trusted.delete(programOf(spec))
    }
    setTimeout(() => void check(), watchTime).unref()
  }
}

/** What decides whether a start works, without the owner. */
const programOf = ({ image, command, runtime, readOnly, owner }: ContainerSpec) =>
  JSON.stringify([owner.type, image, command, runtime, readOnly])
