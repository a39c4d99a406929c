import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Db } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'

/**
 * Replaces a container of an older version of its template. One that its owner or idleness has stopped since it was listed stays
 * stopped, and gets the new version with its next start; one whose owner may not launch the type any more stays as it is.
 * @throws as `Spawner.replace`, and as `IdleSuspension.stopNow`
 */
export async function replaceOlder(db: Db, containers: Containers, owned: ContainerRef): Promise<void> {
  const { templates, rules, singleFlight, spawner } = containers
  const [user, template] = [await findUser(db, owned.userId), templates.get(owned.type)]
  if (!user || !template) return
  const replace = () => spawner.replace(user, template, new Date())
  // What is under way, such as a stop, decides in which state it is; the operation is the next one then, so that nothing comes in
  // between. Where another one waits already, it is looked at again after that.
  for (let isDone = false; !isDone;) {
    const next = await singleFlight.run<Begun | undefined>(containerKey(owned), 'look', async (_, isAwaited) => {
      const isRefused = (await rules.refusalFor(user, template, new Date())) !== undefined
      if (isAwaited()) return undefined
      return { end: isRefused ? Promise.resolve() : operationOn(containers, owned, replace) }
    })
    isDone = next !== undefined
    await next?.end
  }
}

/** An operation that begins when the present one ends; an object, so that this one does not wait for it. */
interface Begun {
  readonly end: Promise<unknown>
}

/** Begins it, behind the flight in which it is called. */
async function operationOn(
  { routeSync, idleSuspension }: Containers,
  owned: ContainerRef,
  replace: () => Promise<unknown>,
): Promise<unknown> {
  const seen = routeSync.get(owned)?.seen
  if (!seen || seen === 'gone') return undefined
  // A paused container is not in use: its owner's next request starts the new version.
  if (seen.state === 'paused') return idleSuspension.stopNow(owned, 'version')
  return seen.state === 'running' ? replace() : undefined
}
