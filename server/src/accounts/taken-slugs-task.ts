import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { claimSlugs } from '#/store/users.ts'
import type { EngineListCache } from '#/containers/reconcile/engine-list.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'

/** Slugs per look-up. */
const batchSize = 500
/** Min interval between two lists of all homes, in ms: there is one for each user who ever launched a container. */
const homesInterval = 3_600_000

/** See `takenSlugsTask`. */
export interface TakenSlugsTask extends Task {
  /** Resolves when the slugs of all containers and homes that exist now are claimed. @throws {RuntimeError} @throws {StoreFailure} */
  claimAll(): Promise<void>
}

/**
 * Claims the slugs of existing containers and homes, so that none is assigned again. When an older store is restored,
 * users who signed up since are lost together with their ids and slugs, but their containers and homes still exist and
 * are named after id and slug. No other user may get the same slug.
 *
 * A run waits for the containers only: the list of 100,000 homes takes seconds, in which nothing else would be reconciled.
 * A failure of it is that of the next run, which also begins it again.
 */
export function takenSlugsTask(
  database: Database,
  runtime: Pick<Runtime, 'homes'>,
  engineList: Pick<EngineListCache, 'get'>,
): TakenSlugsTask {
  let homesAskedAt = -Infinity
  let homesClaim: Promise<number> | undefined
  /** What is claimed, and what failed, beside the runs since the last one. */
  let beside: { readonly claimed: number; readonly failure?: { readonly reason: unknown } } = { claimed: 0 }
  const claim = async (owned: readonly Pick<RuntimeContainer, 'owner'>[]) => {
    const slugs = [...new Set(owned.flatMap(({ owner }) => (owner ? [owner.slug] : [])))]
    let claimed = 0
    for (let start = 0; start < slugs.length; start += batchSize)
      claimed += await claimSlugs(database.db, slugs.slice(start, start + batchSize))
    return claimed
  }
  const claimOfContainers = async () => claim((await engineList.get()).containers)
  /** One at a time: the reconciler's first run shares that of the start. */
  const claimOfHomes = () =>
    (homesClaim ??= runtime
      .homes()
      .then(claim)
      .then((claimed) => {
        homesAskedAt = performance.now()
        return claimed
      })
      .finally(() => (homesClaim = undefined)))
  const claimOfHomesBeside = () =>
    claimOfHomes().then(
      (claimed) => void (beside = { claimed: beside.claimed + claimed }),
      (reason: unknown) => void (beside = { ...beside, failure: { reason } }),
    )
  return {
    name: 'taken slugs',
    claimAll: async () => {
      await Promise.all([claimOfContainers(), claimOfHomes()])
    },
    run: async () => {
      const { claimed, failure } = beside
      beside = { claimed: 0 }
      const isDue = performance.now() - homesAskedAt >= homesInterval
      if (isDue && !homesClaim) void claimOfHomesBeside()
      const found = await claimOfContainers()
      if (failure) throw failure.reason
      return { claimed: claimed + found }
    },
  }
}
