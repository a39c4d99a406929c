import { setTimeout as sleep } from 'node:timers/promises'
import { ensureSignedIn } from '../operations/accounts.ts'
import { changeInBulk } from '../operations/administration.ts'
import { idKey, launch, visit } from '../operations/containers.ts'
import type { Person } from '../world/people.ts'
import type { FurtherFault } from '../plan.ts'
import { idleType } from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** Faults that concern one container or one part of the store, while everything else has to go on as if nothing were. */

/** Links in the store when the clock is moved. */
const links = 20_000
/** How soon after a jump all of them have followed it, in ms. */
const followLimit = 30_000
/** How soon after the store works again an app that was held is reached, in ms; an idle app is held after a second. */
const [reachLimit, untilHeld] = [60_000, 1_800]

/** Breaks it, does the work meanwhile, and mends it. @returns when both are over */
export async function breakFurther(fault: FurtherFault, world: World, work: () => Promise<void>): Promise<void> {
  if (fault.kind === 'engine-one-hung') return hangOne(world, fault, work)
  if (fault.kind === 'engine-slow-lists') return slowLists(world, fault, work)
  if (fault.kind === 'store-failing-hold') return failWhileHeld(world, fault, work)
  if (fault.kind === 'store-deadlock') return lockTheOtherWay(world, fault, work)
  return moveClock(world, fault, work)
}

async function hangOne(
  world: World,
  { who, type, time }: Extract<FurtherFault, { kind: 'engine-one-hung' }>,
  work: () => Promise<void>,
): Promise<void> {
  const person = world.people.at(who)
  if (await ensureSignedIn(world, person)) await launch(world, person, type)
  const found = person.id === undefined ? undefined : await world.engine.find(person.id, type)
  if (!found) return work()
  world.ledger.unsure(idKey(person, type))
  const calls = new RegExp(`/containers/(${found.id}|${found.name})/`)
  await withBystander(world, 'one container hangs', async () => {
    await world.proxy.harm({ kind: 'hanging', calls })
    await Promise.all([work(), sleep(time)])
  })
  await world.proxy.mend()
}

async function slowLists(
  world: World,
  { time, delay }: Extract<FurtherFault, { kind: 'engine-slow-lists' }>,
  work: () => Promise<void>,
): Promise<void> {
  await withBystander(world, 'lists are slow', async () => {
    await world.proxy.harm({ kind: 'slow', delay, calls: /^GET .*\/containers\/json/ })
    await Promise.all([work(), sleep(time)])
  })
  await world.proxy.mend()
}

/** A user who is not affected, and whose app runs, reaches it all the time. */
async function withBystander(world: World, when: string, work: () => Promise<void>): Promise<void> {
  const { second } = world.people
  const isThere =
    (await ensureSignedIn(world, second)) &&
    (await launch(world, second, 'dev')).status === 200 &&
    (await visit(world, second, 'dev')).status === 200
  const over = new AbortController()
  if (!isThere) over.abort()
  const watching = (async () => {
    for (; !over.signal.aborted; await sleep(500)) {
      const { status, took } = await visit(world, second, 'dev')
      if (status !== 200 || took > 5_000 * world.settings.leniency)
        world.ledger.complain(`while ${when} another app answers ${status} after ${Math.round(took)} ms`)
    }
  })()
  await work().finally(() => over.abort())
  await watching
}

/** The store fails at the moment at which an idle app is suspended: its visitors must not wait for ever. */
async function failWhileHeld(
  world: World,
  { who, time }: Extract<FurtherFault, { kind: 'store-failing-hold' }>,
  work: () => Promise<void>,
): Promise<void> {
  const person = world.people.at(who)
  const isThere = (await ensureSignedIn(world, person)) && (await launchIdle(world, person))
  // Without this a probe that reaches nothing would say of the store what is its own fault.
  if (isThere) await reach(world, person, 'before the store fails')
  await sleep(untilHeld)
  world.weather.isStoreLocked = true
  await Promise.all([world.store.lock(time), work()])
  world.weather.isStoreLocked = false
  // A visit alone has to wake it: a launch would, too.
  if (isThere) await reach(world, person, 'after the store failed')
}

const launchIdle = async (world: World, { token }: Person) =>
  (await world.call('POST', `/api/container/launch/${idleType}`, { token })).status === 200

/** Visits until the app answers, unless its owner may not: the work of a step blocks and deletes people. */
async function reach(world: World, person: Person, when: string): Promise<void> {
  const begun = performance.now()
  for (;;) {
    const { status, text } = await world.ask(person, idleType, { token: person.token, limit: 30_000 })
    if (status === 200 || !(await mayVisit(world, person))) return
    if (performance.now() - begun > reachLimit * world.settings.leniency)
      return world.ledger.complain(`the idle app of ${person.email} is not reached ${when}: ${status} ${text}`)
    await sleep(250)
  }
}

async function mayVisit({ store }: World, { id, token }: Person): Promise<boolean> {
  const { users, containers } = await store.snapshot()
  const isFree = users.some((user) => user.id === id && user.is_blocked === 0)
  const record = containers.find(({ user_id, container_type }) => user_id === id && container_type === idleType)
  return token !== undefined && isFree && record?.is_blocked === 0
}

/** A bulk block, and another program that locks the same rows in the opposite order: one of the two is ended for it. */
async function lockTheOtherWay(
  world: World,
  { who }: Extract<FurtherFault, { kind: 'store-deadlock' }>,
  work: () => Promise<void>,
): Promise<void> {
  const people = [world.people.at(who), world.people.at(who + 1)]
  await ensureSignedIn(world, world.people.first)
  const ids = people.flatMap(({ id }) => id ?? [])
  const blocked = Promise.withResolvers<void>()
  const locking = world.store.lockRowsOf(ids, async () => {
    // Our statement has its first rows by then, and waits for the last.
    await sleep(400)
    blocked.resolve()
  })
  const answer = await changeInBulk(world, 'block', people)
  await Promise.all([blocked.promise, locking, work()])
  if (answer && answer.status !== 200)
    world.ledger.complain(`a bulk block that met a deadlock is answered ${answer.status}: ${answer.text}`)
  await changeInBulk(world, 'unblock', people)
}

async function moveClock(
  world: World,
  { by }: Extract<FurtherFault, { kind: 'clock-jump' }>,
  work: () => Promise<void>,
): Promise<void> {
  await world.store.addLinks(links)
  world.program.moveClock(by)
  const begun = performance.now()
  // A request at this very moment is judged like every other: answered in time.
  const { token } = world.people.first
  for (let times = 0; times < 10; times++) await world.call('GET', '/api/user/me', { token })
  // A link that was mailed before may have expired by now; what follows asks for new ones.
  await sleep(1_500)
  await work()
  while (await world.store.isClockMoving()) {
    if (performance.now() - begun > followLimit * world.settings.leniency)
      world.ledger.complain(`${links} links did not follow the clock within ${followLimit} ms`)
    await sleep(200)
    if (performance.now() - begun > 2 * followLimit * world.settings.leniency) break
  }
  await world.store.removeLinks()
}
