import { checkBlock } from '#/containers/blocked-containers.ts'
import { readinessTargetOf } from '#/containers/launch/readiness-probe.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { UserEvents } from '#/containers/user-events.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import { CrashLoops } from '#/containers/launch/crash-loops.ts'
import { failOnEarlyExit, hasExited } from '#/containers/launch/launch-failure.ts'
import { LaunchProgress } from '#/containers/launch/launch-progress.ts'
import { LaunchMetrics, LoadTimeSeries } from '#/containers/launch/load-metrics.ts'
import { AdmissionControl, Capacity } from '#/containers/launch/admission-control.ts'
import { HostResources } from '#/containers/launch/host-resources.ts'
import type { RouteStatus } from '#/containers/routes/route-changes.ts'
import type { ContainerIndex } from '#/containers/routes/container-index.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { AppParts } from './app-parts.ts'

/** Capacity, admission control, launch progress, and the follow-up of status changes. */
export function wireLaunching(
  { config, database, runtime, log }: AppParts,
  events: UserEvents,
  index: Pick<ContainerIndex, 'get'>,
  rules: Pick<LaunchRules, 'limitsFor' | 'flowsOf'>,
) {
  const capacity = new Capacity(config, (type) => config.templates.get(type))
  const hostResources = new HostResources(runtime, log)
  const crashLoops = new CrashLoops()
  const launchMetrics = new LaunchMetrics()
  const knownOf = (owned: ContainerRef) => index.get(owned)?.known
  const noteEnd = (launchProgress: LaunchProgress, known: ContainerState | undefined) => {
    if (!known) return
    failOnEarlyExit({ runtime, launchProgress }, known).catch((error: unknown) =>
      log.warn({ err: error }, 'explaining an end failed'),
    )
  }
  const launchProgress = new LaunchProgress({
    publish: (userId, event) => events.publish(userId, event),
    hasListener: (userId) => events.hasListener(userId),
    hasExited: (owned) => {
      const known = knownOf(owned)
      return known !== undefined && hasExited(known)
    },
    readinessTarget: (owned) =>
      readinessTargetOf(
        config.templates.get(owned.type),
        knownOf(owned)?.prefix,
        config.containerRouting === 'subdomain',
      ),
    onExited: (owned, progress) => noteEnd(progress, knownOf(owned)),
  })
  const admission = new AdmissionControl({
    capacity,
    hostResources,
    launchProgress,
    limitsFor: (owned) => rules.limitsFor(owned),
    flowsOf: (owned) => rules.flowsOf(owned),
    checkBlock: (userId, type) => checkBlock(database.db, userId, type),
    parallel: config.launchParallel,
    ping: () => runtime.ping(),
  })
  return {
    capacity,
    hostResources,
    crashLoops,
    launchProgress,
    admission,
    launchMetrics,
    history: new LoadTimeSeries({ admission, capacity, hostResources, launchMetrics }),
    noteStatus: (container: ContainerState, status: RouteStatus) => {
      // An engine that does not answer about it has ended nothing.
      if (status === 'unknown') return
      const isUp = status === 'running' || status === 'paused'
      capacity.note(container, isUp)
      if (status === 'running') launchProgress.forgetFailure(container)
      if (isUp) return
      if (!container.wasStopped && status !== 'blocked') crashLoops.ended(container)
      noteEnd(launchProgress, container)
    },
    noteGone: (owned: ContainerRef) => {
      capacity.note(owned, false)
      crashLoops.forget(owned)
      launchProgress.forget(owned)
    },
  }
}
