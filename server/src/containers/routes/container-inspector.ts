import pLimit from 'p-limit'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { Coalescer } from '#/machine/single-flight.ts'
import type { ContainerIndex } from './container-index.ts'
import type { ContainerState } from './container-state.ts'
import type { EngineHealth } from './engine-health.ts'
import type { RouteChanges } from './route-changes.ts'
import type { RoutePublisher } from './routing-snapshot.ts'

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

  /** Inspects each, but starts no inspect once this list has arrived, which tells what is left to inspect. */
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

/**
 * Grace period before a container without an answer is unknown, in ms. Less than the timeout of one call, so that one
 * call that times out is enough; a broken connection is not.
 */
const answerGrace = 2_500
/** First and max pause before it is asked again, in ms; doubled with each further failure (backoff). */
const [firstPause, maxPause] = [1_000, 30_000]
/** Max parallel retries, beside all other look-ups. */
const maxParallelRetries = 4

export interface UnresponsiveContainersParts {
  /** Inspects it once more; must not reject, and must have a timeout of its own. */
  readonly retry: (id: string) => Promise<void>
  /** Called when a container becomes unknown; must not throw. */
  readonly onUnknown: (id: string) => void
}

interface Failure {
  /** Time of the first call without an answer; by `performance.now()`. */
  readonly since: number
  readonly attempts: number
  readonly isUnknown: boolean
  readonly timer: NodeJS.Timeout
}

/**
 * Containers about which an engine that answers pings does not answer, as when a container's lock is never released
 * (moby#41427). Each is unknown by itself and inspected again with backoff, in slots of its own (bulkhead), so that it
 * delays no other look-up.
 */
class UnresponsiveContainers {
  readonly #parts: UnresponsiveContainersParts
  readonly #failures = new Map<string, Failure>()
  readonly #limit = pLimit(maxParallelRetries)
  #isStopped = false

  constructor(parts: UnresponsiveContainersParts) {
    this.#parts = parts
  }

  /** Whether only the retries ask about it. */
  has(id: string): boolean {
    return this.#failures.has(id)
  }

  isUnknown(id: string): boolean {
    return this.#failures.get(id)?.isUnknown ?? false
  }

  /** A call about it was not answered. @param askedAt by `performance.now()` */
  failed(id: string, askedAt: number): void {
    if (this.#isStopped) return
    const before = this.#failures.get(id)
    clearTimeout(before?.timer)
    const since = Math.min(before?.since ?? askedAt, askedAt)
    const attempts = (before?.attempts ?? 0) + 1
    const isUnknown = performance.now() - since >= answerGrace
    const timer = setTimeout(() => this.#retry(id), Math.min(firstPause * 2 ** (attempts - 1), maxPause)).unref()
    this.#failures.set(id, { since, attempts, isUnknown, timer })
    if (isUnknown && !before?.isUnknown) this.#parts.onUnknown(id)
  }

  /** The engine answered about it, or its record was deleted. */
  answered(id: string): void {
    clearTimeout(this.#failures.get(id)?.timer)
    this.#failures.delete(id)
  }

  /** The engine is down as a whole: its recovery inspects everything. */
  clear(): void {
    for (const id of this.#failures.keys()) this.answered(id)
  }

  /** Ends all retries. */
  stop(): void {
    this.#isStopped = true
    this.clear()
  }

  #retry(id: string): void {
    // The engine may have answered about the container while it waited for its slot.
    void this.#limit(async () => (this.has(id) ? this.#parts.retry(id) : undefined))
  }
}

/** What the engine reported of a container: its inspect, its row of a list, or that it does not exist. */
export type Seen = RuntimeContainer | 'gone'

/** Whether a list differs from the last inspect of a container. */
export function differsFromList(seen: Seen | undefined, listed: RuntimeContainer | undefined): boolean {
  if (!seen) return true
  if (seen === 'gone' || !listed) return (seen === 'gone') !== (listed === undefined)
  return seen.state !== listed.state || seen.address !== listed.address || hasOtherExit(seen, listed)
}

/** Whether it ran and ended again in between. Some engines have no exit codes in lists. */
const hasOtherExit = (seen: RuntimeContainer, listed: RuntimeContainer) =>
  seen.exitCode !== null && listed.exitCode !== null && seen.exitCode !== listed.exitCode

/**
 * Whether a list has too little about a container: for a program that ended by itself it does not say whether it ran
 * out of memory.
 */
export function needsInspect({ wasStopped }: ContainerState, { state, exitCode }: RuntimeContainer): boolean {
  return !wasStopped && (state === 'exited' || state === 'dead') && exitCode !== 0
}

export const isUp = (seen: Seen | undefined) =>
  seen !== undefined && seen !== 'gone' && (seen.state === 'running' || seen.state === 'paused')
