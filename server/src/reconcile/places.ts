import type { Places } from '#/containers/places.ts'
import type { Task } from './reconciler.ts'

/** The gateway knows what store and engine say. Repeated, because an event can be missed and a store restored. */
export function placesTask(places: Places): Task {
  return {
    name: 'places',
    async run() {
      await places.refresh()
      return {}
    },
  }
}
