import { clockJumpHandler } from '#/accounts/sessions/clock-jump-handler.ts'
import type { AppParts } from '#/app.ts'
import { ClockJumpDetector } from '#/clock-jump-detector.ts'
import { expiredTask } from '#/reconcile/tasks/housekeeping-tasks.ts'
import type { EngineListCache } from '#/reconcile/engine-list.ts'
import type { HostCheck } from '#/reconcile/host-check.ts'
import { IdleMonitor } from '#/containers/idle/idle-monitor.ts'
import { keptHomesTask } from '#/reconcile/tasks/kept-homes-task.ts'
import { lastUsedTask } from '#/reconcile/tasks/last-used-task.ts'
import { routeSyncTask } from '#/reconcile/tasks/route-sync-task.ts'
import { prerequisitesTask } from '#/reconcile/tasks/prerequisites-task.ts'
import { Reconciler, type Task } from '#/reconcile/reconciler.ts'
import { removalsTask } from '#/reconcile/tasks/removals-task.ts'
import { unverifiedTask } from '#/reconcile/tasks/unverified-task.ts'
import { ContainerReconciler } from '#/reconcile/containers/container-reconciler.ts'
import type { Accounts } from '#/wiring/wire-accounts.ts'
import type { Containers } from '#/wiring/wire-containers.ts'
import type { Tokens } from '#/wiring/wire-tokens.ts'

/** Longest pause between two looks of the reconciler, in ms. */
const reconcileEvery = 30_000

/** What brings the engine to what the store says, and what is done from time to time. */
export function wireReconciler(
  { config, database, runtime, installation, pace, isForOneCommand, log }: AppParts,
  { spawner, removal, routeSync, singleFlight, admission, activity }: Containers,
  { revocations, compensations, sessionList, unverifiedAccounts, retiredKeys }: Accounts,
  hostCheck: HostCheck,
  engineList: EngineListCache,
  takenSlugs: Task,
) {
  const containerReconciler = new ContainerReconciler({
    db: database.db,
    runtime,
    templates: config.templates,
    installation,
    singleFlight,
    routeSync,
    admission,
    spawner,
    engineList,
    findContainer: (id) => routeSync.findByContainerId(id),
    activate: () => reconciler.activate(),
    log,
    graces: { retire: config.retireAfter * 1_000, ...pace },
  })
  const tasks = [
    prerequisitesTask(runtime, hostCheck, engineList),
    routeSyncTask(routeSync, engineList),
    removalsTask(database, removal),
    containerReconciler,
    keptHomesTask(database, runtime),
    takenSlugs,
    expiredTask(database, revocations, compensations, sessionList),
    unverifiedTask(unverifiedAccounts),
    retiredKeys,
    lastUsedTask(activity),
  ]
  const reconciler = new Reconciler(tasks, pace?.every ?? reconcileEvery, log, () => engineList.startRun())
  // One that is stopped notes what is asked of it, and does nothing.
  if (isForOneCommand) void reconciler.stop()
  else {
    routeSync.listen(containerReconciler)
    admission.onRequest((owned) => containerReconciler.onRequest(owned))
  }
  return { reconciler, containerReconciler }
}

export type Reconciling = ReturnType<typeof wireReconciler>

/** What follows when the clock is moved. */
export function wireClock({ database, log }: AppParts, tokens: Tokens, onMoved: () => void): ClockJumpDetector {
  const endStreams = () => tokens.streams.endAll()
  return new ClockJumpDetector(clockJumpHandler({ database, ...tokens, endStreams, onMoved }), log)
}

/** What puts to rest what nobody uses. */
export function wireIdle(
  { config, runtime, log }: AppParts,
  { routeSync, idleSuspension, activity, idleWarnings }: Containers,
): IdleMonitor {
  return new IdleMonitor({
    templates: config.templates,
    routeSync,
    idleSuspension,
    activity,
    runtime,
    warnings: idleWarnings,
    log,
  })
}
