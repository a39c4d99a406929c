import type { AppParts } from '#/app.ts'
import { Admission } from '#/containers/admission.ts'
import { blockOf } from '#/containers/block-of.ts'
import { CrashLoops } from '#/containers/crash-loops.ts'
import { endWait, hasEnded } from '#/containers/early-end.ts'
import type { Events } from '#/containers/events.ts'
import { HostGuard } from '#/containers/host-guard.ts'
import type { KnownContainer } from '#/containers/known-container.ts'
import { Occupancy } from '#/containers/occupancy.ts'
import { LaunchCounts } from '#/containers/launch-counts.ts'
import { LoadHistory } from '#/containers/load-history.ts'
import type { OwnedType } from '#/containers/owned-type.ts'
import type { PlaceStatus } from '#/containers/places.ts'
import { Stages } from '#/containers/stages.ts'

/** Who may launch, when, and how far each launch is. @param knownOf what is known of a container now */
export function wireLaunching(
  { config, database, runtime, log }: Pick<AppParts, 'config' | 'database' | 'runtime' | 'log'>,
  events: Events,
  knownOf: (owned: OwnedType) => KnownContainer | undefined,
) {
  const occupancy = new Occupancy(config)
  const guard = new HostGuard(runtime, log)
  const crashLoops = new CrashLoops()
  const launchCounts = new LaunchCounts()
  const stages = new Stages({
    tell: (userId, event) => events.tell(userId, event),
    isHeard: (userId) => events.isHeard(userId),
    hasEnded: (owned) => {
      const known = knownOf(owned)
      return known !== undefined && hasEnded(known)
    },
    onEnded: (owned) => noteEnd(knownOf(owned)),
  })
  const noteEnd = (known: KnownContainer | undefined) => {
    if (!known) return
    endWait({ runtime, stages }, known).catch((error: unknown) => log.warn({ err: error }, 'explaining an end failed'))
  }
  const admission = new Admission({
    occupancy,
    guard,
    stages,
    blockOf: (userId, type) => blockOf(database.db, userId, type),
    parallel: config.launchParallel,
    ping: () => runtime.ping(),
  })
  return {
    occupancy,
    guard,
    crashLoops,
    stages,
    admission,
    launchCounts,
    history: new LoadHistory({ admission, occupancy, guard, launchCounts }),
    noteStatus: (container: KnownContainer, status: PlaceStatus) => {
      const isThere = status === 'running' || status === 'paused'
      occupancy.note(container, isThere)
      if (status === 'running') stages.forgetFailure(container)
      if (isThere) return
      if (!container.wasStopped && status !== 'blocked') crashLoops.ended(container)
      noteEnd(container)
    },
    noteGone: (owned: OwnedType) => {
      occupancy.note(owned, false)
      crashLoops.forget(owned)
      stages.forget(owned)
    },
  }
}
