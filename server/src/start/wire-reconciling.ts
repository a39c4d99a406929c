import { clockJumpHandler } from '#/accounts/sessions/revocations.ts'
import type { AppParts } from './app-parts.ts'
import { ClockJumpDetector } from '#/machine/clock-jump-detector.ts'
import { expiredTask, lastUsedTask, personalFactsTask, unverifiedTask } from '#/accounts/housekeeping-tasks.ts'
import type { EngineListCache } from '#/containers/reconcile/engine-list.ts'
import { prerequisitesTask, type HostCheck } from '#/containers/reconcile/host-check.ts'
import { LifetimeMonitor } from '#/containers/idle/lifetime-monitor.ts'
import { IdleTimeoutMonitor } from '#/containers/idle/idle-timeout-monitor.ts'
import { keptHomesTask, removalsTask } from '#/containers/reconcile/removals-task.ts'
import { routeSyncTask } from '#/containers/routes/route-sync.ts'
import type { Reconciler, Task } from '#/containers/reconcile/reconciler.ts'
import { settledDay } from '#/machine/settled-dates.ts'
import { ContainerReconciler } from '#/containers/reconcile/container-reconciler.ts'
import type { Accounts } from './wire-accounts.ts'
import type { Containers } from './wire-containers.ts'
import type { Tokens } from './wire-tokens.ts'

export interface ReconcilingContext {
  /** Constructed before everything else, so that each part can request a run; see `Reconciler.start`. */
  readonly reconciler: Reconciler
  readonly engineList: EngineListCache
  readonly hostCheck: HostCheck
  readonly takenSlugs: Task
  /** Of features that stand beside the reconciler. */
  readonly furtherTasks: readonly Task[]
}

/** The container reconciler and the periodic tasks; nothing runs before `start`. */
export function wireReconciling(
  { config, database, runtime, installation, pace, isForOneCommand, log }: AppParts,
  { revocations, uses }: Tokens,
  { spawner, removal, routeSync, singleFlight, admission, activity, hostResources }: Containers,
  { compensations, sessionList, apiTokens, unverifiedAccounts, retiredKeys }: Accounts,
  { reconciler, engineList, hostCheck, takenSlugs, furtherTasks }: ReconcilingContext,
) {
  const isSettled = settledDay(pace?.overdue)
  const containerReconciler = new ContainerReconciler({
    db: database.db,
    runtime,
    templates: config.templates,
    installation,
    singleFlight,
    routeSync,
    admission,
    hostResources,
    spawner,
    engineList,
    findContainer: (id) => routeSync.findByContainerId(id),
    activate: () => reconciler.activate(),
    isDateSettled: () => isSettled(new Date()),
    log,
    graces: { retire: config.retireAfter * 1_000, ...stoppedGraces(runtime.capabilities), ...pace },
  })
  const tasks = [
    prerequisitesTask(runtime, hostCheck, engineList),
    routeSyncTask(routeSync, engineList),
    // Before removals, which wait for an engine that is slow to remove: what is blocked stops within 5 s of its return.
    containerReconciler,
    removalsTask(database, removal),
    keptHomesTask({ database, runtime, isSettled }),
    takenSlugs,
    expiredTask(database, revocations, compensations, sessionList, apiTokens),
    personalFactsTask(database, config.keepAuditAddresses, isSettled),
    unverifiedTask(unverifiedAccounts),
    retiredKeys,
    lastUsedTask(activity, uses),
    ...furtherTasks,
  ]
  // Before the first event; an activation before the start is noted.
  if (!isForOneCommand) {
    routeSync.listen(containerReconciler)
    admission.onRequest((owned) => containerReconciler.onRequest(owned))
  }
  const start = (clock: Pick<ClockJumpDetector, 'now'>) =>
    reconciler.start(
      tasks,
      () => engineList.startRun(),
      () => clock.now(),
    )
  return { reconciler, containerReconciler, start }
}

/** Where stopped containers are not kept, a record without one is stopped, and never forgotten. */
const stoppedGraces = ({ keepsStopped }: AppParts['runtime']['capabilities']) =>
  keepsStopped ? {} : { forget: Infinity }

export type Reconciling = ReturnType<typeof wireReconciling>

/** @param onMoved called after each jump of the clock */
export function wireClock({ database, log }: AppParts, tokens: Tokens, onMoved: () => void): ClockJumpDetector {
  const endStreams = () => tokens.streams.endAll()
  return new ClockJumpDetector(clockJumpHandler({ database, ...tokens, endStreams, onMoved }), log)
}

/** Suspends and stops idle containers. */
export function wireIdle(
  { config, runtime, log }: AppParts,
  { routeSync, idleSuspension, activity, idleWarnings }: Containers,
): IdleTimeoutMonitor {
  return new IdleTimeoutMonitor({
    templates: config.templates,
    routeSync,
    idleSuspension,
    activity,
    runtime,
    warnings: idleWarnings,
    log,
  })
}

/** Stops containers whose template limits how long they run. */
export function wireLifetimes(
  { config, runtime, log }: AppParts,
  { routeSync, idleSuspension, idleWarnings }: Containers,
): LifetimeMonitor {
  return new LifetimeMonitor({
    templates: config.templates,
    routeSync,
    idleSuspension,
    runtime,
    warnings: idleWarnings,
    timeZone: config.timeZone,
    now: () => Date.now(),
    log,
  })
}
