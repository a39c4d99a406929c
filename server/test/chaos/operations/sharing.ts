import type { Answer } from '../world/http-client.ts'
import type { Person } from '../world/people.ts'
import type { Snapshot } from '../world/store-view.ts'
import { chosenType } from '../world/templates.ts'
import type { World } from '../world/world.ts'

/** What owners do with shares of a container. The visitor is the second administrator, whom no step blocks or deletes. */
const sharesPath = `/api/container/shares/${chosenType}`
/** In ms: longer than a run, with all jumps of its clock. */
const lasts = 20 * 3_600_000

/** Void as soon as another operation may have changed whether it is shared. */
const shareKey = ({ id }: Person) => `share of ${id}/${chosenType}`

/** Shares; a 200 is a promise that the visitor may use the container. */
export async function share(world: World, owner: Person): Promise<Answer> {
  const { email } = world.people.second
  world.ledger.unsure(shareKey(owner))
  const expires_at = new Date(Date.now() + lasts).toISOString()
  const body = { emails: [email], may: 'use', expires_at }
  const answer = await world.call('POST', sharesPath, { token: owner.token, body })
  if (answer.status === 200)
    world.ledger.promise(shareKey(owner), 'shared', (stored) => isShared(world, stored, owner.id))
  return answer
}

/** Ends all shares; a 200 is a promise that the visitor is refused from then on. */
export async function endShares(world: World, owner: Person): Promise<void> {
  const { token } = owner
  const { body } = await world.call('GET', sharesPath, { token })
  const ids = ((body as { shares?: { id: number }[] } | undefined)?.shares ?? []).map(({ id }) => id)
  for (const id of ids) {
    world.ledger.unsure(shareKey(owner))
    const answer = await world.call('DELETE', `${sharesPath}/${id}`, { token })
    if (answer.status !== 200) continue
    world.ledger.promise(shareKey(owner), 'ended', (stored) => !isShared(world, stored, owner.id))
    const visit = await world.ask(owner, chosenType, { token: world.people.second.token, limit: 30_000 })
    if (visit.status === 200)
      world.ledger.complain(`a visitor of ${owner.email} is answered after the end of the share`)
  }
}

/** Whether the visitor may open the container of this user, as it is stored. */
export function isShared({ people }: World, { containers, shares }: Snapshot, userId: number | undefined): boolean {
  const record = containers.find((row) => row.user_id === userId && row.container_type === chosenType)
  return shares.some(({ record_id, email }) => record_id === record?.id && email === people.second.email)
}
