import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Reconciler } from './reconciler.ts'
import type { ContainerReconciler } from './container-reconciler.ts'

/** Numbers for `/metrics`, by name; those that are not known yet are left out. */
export function reconcilerMetrics(
  reconciler: Pick<Reconciler, 'report'>,
  containerReconciler: Pick<ContainerReconciler, 'counts'>,
  routeSync: Pick<RouteSync, 'isEngineAnswering'>,
): Readonly<Record<string, number>> {
  const { lastRun, lastSuccess, duration, failuresInAll, runs } = reconciler.report()
  const actions = Object.entries(containerReconciler.counts()).map(
    ([kind, count]) => [actionName(kind), count] as const,
  )
  return {
    berth_engine_up: Number(routeSync.isEngineAnswering),
    ...(lastRun && { berth_reconcile_last_run_timestamp_seconds: lastRun.getTime() / 1_000 }),
    ...(lastSuccess && { berth_reconcile_last_success_timestamp_seconds: lastSuccess.getTime() / 1_000 }),
    ...(duration !== null && { berth_reconcile_duration_seconds: duration / 1_000 }),
    'berth_reconcile_runs_total{result="done"}': runs.done,
    'berth_reconcile_runs_total{result="failed"}': runs.failed,
    berth_reconcile_failures_total: failuresInAll,
    ...Object.fromEntries(actions),
  }
}

const actionName = (kind: string) => `berth_reconcile_actions_total{kind="${kind}"}`
