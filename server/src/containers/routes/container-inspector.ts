import { Coalescer } from '#/machine/coalescer.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { ContainerIndex } from './container-index.ts'
import type { ContainerState } from './container-state.ts'
import type { EngineHealth } from './engine-health.ts'
import type { Seen } from './list-comparison.ts'
import type { RouteChanges } from './route-changes.ts'
import type { RoutePublisher } from './route-publisher.ts'
import { UnresponsiveContainers } from './unresponsive-containers.ts'

/** Parallel inspects when many containers are inspected. */
const maxParallelInspects = 8
/** Inspects of one container that events overtook, after which it is left to the next event. */
const maxRepeats = 20

export interface ContainerInspectorParts {
  readonly runtime: Pick<Runtime, 'inspectId'>
  readonly index: ContainerIndex
  readonly publisher: RoutePublisher
  readonly changes: RouteChanges
  readonly engineHealth: Pick<EngineHealth, 'isDown'>
  readonly report: (error: unknown, what: string) => void
}

/**
 * Inspects single containers and publishes the result. Requests for the same container are coalesced. An answer counts
 * only if no event of the container arrived since the engine was asked; otherwise the engine is asked again.
 */
export class ContainerInspector {
  /** Containers about which the engine does not answer. */
  readonly unresponsive: UnresponsiveContainers
  readonly #parts: ContainerInspectorParts
  readonly #inspects = new Coalescer((id) => this.#inspect(id))
  #signal: AbortSignal | undefined

  constructor(parts: ContainerInspectorParts) {
    this.#parts = parts
    this.unresponsive = new UnresponsiveContainers({
      retry: (id) => this.inspectEach([id]),
      onUnknown: (id) => this.#onUnknown(id),
    })
  }

  /** @param signal ends retries, and lists of inspects */
  start(signal: AbortSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', () => this.unresponsive.stop(), { once: true })
  }

  /** Resolves when the result is published. @param id of the engine @throws when the gateway fails */
  async inspect(id: string): Promise<void> {
    return this.#inspects.run(id)
  }

  /** Resolves when no inspect of it is in progress. */
  async settled(id: string): Promise<void> {
    return this.#inspects.settled(id)
  }

  /**
   * Never throws; a container that could not be inspected keeps its route until the engine answers. Ends early when the
   * engine goes down: its recovery looks at everything once more, and would wait for thousands of calls that are not
   * answered.
   */
  async inspectEach(ids: string[]): Promise<void> {
    const isEnded = () => this.#signal?.aborted || this.#parts.engineHealth.isDown
    const worker = async () => {
      for (let id = ids.pop(); id !== undefined && !isEnded(); id = ids.pop()) {
        await this.#inspects.run(id).catch((error: unknown) => this.#parts.report(error, 'inspecting a container'))
      }
    }
    await Promise.all(Array.from({ length: maxParallelInspects }, worker))
  }

  /** As `inspectEach`, but starts no inspect once this list has arrived, which tells what is left to inspect. */
  async inspectEachUntil(listing: Promise<unknown>, ids: string[]): Promise<void> {
    const clear = () => void (ids.length = 0)
    listing.then(clear, clear)
    await this.inspectEach(ids)
  }

  async #inspect(id: string): Promise<void> {
    const { index, changes, publisher, engineHealth } = this.#parts
    for (let repeats = 0; repeats < maxRepeats; repeats++) {
      if (repeats > 0) this.#inspects.renew(id)
      const asOf = index.tick()
      const seen = await this.#ask(id)
      const entry = index.byId(id)
      if (seen !== undefined || !entry) this.unresponsive.answered(id)
      if (seen === undefined || !entry || engineHealth.isDown) return
      if (entry.asOf > asOf) continue
      if (isBeingStopped(entry.known, seen)) return
      return publisher.publish(changes.applyInspect(entry, seen, asOf))
    }
  }

  /** @returns undefined when the engine does not answer */
  async #ask(id: string): Promise<Seen | undefined> {
    const { runtime, engineHealth, report } = this.#parts
    const askedAt = performance.now()
    try {
      return (await runtime.inspectId(id)) ?? 'gone'
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error
      const isUnreachable = error.kind === 'unreachable'
      if (!isUnreachable) report(error, 'inspecting a container')
      // An error is no answer either for one that only the retries ask about. While the engine is down nothing is
      // retried but pings.
      if (!engineHealth.isDown && (isUnreachable || this.unresponsive.has(id))) this.unresponsive.failed(id, askedAt)
      return undefined
    }
  }

  #onUnknown(id: string): void {
    const { index, changes, publisher, engineHealth } = this.#parts
    const entry = index.byId(id)
    if (!entry || engineHealth.isDown) return
    entry.known = { ...entry.known, seen: undefined }
    publisher.publishLater(changes.of(entry))
  }
}

/**
 * To stop a paused program the engine resumes it for a moment. An inspect in that moment would report it as running, and the
 * gateway would forward requests to a program that is about to end.
 */
function isBeingStopped({ seen, wasStopped }: ContainerState, answer: RuntimeContainer | 'gone'): boolean {
  const wasPaused = seen !== undefined && seen !== 'gone' && seen.state === 'paused'
  return wasStopped && wasPaused && answer !== 'gone' && answer.state === 'running'
}
