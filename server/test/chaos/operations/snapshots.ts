import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import { filesType } from '../world/templates.ts'
import type { World } from '../world/world.ts'
import { launch } from './containers.ts'

/** What people do with snapshots of a home. Each stops the container first: while it runs all of it is refused. */
/** How long a stop is retried, in ms, and how often. */
const [stopTimeout, stopInterval] = [10_000, 500]
const snapshotsPath = `/api/container/snapshots/${filesType}`

/** A container that has run, so that there is a home. */
export const prepareHome = (world: World, person: Person): Promise<Answer> => launch(world, person, filesType)

export async function takeSnapshot(world: World, person: Person): Promise<Answer> {
  await stop(world, person)
  return world.call('POST', snapshotsPath, { token: person.token })
}

/** The newest; undefined when there is none. */
export async function restoreSnapshot(world: World, person: Person): Promise<Answer | undefined> {
  await stop(world, person)
  const { token } = person
  const { body } = await world.call('GET', snapshotsPath, { token })
  const [newest] = ((body as { snapshots?: { id: string }[] } | undefined)?.snapshots ?? []) as { id: string }[]
  if (newest === undefined) return undefined
  return world.call('POST', `${snapshotsPath}/${newest.id}/restore`, { token })
}

/** The home is the one before in full, or gone. */
export async function resetHome(world: World, person: Person): Promise<Answer> {
  await stop(world, person)
  return world.call('POST', `/api/container/reset/${filesType}`, { token: person.token })
}

/** Again while the engine does not answer yet: it may have just returned from the fault before. */
async function stop(world: World, { token }: Person): Promise<void> {
  for (const end = performance.now() + stopTimeout; performance.now() < end; await sleep(stopInterval)) {
    const { status } = await world.call('POST', `/api/container/stop/${filesType}`, { token })
    if (status !== 500) return
  }
}
