import { setImmediate as turn } from 'node:timers/promises'
import { LaunchQueue, type LaunchRequest, type LaunchSlot } from '#/containers/launch/launch-queue.ts'
import type { CreatedContainer } from '#/engines/container-spec.ts'
import type { PullProgress } from '#/engines/runtime.ts'

/** What the engine reports of a container that it created. */
export const created: CreatedContainer = { id: 'one', port: 8080 }
/** Of a pull that has begun. */
export const progress: PullProgress = { layersDone: 0, layersTotal: 1, bytesDone: 5, bytesTotal: 10 }

/** A launch queue, and launches in it whose work ends when the test says so. */
export function arrange(parallel: number, ping: () => Promise<void> = async () => undefined, slotTimeout = 15_000) {
  const queue = new LaunchQueue({ parallel, ping, slotTimeout })
  const begun: number[] = []
  let lastId = 0
  const come = (fields: Partial<LaunchRequest> = {}, work?: (slot: LaunchSlot) => Promise<unknown>) => {
    const id = ++lastId
    const places: [number, number][] = []
    const pulls: PullProgress[] = []
    const end = Promise.withResolvers<void>()
    const request: LaunchRequest = {
      owned: { userId: id, type: 'dev' },
      image: 'app',
      needsImage: true,
      isLowPriority: false,
      onPosition: ({ position, waiting }) => places.push([position, waiting]),
      onPull: (each) => pulls.push(each),
      mayGoOn: async () => undefined,
      ...fields,
    }
    const done = queue.run(request, async (mine) => {
      begun.push(id)
      return work ? work(mine) : end.promise
    })
    done.catch(() => undefined)
    return { id, request, places, pulls, end: () => end.resolve(), done }
  }
  return { queue, begun, come }
}

/** Lets everything that is only promises happen. */
export const settle = async () => {
  for (let round = 0; round < 5; round++) await turn()
}
