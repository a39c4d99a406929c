import type { Seen } from '../world/engine-view.ts'
import type { Snapshot } from '../world/store-view.ts'
import type { World } from '../world/world.ts'

/** What has to be true of the engine, as it is and compared with the store. Each returns what is wrong, in words. */

const nameOf = ({ id, userId, type }: Seen) => `container ${id.slice(0, 12)} (${type} of user ${userId})`
const keyOf = ({ userId, type }: Seen) => `${userId}/${type}`

/** At every moment: at most one of each user and type runs. */
export function runsOneOfEach(running: readonly Seen[]): string[] {
  const seen = new Set<string>()
  return running.flatMap((each) => {
    if (seen.has(keyOf(each))) return [`a second ${nameOf(each)} runs`]
    seen.add(keyOf(each))
    return []
  })
}

/** At every moment: the container that a record names is its owner's and of its type. */
export function namesOwnContainers(all: readonly Seen[], { containers }: Snapshot): string[] {
  const byId = new Map(all.map((each) => [each.id, each]))
  return containers.flatMap(({ container_id, user_id, container_type }) => {
    const named = container_id === null ? undefined : byId.get(container_id)
    const isOwn = !named || (named.userId === user_id && named.type === container_type)
    return isOwn ? [] : [`the record ${user_id}/${container_type} names ${nameOf(named)}`]
  })
}

/** Soon: nothing of ours runs that no record knows. */
export function hasRecordsFor(running: readonly Seen[], { containers }: Snapshot): string[] {
  const known = new Set(containers.map(({ user_id, container_type }) => `${user_id}/${container_type}`))
  return running.filter((each) => !known.has(keyOf(each))).map((each) => `${nameOf(each)} runs without a record`)
}

/** Soon: nothing runs that is blocked, or whose owner is blocked. */
export function runsNothingBlocked(running: readonly Seen[], { containers, users }: Snapshot): string[] {
  const blockedUsers = new Set(users.filter(({ is_blocked }) => is_blocked === 1).map(({ id }) => id))
  const blocked = new Set(
    containers
      .filter(({ is_blocked }) => is_blocked === 1)
      .map(({ user_id, container_type }) => `${user_id}/${container_type}`),
  )
  return running
    .filter((each) => blockedUsers.has(each.userId) || blocked.has(keyOf(each)))
    .map((each) => `${nameOf(each)} is blocked and runs`)
}

/** Soon: what the API calls running runs, and the other way round. */
export async function saysWhatRuns(world: World, running: readonly Seen[]): Promise<string[]> {
  const looks = world.people.all.map(async ({ token, id, email }) => {
    if (token === undefined || id === undefined) return []
    const { status, body } = await world.call('GET', '/api/user/containers', { token })
    if (status !== 200) return []
    const entries = body.containers as { type: string; status: string; container_id: string | null }[]
    return entries.flatMap((entry) => {
      const runs = running.find((each) => each.userId === id && each.type === entry.type)
      const isSaid = entry.status === 'running' || entry.status === 'paused'
      if (isSaid === (runs !== undefined)) return []
      return [`the ${entry.type} of ${email} is said to be ${entry.status} and ${runs ? 'runs' : 'does not run'}`]
    })
  })
  return (await Promise.all(looks)).flat()
}
