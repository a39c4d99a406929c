import type { ContainersParts } from '#/containers/containers-parts.ts'
import { checkBlock } from '#/containers/blocked-containers.ts'
import type { ContainerIndex } from '#/containers/routes/container-index.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteStatus } from '#/containers/routes/route-changes.ts'
import type { UserEvents } from '#/containers/user-events.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import { AdmissionControl, Capacity } from './admission-control.ts'
import { CrashLoops } from './crash-loops.ts'
import { GpuAllocation, gpuIdsOf } from './gpu-allocation.ts'
import { HostResources } from './host-resources.ts'
import { failOnEarlyExit, hasExited } from './launch-failure.ts'
import { LaunchProgress } from './launch-progress.ts'
import { LaunchMetrics, LoadTimeSeries } from './load-metrics.ts'
import { readinessTargetOf } from './readiness-probe.ts'

type LaunchControlParts = Pick<ContainersParts, 'config' | 'database' | 'runtime' | 'rules' | 'log'>

/** Capacity, admission and progress of launches, and what they follow of changes of containers. */
export class LaunchControl {
  readonly capacity: Capacity
  readonly hostResources: HostResources
  readonly crashLoops = new CrashLoops()
  readonly launchMetrics = new LaunchMetrics()
  readonly launchProgress: LaunchProgress
  readonly admission: AdmissionControl
  readonly history: LoadTimeSeries
  /** Undefined without `GPU_IDS`: the engine gives GPUs away. */
  readonly gpus: GpuAllocation | undefined
  readonly #parts: LaunchControlParts

  constructor(parts: LaunchControlParts, events: UserEvents, index: Pick<ContainerIndex, 'get'>) {
    const { config, database, runtime, rules, log } = parts
    const { templates } = config
    const knownOf = (owned: ContainerRef) => index.get(owned)?.known
    this.#parts = parts
    this.capacity = new Capacity(config, (type) => templates.get(type))
    this.hostResources = new HostResources(runtime, log)
    this.launchProgress = new LaunchProgress({
      publish: (userId, event) => events.publish(userId, event),
      hasListener: (userId) => events.hasListener(userId),
      hasExited: (owned) => {
        const known = knownOf(owned)
        return known !== undefined && hasExited(known)
      },
      readinessTarget: (owned) => {
        const hasOwnHost = config.containerRouting === 'subdomain'
        return readinessTargetOf(templates.get(owned.type), knownOf(owned)?.prefix, hasOwnHost)
      },
      onExited: (owned) => this.#noteEnd(knownOf(owned)),
    })
    const { gpuIds, gpuWait } = config
    // A cluster gives them away itself.
    if (gpuIds.length > 0 && !runtime.capabilities.hasNodes)
      this.gpus = new GpuAllocation(gpuIds, () => runtime.list({ isUp: true, hasGpuIds: true }))
    const { capacity, hostResources, launchProgress, launchMetrics, gpus } = this
    this.admission = new AdmissionControl({
      capacity,
      hostResources,
      launchProgress,
      limitsFor: (owned) => rules.limitsFor(owned),
      flowsOf: (owned) => rules.flowsOf(owned),
      checkBlock: (userId, type) => checkBlock(database.db, userId, type),
      parallel: config.launchParallel,
      ping: () => runtime.ping(),
      gpus: gpus && { allocation: gpus, maxWait: gpuWait },
    })
    this.history = new LoadTimeSeries({ admission: this.admission, capacity, hostResources, launchMetrics })
  }

  noteStatus(container: ContainerState, status: RouteStatus): void {
    // An engine that does not answer about it has ended nothing.
    if (status === 'unknown') return
    const isUp = status === 'running' || status === 'paused'
    this.capacity.note(container, isUp)
    if (this.gpus) this.admission.noteGpus(container, isUp ? this.#gpusOf(container) : [])
    if (status === 'running') this.launchProgress.forgetFailure(container)
    if (isUp) return
    if (!container.wasStopped && status !== 'blocked') this.crashLoops.ended(container)
    this.#noteEnd(container)
  }

  /** The record of a container was deleted. */
  noteGone(owned: ContainerRef): void {
    this.capacity.note(owned, false)
    this.admission.noteGpus(owned, [])
    this.crashLoops.forget(owned)
    this.launchProgress.forget(owned)
  }

  #gpusOf({ seen, type }: ContainerState): readonly string[] {
    const count = this.#parts.config.templates.get(type)?.gpus ?? 0
    return seen && seen !== 'gone' ? gpuIdsOf(seen, count) : []
  }

  /** Explains the end of a container that a launch waits for. */
  #noteEnd(known: ContainerState | undefined): void {
    if (!known) return
    const { runtime, log } = this.#parts
    failOnEarlyExit({ runtime, launchProgress: this.launchProgress }, known).catch((error: unknown) =>
      log.warn({ err: error }, 'explaining an end failed'),
    )
  }
}
