import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Home } from '#/runtime/runtime-container.ts'
import type { Database } from '#/store/database.ts'
import { forgetHomes, listDueOwners, postponeHomes, type FormerOwner } from '#/store/containers/kept-homes.ts'
import { findUser } from '#/store/users/users.ts'
import { Unfinished, type Task } from '../reconciler.ts'

/** Max former owners in one run; the others follow in the next. */
const maxOwners = 50

/**
 * Removes the homes of deleted users after their retention: all with their id and slug, also of a type that is not
 * configured any more. Apart from a purge of one container nothing else removes a home.
 */
export function keptHomesTask(database: Database, runtime: Runtime): Task {
  return {
    name: 'kept homes',
    async run(now) {
      const owners = await listDueOwners(database.db, now, maxOwners)
      if (owners.length === 0) return { removed: 0 }
      const homes = await runtime.homes()
      const failures: unknown[] = []
      let removed = 0
      for (const owner of owners) {
        const outcome = await removeHomesOf(owner, homes, database, runtime, now)
        removed += outcome.removed
        failures.push(...outcome.failures)
      }
      if (failures.length > 0) throw new Unfinished(failures)
      return { removed }
    },
  }
}

interface Outcome {
  readonly removed: number
  readonly failures: readonly unknown[]
}

async function removeHomesOf(
  owner: FormerOwner,
  homes: readonly Home[],
  database: Database,
  runtime: Runtime,
  now: Date,
): Promise<Outcome> {
  // A store that was assembled from backups: the homes belong to an existing user.
  if ((await findUser(database.db, owner.userId))?.slug === owner.slug) {
    await forgetHomes(database.db, owner)
    return { removed: 0, failures: [] }
  }
  const theirs = homes.filter(({ owner: { userId, slug } }) => userId === owner.userId && slug === owner.slug)
  const attempts = await Promise.allSettled(theirs.map(({ volume }) => runtime.removeHome(volume)))
  const reasons = attempts.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  if (reasons.length === 0) await forgetHomes(database.db, owner)
  else await postponeHomes(database.db, owner, now)
  // A home in use, perhaps by an operator who looks for a file, is no failure.
  return { removed: theirs.length - reasons.length, failures: reasons.filter((reason) => !isInUse(reason)) }
}

const isInUse = (reason: unknown) => reason instanceof RuntimeError && reason.kind === 'conflict'
