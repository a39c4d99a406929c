import type { Places } from '#/containers/places.ts'
import type { EngineLooks } from './engine-look.ts'
import type { Task } from './reconciler.ts'

/** Share of the time in which the whole store may be read: a twentieth, so that a large one costs no more than a small one. */
const readEvery = 20

/**
 * The gateway knows what store and engine say. Repeated, because an event can be missed and a store restored. All users and
 * records are read again when the time has come for as many: whatever Berth itself stores is published at once.
 */
export function placesTask(
  places: Pick<Places, 'readAll' | 'refresh' | 'lastRead'>,
  looks: Pick<EngineLooks, 'look'>,
): Task {
  return {
    name: 'places',
    async run() {
      const last = places.lastRead
      if (!last || performance.now() - last.at >= last.took * readEvery) await places.readAll()
      await places.refresh(await looks.look())
      return {}
    },
  }
}
