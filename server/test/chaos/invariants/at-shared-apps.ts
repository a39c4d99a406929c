import { colourOf } from '../operations/containers.ts'
import { isShared } from '../operations/sharing.ts'
import type { Seen } from '../world/engine-view.ts'
import type { Person } from '../world/people.ts'
import type { Snapshot } from '../world/store-view.ts'
import { chosenType, type AppAnswer } from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** What apps with parameters, and shared apps, answer. Each returns what is wrong, in words. */

/** Soon: the visitor reaches each app that is shared and runs, and is refused at all others. */
export async function opensWhatIsShared(world: World, running: readonly Seen[], stored: Snapshot): Promise<string[]> {
  const { second } = world.people
  if (second.token === undefined) return []
  const looks = ownersOf(world, running, stored).map(async (owner) => {
    const { status, body } = await world.ask(owner, chosenType, { token: second.token, limit: 30_000 })
    const { base } = (status === 200 ? body : {}) as Partial<AppAnswer>
    const isOpen = base === `/${owner.slug}-${chosenType}`
    const isMeant = isShared(world, stored, owner.id) ? isOpen : status === 403
    return isMeant ? [] : [`a visitor of ${owner.email} is answered ${status} by ${base}`]
  })
  return (await Promise.all(looks)).flat()
}

/** Soon: what runs has the parameters of its record. */
export async function hasChosenParameters(world: World, running: readonly Seen[], stored: Snapshot): Promise<string[]> {
  const looks = ownersOf(world, running, stored).map(async (owner) => {
    const { status, body } = await world.ask(owner, chosenType, { token: owner.token, limit: 30_000 })
    if (status !== 200) return [`${owner.email} is answered ${status} by their running ${chosenType}`]
    const { colour } = body as AppAnswer
    const chosen = colourOf(stored, owner.id)
    return colour === chosen ? [] : [`the ${chosenType} of ${owner.email} is ${colour}, and ${chosen} was chosen`]
  })
  return (await Promise.all(looks)).flat()
}

/** Users who are signed in, and whose container runs and is not blocked. */
function ownersOf({ people }: World, running: readonly Seen[], { users, containers }: Snapshot): Person[] {
  const isBlocked = ({ id }: Person) =>
    users.some((user) => user.id === id && user.is_blocked === 1) ||
    containers.some((row) => row.user_id === id && row.container_type === chosenType && row.is_blocked === 1)
  const { second } = people
  const candidates = people.all.filter((person) => person !== second && person.token !== undefined)
  const runs = ({ id }: Person) => running.some(({ userId, type }) => userId === id && type === chosenType)
  return candidates.filter((person) => !isBlocked(person) && runs(person))
}
