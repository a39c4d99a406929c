import type { CrashPoint, CrashScope } from '#/machine/crash-points.ts'
import { waitFor } from '../../support/program.ts'
import { ensureSignedIn, requestLink, verify } from '../operations/accounts.ts'
import { changeContainer, changeInBulk, changeUser, deleteContainer, deleteUser } from '../operations/administration.ts'
import { launch, restart } from '../operations/containers.ts'
import { endTerm, makeGroup } from '../operations/term-end.ts'
import { prepareHome, resetHome, restoreAndGoOn, takeSnapshot } from '../operations/snapshots.ts'
import { settle } from '../operations/run-operation.ts'
import type { World } from '../world/world.ts'

/** How long an operation may take to get to the point where it dies, in ms. */
const reachLimit = 60_000

/** Something that gets to a point: what it needs first, and itself. Done again after the death, it must succeed. */
interface Way {
  readonly prepare: (world: World, who: number) => Promise<unknown>
  readonly go: (world: World, who: number) => Promise<Outcome>
}

/** Of the operation that was done again. `undefined`: nothing was left to do. */
type Outcome = { readonly status: number; readonly text: string } | boolean | undefined

/**
 * Kills Berth at a point of something that it does, starts it again, and does the same once more: that must succeed.
 * @returns what went wrong, in words
 */
export async function killAt(world: World, point: CrashPoint, scope: CrashScope, who: number): Promise<string[]> {
  const { program, weather } = world
  const way = ways[point]
  if (!(await settle(world, who))) return [`${world.people.at(who).email} cannot sign in although nothing is wrong`]
  await way.prepare(world, who)
  weather.isDying = true
  program.order(point, scope)
  let isOver = false
  const going = way.go(world, who).finally(() => (isOver = true))
  // Who dies gives no answer, and whatever has been answered gets nowhere any more.
  await waitFor(`the end of an operation that dies at ${point}`, () => isOver || program.isOrderCarriedOut, reachLimit)
  const wasReached = program.isOrderCarriedOut
  program.cancelOrder()
  if (wasReached) await program.revive(scope)
  const answer = await going
  await program.answers()
  weather.isDying = false
  if (!wasReached) return [`${point} was not reached: ${shortly(answer)}`]
  const again = await way.go(world, who)
  const isFine = again === undefined || again === true || (typeof again === 'object' && again.status === 200)
  return isFine ? [] : [`after ${point} (${scope}) the same again is answered ${shortly(again)}`]
}

function shortly(outcome: Outcome): string {
  if (typeof outcome !== 'object') return outcome === true ? 'it worked' : 'nothing came of it'
  return `${outcome.status} ${outcome.text.slice(0, 300)}`
}

/** The container is gone, and has to be made anew. */
const afresh: Way = {
  prepare: (world, who) => removeBehindBack(world, who),
  go: (world, who) => launch(world, world.people.at(who), 'dev'),
}

const relaunch: Way = {
  prepare: async () => undefined,
  go: (world, who) => launch(world, world.people.at(who), 'dev'),
}

const renewal: Way = {
  prepare: (world, who) => launch(world, world.people.at(who), 'dev'),
  go: (world, who) => restart(world, world.people.at(who)),
}

/** Each time a new user: no user signs up twice. Done again, the address is known, and gets a login link. */
const registration: Way = {
  prepare: async () => undefined,
  go: async (world) => (await requestLink(world, world.people.guest(), 'signup')) !== undefined,
}

const login: Way = {
  prepare: async () => undefined,
  go: async (world, who) => (await requestLink(world, world.people.at(who), 'login')) !== undefined,
}

/** The link dies with the process that had used it up; another one works. */
const verification: Way = {
  prepare: async () => undefined,
  go: async (world, who) => {
    const person = world.people.at(who)
    const link = await requestLink(world, person, 'login')
    if (!link) return false
    const isDone = await verify(world, person, link)
    // Once more: whatever became of the first attempt, this one must not be the second token.
    if (!world.weather.isDying) await verify(world, person, link)
    return isDone
  },
}

const block: Way = {
  prepare: (world, who) => launch(world, world.people.at(who), 'prod'),
  go: (world, who) => changeContainer(world, 'block', world.people.at(who), 'prod'),
}

const userBlock: Way = {
  prepare: (world, who) => launch(world, world.people.at(who), 'prod'),
  go: (world, who) => changeUser(world, 'block', world.people.at(who)),
}

const bulkBlock: Way = {
  prepare: async (world, who) => {
    const person = world.people.at(who)
    await Promise.all([launch(world, person, 'dev'), launch(world, person, 'prod')])
  },
  go: (world, who) => changeInBulk(world, 'block', [world.people.at(who), world.people.at(who + 1)]),
}

const deletion: Way = {
  prepare: (world, who) => launch(world, world.people.at(who), 'prod'),
  go: (world, who) => deleteUser(world, world.people.at(who), false),
}

const containerDeletion: Way = {
  prepare: (world, who) => launch(world, world.people.at(who), 'prod'),
  go: (world, who) => deleteContainer(world, world.people.at(who), 'prod', false),
}

/** With a home to archive, and removed with everything. */
const termEnd: Way = {
  prepare: async (world, who) => {
    await launch(world, world.people.at(who), 'prod')
    await makeGroup(world, world.people.at(who))
  },
  go: (world, who) => endTerm(world, world.people.at(who)),
}

const snapshot: Way = {
  prepare: (world, who) => prepareHome(world, world.people.at(who)),
  go: (world, who) => takeSnapshot(world, world.people.at(who)),
}

const homeRestore: Way = {
  prepare: async (world, who) => {
    await prepareHome(world, world.people.at(who))
    await takeSnapshot(world, world.people.at(who))
  },
  go: (world, who) => restoreAndGoOn(world, world.people.at(who)),
}

const homeReset: Way = {
  prepare: (world, who) => prepareHome(world, world.people.at(who)),
  go: (world, who) => resetHome(world, world.people.at(who)),
}

const ways: Readonly<Record<CrashPoint, Way>> = {
  'launch.before-record': relaunch,
  'launch.after-record': relaunch,
  'launch.after-create': afresh,
  'launch.after-id': afresh,
  'launch.after-start': afresh,
  'launch.before-answer': relaunch,
  'restart.after-stop': renewal,
  'restart.after-remove': renewal,
  'signup.after-user': registration,
  'signup.after-mail': registration,
  'login.after-token': login,
  'verify.after-consume': verification,
  'verify.before-answer': verification,
  'block.after-store': userBlock,
  'block.after-stop': block,
  'bulk-block.in-between': bulkBlock,
  'delete.after-store': deletion,
  'delete.after-stop': containerDeletion,
  'delete.after-remove': deletion,
  'term-end.after-store': termEnd,
  'term-end.after-archive': termEnd,
  'term-end.after-mail': termEnd,
  'term-end.after-removal': termEnd,
  'home-snapshot.in-archive': snapshot,
  'archive.before-name': snapshot,
  'home-snapshot.after-write': snapshot,
  'home-restore.after-note': homeRestore,
  'home-restore.in-archive': homeRestore,
  'home-restore.after-add': homeRestore,
  'home-reset.after-snapshot': homeReset,
  'home-reset.after-remove': homeReset,
}

async function removeBehindBack(world: World, who: number): Promise<void> {
  const { people, engine } = world
  const person = people.at(who)
  if (!(await ensureSignedIn(world, person)) || person.id === undefined) return
  const found = await engine.find(person.id, 'dev')
  if (found) await engine.act('remove', found)
}
