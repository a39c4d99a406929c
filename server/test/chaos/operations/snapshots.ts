import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import { besideType, filesType } from '../world/templates.ts'
import type { World } from '../world/world.ts'
import { launch } from './containers.ts'

/** What people do with snapshots of a home that two of their containers have. All of it is refused while one of them runs. */
/** How long a stop is retried, in ms, and how often. */
const [stopTimeout, stopInterval] = [10_000, 500]
const snapshotsPath = `/api/container/snapshots/${filesType}`

/** Two containers that run, and write into their home from now on. */
export async function prepareHome(world: World, person: Person): Promise<Answer> {
  const first = await launch(world, person, filesType)
  return first.status === 200 ? launch(world, person, besideType) : first
}

export async function takeSnapshot(world: World, person: Person): Promise<Answer> {
  await stopBoth(world, person)
  return world.call('POST', snapshotsPath, { token: person.token })
}

/** The newest; undefined when there is none. */
export async function restoreSnapshot(world: World, person: Person): Promise<Answer | undefined> {
  await stopBoth(world, person)
  return restoreNewest(world, person)
}

/** Both programs write again as soon as the restore has ended, or has died. @returns the answer to the restore */
export async function restoreAndGoOn(world: World, person: Person): Promise<Answer | undefined> {
  const restored = await restoreSnapshot(world, person)
  await prepareHome(world, person)
  return restored
}

/** The other container with the home runs all the time, as the engine says: nothing may be restored. */
export async function restoreWhileUsed(world: World, person: Person): Promise<void> {
  const { status, body } = await launch(world, person, besideType)
  if (status !== 200) return
  await stop(world, person, filesType)
  const runs = async () =>
    (await world.engine.running().catch(() => [])).some(
      ({ id, state }) => id === body.container_id && state === 'running',
    )
  if (!(await runs())) return
  const restored = await restoreNewest(world, person)
  if (restored?.status === 200 && (await runs()))
    world.ledger.complain(`a home of ${person.email} was restored while another container with it ran`)
}

/** The home is the one before in full, or gone. */
export async function resetHome(world: World, person: Person): Promise<Answer> {
  await stopBoth(world, person)
  return world.call('POST', `/api/container/reset/${filesType}`, { token: person.token })
}

async function restoreNewest(world: World, { token }: Person): Promise<Answer | undefined> {
  const { body } = await world.call('GET', snapshotsPath, { token })
  const [newest] = ((body as { snapshots?: { id: string }[] } | undefined)?.snapshots ?? []) as { id: string }[]
  if (newest === undefined) return undefined
  return world.call('POST', `${snapshotsPath}/${newest.id}/restore`, { token })
}

async function stopBoth(world: World, person: Person): Promise<void> {
  for (const type of [filesType, besideType]) await stop(world, person, type)
}

/** Again while the engine does not answer yet: it may have just returned from the fault before. */
async function stop(world: World, { token }: Person, type: string): Promise<void> {
  for (const end = performance.now() + stopTimeout; performance.now() < end; await sleep(stopInterval)) {
    const { status } = await world.call('POST', `/api/container/stop/${type}`, { token })
    if (status !== 500) return
  }
}
