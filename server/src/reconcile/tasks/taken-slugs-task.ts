import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { claimSlugs } from '#/store/users/users.ts'
import type { EngineListCache } from '../engine-list.ts'
import type { Task } from '../reconciler.ts'

/** Slugs per look-up. */
const batchSize = 500
/** Min interval between two lists of all homes, in ms: there is one for each user who ever launched a container. */
const homesInterval = 3_600_000

/**
 * Claims the slugs of existing containers and homes, so that none is assigned again. When an older store is restored,
 * users who signed up since are lost together with their ids and slugs, but their containers and homes still exist and
 * are named after id and slug. No other user may get the same slug.
 */
export function takenSlugsTask(
  database: Database,
  runtime: Pick<Runtime, 'homes'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  let homesAskedAt = -Infinity
  let current: Promise<{ claimed: number }> | undefined
  const claimAll = async () => {
    const { instances } = await engineList.get()
    const isDue = performance.now() - homesAskedAt >= homesInterval
    const homes = isDue ? await runtime.homes() : []
    const slugs = [...new Set([...instances, ...homes].flatMap(({ owner }) => (owner ? [owner.slug] : [])))]
    let claimed = 0
    for (let start = 0; start < slugs.length; start += batchSize)
      claimed += await claimSlugs(database.db, slugs.slice(start, start + batchSize))
    if (isDue) homesAskedAt = performance.now()
    return { claimed }
  }
  return {
    name: 'taken slugs',
    // The reconciler's first run shares that of the start, whose lists take seconds with 20,000 containers.
    run: () => (current ??= claimAll().finally(() => (current = undefined))),
  }
}
