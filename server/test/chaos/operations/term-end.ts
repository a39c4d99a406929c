import type { TermEnd } from '@berth/api/schemas/groups/term-end.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import type { World } from '../world/world.ts'
import { bury, findUser, forgetUser } from './administration.ts'

/** How long an end of term may take that dies on its way, in ms. */
const limit = 90_000

/** A group with this person alone, who is in no other one then: the end of the term removes the account. */
export async function makeGroup(world: World, person: Person): Promise<void> {
  const groups = '/api/admin/groups'
  const { token } = world.people.first
  const made = await world.call('POST', groups, { token, body: { name: nameOf(person) } })
  if (made.status !== 200) return
  const members = `/api/groups/${made.body.group.id}/members`
  await world.call('POST', members, { token, body: { emails: [person.email] } })
  world.ledger.unsureAbout((key) => key.startsWith(`membership of ${person.id} `))
  for (const group of [world.group, world.club])
    await world.call('DELETE', `/api/groups/${group?.id}/members/${person.id}`, { token })
}

/**
 * Ends the term of the group that was made for them last, and waits for its end: their home is archived, their account
 * removed. Again it goes on waiting, or finds that it is done.
 */
export async function endTerm(world: World, person: Person): Promise<Answer | undefined> {
  const { token } = world.people.first
  const id = await findGroup(world, person)
  const target = `/api/admin/groups/${id}/term-end`
  const user = await findUser(world, person)
  if (user) forgetUser(world, user)
  const began = await world.call('GET', target, { token })
  if (began.status === 200 && began.body.term_end === null) {
    const body = { keep_until: new Date(Date.now() + 86_400_000).toISOString() }
    await world.call('POST', target, { token, body })
  }
  const end = performance.now() + limit
  for (let seen = began; ; seen = await world.call('GET', target, { token })) {
    const termEnd = seen.status === 200 ? (seen.body.term_end as TermEnd | null) : null
    if (termEnd?.phase === 'done') {
      bury(world, person)
      return judge(termEnd, seen)
    }
    if (performance.now() > end) return seen
    await sleep(250)
  }
}

/** The one person is gone, and their home is archived; not 200 otherwise. */
function judge({ counts, archives }: TermEnd, seen: Answer): Answer {
  const isRight = counts.done === 1 && counts.failed === 0 && archives > 0
  return isRight ? seen : { ...seen, status: 500 }
}

const nameOf = ({ email, id }: Person) => `course of ${email} ${id}`

/** While Berth is down, another look. */
async function findGroup(world: World, person: Person): Promise<number> {
  const { token } = world.people.first
  for (const end = performance.now() + limit; performance.now() < end; await sleep(250)) {
    const answer = await world.call('GET', `/api/admin/groups?q=${encodeURIComponent(nameOf(person))}`, { token })
    if (answer.status === 200) return answer.body.groups.at(-1).id as number
  }
  throw new Error('groups are not answered')
}
