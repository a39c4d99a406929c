import { ensureSignedIn, logOut, requestAtOnce, requestLink, signIn, verifyAtOnce } from './accounts.ts'
import { changeContainer, changeInBulk, changeUser, deleteContainer, deleteUser, findUser } from './administration.ts'
import { changeClub, changeGroup, launchInGroup } from './groups.ts'
import { prepareHome, resetHome, restoreSnapshot, restoreWhileUsed, takeSnapshot } from './snapshots.ts'
import { launch, launchAtOnce, launchChosen, look, restart, talk, visit } from './containers.ts'
import { endShares, share } from './sharing.ts'
import type { Operation } from '../plan.ts'
import type { Person } from '../world/people.ts'
import type { World } from '../world/world.ts'

/** Does what a step says. What cannot be done at the moment, such as for want of a token, is skipped. */
export async function operate(world: World, operation: Operation): Promise<void> {
  const { people } = world
  if (operation.name === 'guest') return void (await requestLink(world, people.guest(), 'signup'))
  if (operation.name === 'request-at-once') return requestAtOnce(world, people.guest(), operation.times)
  if (operation.name === 'group' || operation.name === 'club') {
    if (!(await ensureSignedIn(world, people.first))) return
    return operation.name === 'group' ? changeGroup(world, operation.verb) : changeClub(world, operation.verb)
  }
  const person = people.at(operation.who)
  const { name } = operation
  if (name === 'sign-in') return void (await signIn(world, person, person.standing === 'verified' ? 'login' : 'signup'))
  if (name === 'verify-at-once') return verifyAtOnce(world, person, operation.times)
  if (isAdministration(operation)) return administrate(world, operation)
  if (!(await ensureSignedIn(world, person))) return
  if (name === 'launch-in-group') await launchInGroup(world, person)
  else if (name === 'launch-files') await prepareHome(world, person)
  else if (name === 'launch' || name === 'launch-bad') await launch(world, person, operation.type)
  else if (name === 'launch-at-once') await launchAtOnce(world, person, operation.type, operation.times)
  else if (name === 'launch-chosen') await launchChosen(world, person, operation.colour)
  else if (name === 'share') await share(world, person)
  else if (name === 'end-shares') await endShares(world, person)
  else if (name === 'restart') await restart(world, person)
  else if (name === 'visit') await visit(world, person, operation.type)
  else if (name === 'talk') await talk(world, person, operation.type)
  else if (name === 'snapshot') await takeSnapshot(world, person)
  else if (name === 'restore-home') await restoreSnapshot(world, person)
  else if (name === 'restore-used') await restoreWhileUsed(world, person)
  else if (name === 'reset-home') await resetHome(world, person)
  else if (name === 'look') await look(world, person)
  else if (name === 'log-out') await logOut(world, person)
}

type Administration = Extract<
  Operation,
  {
    name:
      | 'list'
      | 'block'
      | 'unblock'
      | 'bulk-block'
      | 'bulk-unblock'
      | 'block-user'
      | 'unblock-user'
      | 'delete-user'
      | 'delete-container'
  }
>

function isAdministration({ name }: Operation): boolean {
  return name === 'list' || name.includes('block') || name.startsWith('delete')
}

async function administrate(world: World, given: Operation): Promise<void> {
  if (!(await ensureSignedIn(world, world.people.first))) return
  const operation = given as Administration
  const person = world.people.at(operation.who)
  if (operation.name === 'list') await findUser(world, person)
  else if (operation.name === 'delete-user') await deleteUser(world, person, operation.isPurge)
  else if (operation.name === 'delete-container')
    await deleteContainer(world, person, operation.type, operation.isPurge)
  else if (operation.name === 'block' || operation.name === 'unblock')
    await changeContainer(world, operation.name, person, operation.type)
  else await changeAll(world, operation.name, person)
}

/** Everything of one person, in the two ways that there are. */
async function changeAll(
  world: World,
  name: 'bulk-block' | 'bulk-unblock' | 'block-user' | 'unblock-user',
  person: Person,
): Promise<void> {
  const verb = name.includes('unblock') ? 'unblock' : 'block'
  if (name.startsWith('bulk')) await changeInBulk(world, verb, [person])
  else await changeUser(world, verb, person)
}

/** Signs in a user who is not blocked, with both containers free to be launched: what a kill needs to get anywhere. */
export async function settle(world: World, who: number): Promise<boolean> {
  const { people } = world
  const person = people.at(who)
  if (!(await ensureSignedIn(world, people.first))) return false
  const user = await findUser(world, person)
  if (user?.is_blocked) await changeUser(world, 'unblock', person)
  if (user?.containers.some(({ is_blocked }) => is_blocked)) await changeInBulk(world, 'unblock', [person])
  return ensureSignedIn(world, person)
}
