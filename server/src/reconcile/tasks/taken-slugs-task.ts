import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { claimSlugs } from '#/store/users/users.ts'
import type { EngineListCache } from '../engine-list.ts'
import type { Task } from '../reconciler.ts'

/** Slugs looked up at a time. */
const batchSize = 500
/** Between two questions for all homes, in ms: there is one for everybody who ever launched anything. */
const homesInterval = 3_600_000

/**
 * No slug is given again that stands on a container or a home of ours. When an older store was restored, people who
 * signed up since are forgotten together with their ids and slugs, but what they had in the engine is still there, and
 * everything there is named after id and slug. Nobody else may come to be called the same.
 */
export function takenSlugsTask(
  database: Database,
  runtime: Pick<Runtime, 'homes'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  let homesAskedAt = -Infinity
  return {
    name: 'taken slugs',
    async run() {
      const { instances } = await engineList.get()
      const isDue = performance.now() - homesAskedAt >= homesInterval
      const homes = isDue ? await runtime.homes() : []
      const slugs = [...new Set([...instances, ...homes].flatMap(({ owner }) => (owner ? [owner.slug] : [])))]
      let claimed = 0
      for (let start = 0; start < slugs.length; start += batchSize)
        claimed += await claimSlugs(database.db, slugs.slice(start, start + batchSize))
      if (isDue) homesAskedAt = performance.now()
      return { claimed }
    },
  }
}
