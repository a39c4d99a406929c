import type { Seen } from '../world/engine-view.ts'
import { intrude, visit } from '../operations/containers.ts'
import { goodTypes, type GoodType } from '../world/templates.ts'
import type { Snapshot } from '../world/store-view.ts'
import type { World } from '../world/world.ts'

/** What people with good, bad and no tokens are answered. Each returns what is wrong, in words. */

/** At every moment: a user who signed out, or was deleted, has no access. */
export async function refusesOldTokens(world: World): Promise<string[]> {
  const [victim] = world.people.all
  const tokens = [...world.ledger.revoked, ...world.ledger.orphaned].slice(-40)
  const looks = tokens.map(async (token) => {
    const [api, app] = await Promise.all([
      world.call('GET', '/api/user/me', { token }),
      world.ask(victim ?? {}, 'dev', { token }),
    ])
    const isAccepted = api.status === 200 || (app.status !== 401 && app.status !== 403 && app.status < 500)
    return isAccepted
      ? [`an old token was answered with ${api.status} by the API and ${app.status} by the gateway`]
      : []
  })
  return (await Promise.all(looks)).flat()
}

/** At every moment: a user whose token was never revoked has access. */
export async function acceptsGoodTokens(world: World): Promise<string[]> {
  const looks = world.people.all.map(async ({ token, email }) => {
    if (token === undefined) return []
    const { status, text } = await world.call('GET', '/api/user/me', { token })
    return status === 200 ? [] : [`${email} is answered ${status} ${text} with a good token`]
  })
  return (await Promise.all(looks)).flat()
}

/** At every moment: what is blocked answers 403, and launching it, too. */
export async function refusesTheBlocked(world: World, { users, containers }: Snapshot): Promise<string[]> {
  const looks = world.people.all.flatMap(({ token, id, slug, email }) => {
    const isUserBlocked = users.some((user) => user.id === id && user.is_blocked === 1)
    return goodTypes.map(async (type) => {
      const isBlocked = containers.some(
        (row) => row.user_id === id && row.container_type === type && row.is_blocked === 1,
      )
      if (token === undefined || !(isBlocked || isUserBlocked)) return []
      const [app, launch] = await Promise.all([
        world.ask({ slug }, type, { token }),
        world.call('POST', `/api/container/launch/${type}`, { token }),
      ])
      const right = app.status === 403 && launch.status === 403
      return right ? [] : [`the blocked ${type} of ${email} is answered ${app.status}, its launch ${launch.status}`]
    })
  })
  return (await Promise.all(looks)).flat()
}

/** Soon: a user whose app runs and is not blocked reaches it; and no other user does, with or without a token. */
export async function leadsEverybodyHome(
  world: World,
  running: readonly Seen[],
  { users, containers }: Snapshot,
): Promise<string[]> {
  const isBlocked = (id: number, type: string) =>
    users.some((user) => user.id === id && user.is_blocked === 1) ||
    containers.some((row) => row.user_id === id && row.container_type === type && row.is_blocked === 1)
  const looks = running.map(async ({ userId, type }) => {
    const owner = world.people.all.find(({ id, token }) => id === userId && token !== undefined)
    if (!owner || !(goodTypes as readonly string[]).includes(type) || isBlocked(userId, type)) return []
    const others = world.people.all.filter((each) => each !== world.people.second)
    const neighbour = others.find(({ token, id }) => token !== undefined && id !== userId)
    const [own, none, foreign] = await Promise.all([
      visit(world, owner, type as GoodType),
      world.ask(owner, type),
      neighbour ? intrude(world, neighbour, owner, type as GoodType) : undefined,
    ])
    return [
      ...(own.status === 200 ? [] : [`${owner.email} is answered ${own.status} by their running ${type}: ${own.text}`]),
      ...(none.status === 401 ? [] : [`a client without a token is answered ${none.status} for ${owner.slug}-${type}`]),
      ...(!foreign || foreign.status === 403
        ? []
        : [`a stranger is answered ${foreign.status} for ${owner.slug}-${type}`]),
    ]
  })
  return (await Promise.all(looks)).flat()
}
