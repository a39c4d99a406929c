import { followClock } from '#/accounts/follow-clock.ts'
import type { AppParts } from '#/app.ts'
import { ClockWatch } from '#/clock-watch.ts'
import { expiredTask } from '#/reconcile/expired.ts'
import type { EngineLooks } from '#/reconcile/engine-look.ts'
import type { HostCheck } from '#/reconcile/host-check.ts'
import { Idle } from '#/reconcile/idle.ts'
import { keptHomesTask } from '#/reconcile/kept-homes.ts'
import { lastUsedTask } from '#/reconcile/last-used.ts'
import { placesTask } from '#/reconcile/places.ts'
import { preparedTask } from '#/reconcile/prepared.ts'
import { Reconciler, type Task } from '#/reconcile/reconciler.ts'
import { removalsTask } from '#/reconcile/removals.ts'
import { unverifiedTask } from '#/reconcile/unverified.ts'
import { Upkeep } from '#/reconcile/upkeep.ts'
import type { Accounts } from '#/wiring/accounts.ts'
import type { Containers } from '#/wiring/containers.ts'
import type { Tokens } from '#/wiring/tokens.ts'

/** Longest pause between two looks of the reconciler, in ms. */
const reconcileEvery = 30_000

/** What brings the engine to what the store says, and what is done from time to time. */
export function wireReconciler(
  { config, database, runtime, instance, pace, isForOneCommand, log }: AppParts,
  { spawner, removal, places, flights, admission, activity }: Containers,
  { revocations, withdrawals, sessionList, unverified, retiredKeys }: Accounts,
  hostCheck: HostCheck,
  looks: EngineLooks,
  takenSlugs: Task,
) {
  const upkeep = new Upkeep({
    db: database.db,
    runtime,
    templates: config.templates,
    instance,
    flights,
    places,
    admission,
    spawner,
    looks,
    findContainer: (id) => places.withId(id),
    activate: () => reconciler.activate(),
    log,
    graces: { retire: config.retireAfter * 1_000, ...pace },
  })
  const tasks = [
    preparedTask(runtime, hostCheck, looks),
    placesTask(places, looks),
    removalsTask(database, removal),
    upkeep,
    keptHomesTask(database, runtime),
    takenSlugs,
    expiredTask(database, revocations, withdrawals, sessionList),
    unverifiedTask(unverified),
    retiredKeys,
    lastUsedTask(activity),
  ]
  const reconciler = new Reconciler(tasks, pace?.every ?? reconcileEvery, log, () => looks.begin())
  // One that is stopped notes what is asked of it, and does nothing.
  if (isForOneCommand) void reconciler.stop()
  else {
    places.listen(upkeep)
    admission.onAsked((owned) => upkeep.onAsked(owned))
  }
  return { reconciler, upkeep }
}

export type Reconciling = ReturnType<typeof wireReconciler>

/** What follows when the clock is moved. */
export function wireClock({ database, log }: AppParts, tokens: Tokens, onMoved: () => void): ClockWatch {
  const endStreams = () => tokens.streams.endAll()
  return new ClockWatch(followClock({ database, ...tokens, endStreams, onMoved }), log)
}

/** What puts to rest what nobody uses. */
export function wireIdle(
  { config, runtime, log }: AppParts,
  { places, rest, activity, idleWarnings }: Containers,
): Idle {
  return new Idle({
    templates: config.templates,
    places,
    rest,
    activity,
    runtime,
    warnings: idleWarnings,
    log,
  })
}
