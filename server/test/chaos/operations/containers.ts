import { once } from 'node:events'
import { openWebSocket, type Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import type { Snapshot } from '../world/store-view.ts'
import {
  badTypes,
  type besideType,
  chosenType,
  colours,
  type AppAnswer,
  type BadType,
  type Colour,
  type filesType,
  type GoodType,
  type groupType,
} from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** What people do with their containers. */

/**
 * Launches; a 200 is a promise that there is a record with this id. Not with this id of a program that fails: the slow machine may be
 * answered before it does, and what then ends at once after a restart of the engine is made anew.
 */
export async function launch(
  world: World,
  person: Person,
  type: GoodType | BadType | typeof groupType | typeof filesType | typeof besideType,
): Promise<Answer> {
  forgetRecord(world, person, type)
  const removal = person.removals.get(type)
  const answer = await world.call('POST', `/api/container/launch/${type}`, { token: person.token })
  if (answer.status !== 200) return answer
  // A launch finishes a removal that was left to do, before it starts anything.
  if (removal === 'unanswered' && person.removals.get(type) === removal) person.removals.delete(type)
  if (isBad(type)) promiseAnyRecord(world, person, type)
  else promiseRecord(world, person, type, answer.body.container_id)
  return answer
}

/**
 * Chooses a parameter with the launch; a 200 is a promise that this and later containers have it, and that requests reach no
 * container of before.
 */
export async function launchChosen(world: World, person: Person, colour: Colour): Promise<Answer> {
  const key = `colour of ${person.id}/${chosenType}`
  forgetRecord(world, person, chosenType)
  world.ledger.unsure(key)
  const body = { parameters: { colour } }
  const answer = await world.call('POST', `/api/container/launch/${chosenType}`, { token: person.token, body })
  if (answer.status !== 200) return answer
  promiseRecord(world, person, chosenType, answer.body.container_id)
  world.ledger.promise(key, `${colour} was chosen`, (stored) => colourOf(stored, person.id) === colour)
  const visit = await world.ask(person, chosenType, { token: person.token, limit: 30_000 })
  const { colour: seen } = (visit.status === 200 ? visit.body : { colour }) as AppAnswer
  if (seen !== colour)
    world.ledger.complain(`${person.email} chose ${colour}, and is answered by the ${seen} container`)
  return answer
}

/** The parameter of a user's container, as it is stored. */
export function colourOf({ containers }: Snapshot, userId: number | undefined): string {
  const record = containers.find(({ user_id, container_type }) => user_id === userId && container_type === chosenType)
  const { colour = colours[0] } = JSON.parse(record?.parameters ?? '{}') as { colour?: string }
  return colour
}

export async function restart(world: World, person: Person): Promise<Answer> {
  forgetRecord(world, person, 'dev')
  const answer = await world.call('POST', '/api/container/restart', { token: person.token })
  if (answer.status === 200) promiseRecord(world, person, 'dev', answer.body.container_id)
  return answer
}

/** Many launches of one container at the same moment: all that answer 200 speak of the same one. */
export async function launchAtOnce(world: World, person: Person, type: GoodType, times: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: times }, () => launch(world, person, type)))
  const ids = new Set(answers.flatMap(({ status, body }) => (status === 200 ? [body.container_id as string] : [])))
  if (ids.size > 1) world.ledger.complain(`launches at the same moment answered with ${ids.size} containers`)
}

/** Reads what the API says of their containers, in every way that there is. */
export async function look(world: World, { token }: Person): Promise<void> {
  const targets = ['/api/user/me', '/api/user/containers', '/api/container/status']
  await Promise.all(targets.map((target) => world.call('GET', target, { token })))
}

/** A request to their own app: the app that answers must be theirs, with the home that it always had. */
export async function visit(world: World, person: Person, type: GoodType): Promise<Answer> {
  const { token } = person
  const isUnsure = () => person.removals.has(type) || person.token !== token
  const wasUnsure = isUnsure()
  const answer = await world.ask(person, type, { token, limit: 30_000 })
  if (answer.status === 200) judgeVisit(world, person, type, answer.body as AppAnswer, wasUnsure || isUnsure())
  return answer
}

/** A request to another user's app, which must not answer. */
export async function intrude(world: World, intruder: Person, victim: Person, type: GoodType): Promise<Answer> {
  const answer = await world.ask(victim, type, { token: intruder.token, limit: 30_000 })
  if (answer.status === 200) world.ledger.complain(`${intruder.email} reached the ${type} of ${victim.email}`)
  return answer
}

/** A WebSocket on which every word must come back. */
export async function talk(world: World, person: Person, type: GoodType): Promise<void> {
  const socket = await openWebSocket(world.program.port, world.placeOf(person, type), person.token ?? '')
  if (!socket) return
  for (let round = 0; round < 3 && !socket.destroyed; round++) {
    const word = `word ${round} of ${person.email}`
    socket.write(word)
    const [heard] = (await once(socket, 'data', { signal: AbortSignal.timeout(5_000) }).catch(() => [])) as [Buffer?]
    if (heard === undefined) break
    if (!word.startsWith(heard.toString())) world.ledger.complain(`${person.email} said "${word}" and heard "${heard}"`)
  }
  socket.destroy()
}

/** @param isUnsure which home it has, because that is being removed */
function judgeVisit(
  world: World,
  person: Person,
  type: GoodType,
  { base, canary }: AppAnswer,
  isUnsure: boolean,
): void {
  if (base !== `/${person.slug}-${type}`)
    world.ledger.complain(`${person.email} asked for their ${type} and was answered by ${base}`)
  if (isUnsure) return
  const known = person.canaries.get(type)
  if (known === undefined && canary) person.canaries.set(type, canary)
  else if (known !== canary)
    world.ledger.complain(`the home of the ${type} of ${person.email} said "${known}" and says "${canary}" now`)
}

/** What is written down about which container a record names; void as soon as another operation may have changed that. */
export const idKey = ({ id }: Person, type: string) => `container of ${id}/${type}`

function forgetRecord(world: World, person: Person, type: string): void {
  world.ledger.unsure(idKey(person, type), `record of ${person.id}/${type}`)
}

function promiseRecord(world: World, person: Person, type: string, containerId: string): void {
  promiseAnyRecord(world, person, type)
  world.ledger.promise(idKey(person, type), `launched as ${containerId}`, ({ containers }) =>
    containers.some((row) => isOf(person, type, row) && row.container_id === containerId),
  )
}

function promiseAnyRecord(world: World, person: Person, type: string): void {
  world.ledger.promise(`record of ${person.id}/${type}`, 'launched', ({ containers }) =>
    containers.some((row) => isOf(person, type, row)),
  )
}

const isOf = ({ id }: Person, type: string, row: Snapshot['containers'][number]) =>
  row.user_id === id && row.container_type === type

const isBad = (type: string) => (badTypes as readonly string[]).includes(type)
