import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../gateway/fuzz/random.ts'
import { intrude, visit } from '../operations/containers.ts'
import { goodTypes } from './templates.ts'
import type { World } from './world.ts'

/** Between two probes, in ms. */
const pause = 100

/**
 * Visits own and other people's apps all the time, and asks whether Berth lives, whatever is broken at the moment: also in the middle of a fault no user
 * may be led to another user's app. It is beside the plan, so its chance is not the seed's.
 */
export function prober(world: World): { stop(): Promise<number> } {
  const random = new Random(1)
  let count = 0
  const over = new AbortController()
  const probe = async () => {
    const people = world.people.all.filter(({ token, slug }) => token !== undefined && slug !== undefined)
    if (people.length < 2) return
    const person = random.oneOf(people)
    const other = random.oneOf(people.filter((each) => each !== person))
    const type = random.oneOf(goodTypes)
    // The visitor of shared containers may open them.
    const isOwnVisit = random.happens(0.5) || person === world.people.second
    await (isOwnVisit ? visit(world, person, type) : intrude(world, person, other, type))
    if (count++ % 10 === 0) await world.call('GET', '/healthz')
  }
  const loop = async () => {
    for (; !over.signal.aborted; await sleep(pause)) await probe()
  }
  const running = loop()
  return {
    async stop() {
      over.abort()
      await running
      return count
    },
  }
}
