import type {
  AdminContainer,
  AdminUser,
  ContainerResponse,
  UserResponse,
  BulkResponse,
} from '@berth/api/schemas/administration/admin.ts'
import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import type { GoodType } from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** What administrators do. Who acts is the first one of the run. */

type Verb = 'block' | 'unblock'

/** A user as in the list of users; null: there is none of this address; undefined while the API does not answer. */
export async function findUser(world: World, person: Person): Promise<AdminUser | null | undefined> {
  const { token } = world.people.first
  const answer = await world.call('GET', `/api/admin/users?q=${encodeURIComponent(person.email)}`, { token })
  if (answer.status !== 200) return undefined
  return (answer.body.users as AdminUser[]).find(({ email }) => email === person.email) ?? null
}

/** One container, or each by itself when there are several of this type. */
export async function changeContainer(
  world: World,
  verb: Verb,
  person: Person,
  type: GoodType,
): Promise<Answer | undefined> {
  const record = (await findUser(world, person))?.containers.find(({ container_type }) => container_type === type)
  if (!record) return undefined
  forgetBlocks(world, [record])
  const answer = await post(world, `/api/admin/containers/${record.id}/${verb}`)
  if (answer.status === 200) promiseBlocks(world, [(answer.body as ContainerResponse).container])
  return answer
}

/** All containers of these people in one call. */
export async function changeInBulk(world: World, verb: Verb, people: readonly Person[]): Promise<Answer | undefined> {
  const found = await Promise.all(people.map((person) => findUser(world, person)))
  const records = found.flatMap((user) => user?.containers ?? [])
  if (records.length === 0) return undefined
  forgetBlocks(world, records)
  const answer = await post(world, `/api/admin/containers/bulk-${verb}`, {
    container_ids: records.map(({ id }) => id),
  })
  if (answer.status === 200) promiseBlocks(world, (answer.body as BulkResponse).containers)
  return answer
}

/** A user, and with them all that is theirs. */
export async function changeUser(world: World, verb: Verb, person: Person): Promise<Answer | undefined> {
  const user = await findUser(world, person)
  if (!user) return undefined
  forgetBlocks(world, user.containers)
  world.ledger.unsure(userKey(user.id))
  const answer = await post(world, `/api/admin/users/${user.id}/${verb}`)
  if (answer.status === 200) promiseUser(world, (answer.body as UserResponse).user)
  return answer
}

/** Deletes an account. Afterwards neither user nor token has access. */
export async function deleteUser(world: World, person: Person, isPurge: boolean): Promise<Answer | undefined> {
  const user = await findUser(world, person)
  if (user === null) bury(world, person)
  if (!user) return undefined
  forgetUser(world, user)
  const answer = await remove(world, `/api/admin/users/${user.id}`, isPurge)
  if (answer.status === 0 || answer.status >= 500) loseSightOf(person)
  if (answer.status !== 200) return answer
  world.ledger.promise(`account ${person.email}`, 'deleted', ({ users }) => users.every(({ id }) => id !== user.id))
  bury(world, person)
  return answer
}

/** They are gone, whether or not we were told when they went. */
export function bury(world: World, person: Person): void {
  if (person.token !== undefined) world.ledger.orphaned.add(person.token)
  loseSightOf(person)
}

/** Whether they still exist is unknown; the next request for a link shows it. */
function loseSightOf(person: Person): void {
  person.standing = 'unknown'
  delete person.token
  person.canaries.clear()
  person.removals.clear()
}

/** Deletes one container and its record; the home stays unless purged. */
export async function deleteContainer(
  world: World,
  person: Person,
  type: GoodType,
  isPurge: boolean,
): Promise<Answer | undefined> {
  const record = (await findUser(world, person))?.containers.find(({ container_type }) => container_type === type)
  if (!record) return undefined
  forgetBlocks(world, [record])
  forgetRecords(world, record)
  // Probes visit the application until it is stopped, and read the old home.
  if (isPurge) person.removals.set(type, 'under way')
  const answer = await remove(world, `/api/admin/containers/${record.id}`, isPurge)
  if (isPurge) person.canaries.delete(type)
  if (isPurge && answer.status === 200) person.removals.delete(type)
  else if (isPurge) person.removals.set(type, 'unanswered')
  if (answer.status === 200)
    world.ledger.promise(`record of ${record.user_id}/${type}`, `record ${record.id} deleted`, ({ containers }) =>
      containers.every(({ id }) => id !== record.id),
    )
  return answer
}

const post = (world: World, target: string, body?: unknown) =>
  world.call('POST', target, { token: world.people.first.token, ...(body === undefined ? {} : { body }) })

const remove = (world: World, target: string, isPurge: boolean) =>
  world.call('DELETE', `${target}${isPurge ? '?purge=true' : ''}`, { token: world.people.first.token })

const blockKey = (id: number) => `block of container ${id}`
const userKey = (id: number) => `block of user ${id}`

function forgetBlocks(world: World, records: readonly AdminContainer[]): void {
  const keys = records.map(({ id }) => blockKey(id))
  world.ledger.unsure(...keys)
  world.ledger.unsureAbout((key) => keys.some((own) => key.startsWith(`${own} by `)))
}

function forgetRecords(world: World, { user_id, container_type }: AdminContainer): void {
  const owned = `${user_id}/${container_type}`
  world.ledger.unsure(`record of ${owned}`, `container of ${owned}`, `colour of ${owned}`, `share of ${owned}`)
}

export function forgetUser(world: World, user: AdminUser): void {
  world.ledger.unsure(userKey(user.id), `account ${user.email}`)
  world.ledger.unsureAbout((key) => key.startsWith(`membership of ${user.id} `))
  forgetBlocks(world, user.containers)
  world.ledger.unsureAbout((key) =>
    ['record', 'container', 'colour', 'share'].some((what) => key.startsWith(`${what} of ${user.id}/`)),
  )
}

function promiseBlocks(world: World, records: readonly AdminContainer[]): void {
  for (const { id, is_blocked, blocked_at } of records)
    world.ledger.promise(blockKey(id), is_blocked ? 'blocked' : 'not blocked', ({ containers }) =>
      containers.some(
        (row) =>
          row.id === id &&
          (row.is_blocked === 1) === is_blocked &&
          (row.blocked_at === null ? null : new Date(row.blocked_at).toISOString()) === blocked_at,
      ),
    )
}

function promiseUser(world: World, { id, is_blocked, containers }: AdminUser): void {
  world.ledger.promise(userKey(id), is_blocked ? 'blocked' : 'not blocked', ({ users }) =>
    users.some((row) => row.id === id && (row.is_blocked === 1) === is_blocked),
  )
  promiseBlocks(world, containers)
}
