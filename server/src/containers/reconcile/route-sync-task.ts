import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { EngineListCache } from './engine-list.ts'
import type { Task } from './reconciler.ts'

/**
 * Max share of the time in which the whole store is read: a twentieth, so that a large one costs no more than a small
 * one.
 */
const readShare = 20

/**
 * Keeps the routes of the gateway in sync with store and engine. Repeated, because an event can be missed and a store
 * restored. All users and records are read again at intervals that grow with their number: what Berth itself stores is
 * published at once.
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
