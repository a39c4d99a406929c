import type { Seen } from '../world/engine-view.ts'
import { groupType } from '../world/templates.ts'
import type { Snapshot } from '../world/store-view.ts'
import type { World } from '../world/world.ts'

/** What has to be true of the class and its containers. Each returns what is wrong, in words. */

const ofGroup = (running: readonly Seen[]) => running.filter(({ type }) => type === groupType)

/** Soon: what was answered to be stopped does not run, unless its owner, or a start for all, has started it since. */
export function staysStopped({ ledger }: World, running: readonly Seen[]): string[] {
  const stopped = ledger.stoppedUsers
  return ofGroup(running)
    .filter(({ userId }) => stopped.has(userId))
    .map(({ id, userId }) => `container ${id.slice(0, 12)} of user ${userId} runs although the group was stopped`)
}

/** Within half a minute: no member's container runs after the end of the group, unless the club keeps it. */
export function endsWithTheGroup(world: World, running: readonly Seen[], { groups, members }: Snapshot): string[] {
  const { group, club } = world
  if (!isOver(group?.id, groups)) return []
  const users = usersOf(group?.id, members).difference(usersOf(club?.id, members))
  return ofGroup(running)
    .filter(({ userId }) => users.has(userId))
    .map(({ id, userId }) => `container ${id.slice(0, 12)} of user ${userId} runs although the group is over`)
}

/** At every moment: a member launches nothing in a group that is over, and nothing that is blocked. */
export async function refusesLaunchesInTheGroup(
  world: World,
  { groups, members, containers, users }: Snapshot,
): Promise<string[]> {
  const over = isOver(world.group?.id, groups)
  const looks = world.people.ordinary.map(async ({ token, id, email }) => {
    const isMember = id !== undefined && usersOf(world.group?.id, members).has(id)
    const isOverForThem = over && isMember && !usersOf(world.club?.id, members).has(id)
    const isBlocked = containers.some(
      (row) => row.user_id === id && row.container_type === groupType && row.is_blocked === 1,
    )
    const isUserBlocked = users.some((user) => user.id === id && user.is_blocked === 1)
    if (token === undefined || !isMember || !(isOverForThem || isBlocked || isUserBlocked)) return []
    const { status } = await world.call('POST', `/api/container/launch/${groupType}`, { token })
    return status === 403 ? [] : [`the launch of ${email} in a group that is over or blocked is answered ${status}`]
  })
  return (await Promise.all(looks)).flat()
}

const usersOf = (groupId: number | undefined, members: Snapshot['members']) =>
  new Set(members.filter(({ group_id }) => group_id === groupId).map(({ user_id }) => user_id))

/** A run ends the class now, or not at all: it has no end to come. */
const isOver = (id: number | undefined, groups: Snapshot['groups']) =>
  groups.some((group) => group.id === id && group.expires_at !== null)
