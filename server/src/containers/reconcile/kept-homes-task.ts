import pLimit from 'p-limit'
import { withTimeout } from '#/machine/try-or-log.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Home } from '#/engines/runtime-container.ts'
import type { Database } from '#/store/database.ts'
import {
  forgetHomes,
  isDueOwner,
  listDueOwners,
  notKeptUntil,
  postponeHomes,
  type FormerOwner,
} from '#/store/kept-homes.ts'
import { findUser } from '#/store/users.ts'
import { Unfinished, type Task } from './reconciler.ts'
import type { IsSettled } from './settled-day.ts'

/** Max former owners whose homes are removed at the same time, and in one run; the others follow in the next. */
const [maxParallel, maxOwners] = [4, 50]
/** Timeout of one run, in ms. Removals in progress continue after it. */
const defaultRunTimeout = 15_000

export interface KeptHomesParts {
  readonly database: Database
  readonly runtime: Pick<Runtime, 'homes' | 'removeHome'>
  readonly isSettled: IsSettled
  /** ms; for tests */
  readonly runTimeout?: number
}

/**
 * Removes the homes of deleted users after their retention: all with their id and slug, also of a type that is not
 * configured any more. Apart from a purge of one container nothing else removes a home. Until the clock can be relied on, only
 * homes that are not kept at all are removed.
 */
export function keptHomesTask({ database, runtime, isSettled, runTimeout }: KeptHomesParts): Task {
  /** Former owners whose homes are being removed, by id and slug; of one that hangs the next run begins nothing. */
  const underWay = new Set<string>()
  const removeAll = (owners: readonly FormerOwner[], homes: readonly Home[], now: Date, isOver: () => boolean) =>
    pLimit(maxParallel).map(owners, async (owner) => {
      if (isOver()) return nothing
      underWay.add(keyOf(owner))
      return removeHomesOf(owner, homes, { database, runtime }, now).finally(() => underWay.delete(keyOf(owner)))
    })
  /** At most half of the places are for those that are not kept: purged homes that are in use for long must not keep the others. */
  const dueOwners = async (now: Date): Promise<FormerOwner[]> => {
    const unkept = await listDueOwners(database.db, notKeptUntil, maxOwners / 2)
    if (!isSettled(now)) return unkept
    return [...unkept, ...(await listDueOwners(database.db, now, maxOwners - unkept.length, notKeptUntil))]
  }
  return {
    name: 'kept homes',
    async run(now) {
      const due = await dueOwners(now)
      const owners = due.filter((owner) => !underWay.has(keyOf(owner)))
      // It has a limit of its own, and takes longer than the removals where there are tens of thousands.
      const homes = owners.length === 0 ? [] : await runtime.homes()
      let isOver = false
      const removal = removeAll(owners, homes, now, () => isOver)
      const outcomes = await withTimeout(runTimeout ?? defaultRunTimeout, removal)
      isOver = true
      const failures = (outcomes ?? []).flatMap((each) => each.failures)
      if (failures.length > 0) throw new Unfinished(failures)
      if (!outcomes || due.some((owner) => underWay.has(keyOf(owner))))
        throw new Unfinished([new Error('homes of deleted users are still being removed')])
      return { removed: outcomes.reduce((sum, { removed }) => sum + removed, 0) }
    },
  }
}

/**
 * Removes the homes of one former owner now, if they are not kept, or not any more. @throws {Unfinished} @throws {RuntimeError}
 */
export async function removeUnkeptHomes(
  parts: Pick<KeptHomesParts, 'database' | 'runtime'>,
  owner: FormerOwner,
  now: Date,
): Promise<void> {
  if (!(await isDueOwner(parts.database.db, owner, now))) return
  const { failures } = await removeHomesOf(owner, await parts.runtime.homes(), parts, now)
  if (failures.length > 0) throw new Unfinished(failures)
}

interface Outcome {
  readonly removed: number
  readonly failures: readonly unknown[]
}

const nothing: Outcome = { removed: 0, failures: [] }

const keyOf = ({ userId, slug }: FormerOwner) => `${userId} ${slug}`

async function removeHomesOf(
  owner: FormerOwner,
  homes: readonly Home[],
  { database, runtime }: Pick<KeptHomesParts, 'database' | 'runtime'>,
  now: Date,
): Promise<Outcome> {
  // A store that was assembled from backups: the homes belong to an existing user.
  if ((await findUser(database.db, owner.userId))?.slug === owner.slug) {
    await forgetHomes(database.db, owner)
    return nothing
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
