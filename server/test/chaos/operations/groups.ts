import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import { clubName, groupName, groupType } from '../world/templates.ts'
import type { World } from '../world/world.ts'
import { findUser } from './administration.ts'
import { launch } from './containers.ts'

/** What is done to a class and its containers: all of its members at once. Who acts is the first one of the run. */

/** The class of a run, or its club: a second group of some of its people, for the same type. */
export interface ChaosGroup {
  readonly id: number
  readonly code: string
}

/** How many of the ordinary people are of the club, too. */
const clubSize = 2

export type GroupVerb = 'stop' | 'block' | 'unblock' | 'end' | 'reopen' | 'start'

/** Makes the class and the club. @throws when Berth refuses it although nothing is wrong */
export async function makeGroups(world: World): Promise<void> {
  world.group = await makeGroup(world, groupName)
  world.club = await makeGroup(world, clubName)
}

async function makeGroup(world: World, name: string): Promise<ChaosGroup> {
  const made = await administer(world, '/api/admin/groups', { name, types: [groupType] })
  const id = made.body?.group?.id as number | undefined
  const code = await administer(world, `/api/groups/${id}/join-code`)
  if (id === undefined || code.status !== 200) throw new Error(`no group: ${made.text} ${code.text}`)
  return { id, code: code.body.code }
}

/** Launches the container of the class. While the class is over it is refused. */
export async function launchInGroup(world: World, person: Person): Promise<void> {
  const { ledger } = world
  const wasOver = ledger.isGroupOver
  const ended = ledger.startBegins(person.email)
  try {
    await join(world, person)
    const answer = await launch(world, person, groupType)
    if (answer.status === 200 && wasOver && ledger.isGroupOver && !isOfClub(world, person))
      ledger.complain(`${person.email} launched in a group that is over`)
  } finally {
    ended()
  }
}

/**
 * Members, all of whom a step may concern; a deleted one who signed up again is a member again. A class that is over is reopened
 * by the next change, so that it is not over for the rest of a run.
 */
export async function changeGroup(world: World, verb: GroupVerb): Promise<void> {
  if (verb !== 'end' && world.ledger.isGroupOver) await setEnd(world, false)
  for (const person of world.people.ordinary) await join(world, person)
  if (verb === 'stop') await stop(world)
  else if (verb === 'block') await block(world, world.group)
  else if (verb === 'unblock') await unblock(world, world.group)
  else if (verb === 'start') await start(world)
  else await setEnd(world, verb === 'end')
}

/** What the class has blocked of the members of the club is blocked by both, or stays blocked by the class. */
export async function changeClub(world: World, verb: 'block' | 'unblock'): Promise<void> {
  for (const person of world.people.ordinary) await join(world, person)
  if (verb === 'block') await block(world, world.club)
  else await unblock(world, world.club)
}

/** A 200 that says that all are stopped is a promise until the member, or a start for all, starts it again. */
async function stop(world: World): Promise<void> {
  const { ledger, people } = world
  const starts = people.ordinary.map(({ email }) => ledger.startsOf(email))
  const { status, body } = await administer(world, `/api/groups/${world.group?.id}/stop`)
  if (status !== 200 || body.failed > 0 || body.under_way > 0) return
  for (const [at, { email, id }] of people.ordinary.entries())
    if (id !== undefined && starts[at] !== undefined && ledger.startsOf(email) === starts[at]) ledger.stopped(email, id)
}

async function block(world: World, group: ChaosGroup | undefined): Promise<void> {
  const { ledger } = world
  const people = world.people.ordinary.filter((person) => group === world.group || isOfClub(world, person))
  const users = await Promise.all(people.map((person) => findUser(world, person)))
  const records = users.flatMap((user) =>
    (user?.containers ?? []).filter(({ container_type }) => container_type === groupType),
  )
  ledger.unsure(releaseKey(group), ...records.map(({ id }) => `block of container ${id}`))
  const { status } = await administer(world, `/api/groups/${group?.id}/block`)
  if (status !== 200) return
  for (const { id } of records)
    ledger.promise(`block of container ${id} by ${group?.id}`, 'blocked with the group', ({ containers }) =>
      containers.some((row) => row.id === id && row.is_blocked === 1),
    )
}

/** What the other group has blocked stays blocked, which its own promise says. */
async function unblock(world: World, group: ChaosGroup | undefined): Promise<void> {
  const { ledger } = world
  ledger.unsureAbout((key) => /^block of container \d+$/.test(key))
  ledger.unsureAbout((key) => key.startsWith('block of container ') && key.endsWith(` by ${group?.id}`))
  const { status } = await administer(world, `/api/groups/${group?.id}/unblock`)
  if (status !== 200) return
  ledger.promise(releaseKey(group), 'unblocked', ({ containers }) =>
    containers.every(({ block_source }) => block_source !== `group:${group?.id}`),
  )
}

/** Whether this one joins the club. */
const isOfClub = ({ people }: World, person: Person) => people.ordinary.indexOf(person) < clubSize

const releaseKey = (group: ChaosGroup | undefined) => `release by group ${group?.id}`

/** Launches go on after the answer: no member is promised to be stopped until the next stop. */
async function start(world: World): Promise<void> {
  const { ledger, people } = world
  const ends = people.ordinary.map(({ email }) => ledger.startBegins(email))
  await administer(world, `/api/groups/${world.group?.id}/start`, { container_type: groupType })
  for (const ended of ends) ended()
}

async function setEnd(world: World, isEnd: boolean): Promise<void> {
  const { ledger, group } = world
  ledger.isGroupOver = false
  ledger.unsure('end of the group')
  const { status } = isEnd
    ? await administer(world, `/api/groups/${group?.id}/end`)
    : await world.call('PATCH', `/api/admin/groups/${group?.id}`, {
        token: world.people.first.token,
        body: { expires_at: null },
      })
  if (status !== 200) return
  ledger.isGroupOver = isEnd
  ledger.promise('end of the group', isEnd ? 'over' : 'not over', ({ groups }) =>
    groups.some(({ id, expires_at }) => id === group?.id && (expires_at !== null) === isEnd),
  )
}

/** By the join code, so that no mail is sent. One who is a member stays it; a group that is over takes no members. */
async function join(world: World, person: Person): Promise<void> {
  const { token, id } = person
  if (token === undefined || id === undefined) return
  for (const group of isOfClub(world, person) ? [world.group, world.club] : [world.group]) {
    if (group === undefined) continue
    const { status } = await world.call('POST', '/api/groups/join', { token, body: { code: group.code } })
    if (status !== 200) continue
    world.ledger.promise(`membership of ${id} in ${group.id}`, 'joined', ({ members }) =>
      members.some(({ user_id, group_id }) => user_id === id && group_id === group.id),
    )
  }
}

const administer = (world: World, target: string, body?: unknown): Promise<Answer> =>
  world.call('POST', target, { token: world.people.first.token, ...(body === undefined ? {} : { body }) })
