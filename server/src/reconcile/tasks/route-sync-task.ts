import type { RouteSync } from '#/containers/routing/route-sync.ts'
import type { EngineListCache } from '../engine-list.ts'
import type { Task } from '../reconciler.ts'

/** Share of the time in which the whole store may be read: a twentieth, so that a large one costs no more than a small one. */
const readShare = 20

/**
 * The gateway knows what store and engine say. Repeated, because an event can be missed and a store restored. All users and
 * records are read again when the time has come for as many: whatever Berth itself stores is published at once.
 */
export function routeSyncTask(
  routeSync: Pick<RouteSync, 'readAll' | 'refresh' | 'lastRead'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  return {
    name: 'places',
    async run() {
      const last = routeSync.lastRead
      if (!last || performance.now() - last.at >= last.took * readShare) await routeSync.readAll()
      await routeSync.refresh(await engineList.get())
      return {}
    },
  }
}
