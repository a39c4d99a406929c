import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import type { Home, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { IsSettled } from '#/machine/settled-dates.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import {
  forgetHomes,
  isDueOwner,
  listDueOwners,
  listRemovals,
  notKeptUntil,
  postponeHomes,
  type FormerOwner,
  type RemovedContainer,
} from '#/store/removals.ts'
import { findUser } from '#/store/users.ts'
import { Unfinished, type Task } from './reconciler.ts'

/** Max parallel removals, and in one run; the others follow in the next, which begins soon. */
const [maxParallel, maxPerRun] = [8, 200]
/** Timeout of one run, in ms; programs may take 10 s to end. Removals in progress continue after it. */
const removalsRunTimeout = 15_000
/** Timeout of an administrator's request that waits for removals, in ms. */
const answerTimeout = 6_000

/**
 * Removes from the engine what was deleted while the engine did not answer, or before a crash; without a grace period.
 */
export function removalsTask(database: Database, removal: Pick<ContainerRemoval, 'finish'>): Task {
  /** Where the next run begins: a page that always fails must not keep others from being removed. */
  let after = 0
  return {
    name: 'removals',
    async run() {
      const isFromStart = after === 0
      const pending = await listRemovals(database.db, maxPerRun, after)
      after = pending.length < maxPerRun ? 0 : (pending.at(-1)?.id ?? 0)
      const failures: unknown[] = []
      const removed = await removeAll(pending, removal, removalsRunTimeout, (reason) => failures.push(reason))
      if (failures.length > 0) throw new Unfinished(failures)
      const isAll = isFromStart && removed === pending.length && pending.length < maxPerRun
      if (!isAll) throw new Unfinished([new Error('deleted containers are still being removed')])
      return { removed }
    },
  }
}

/**
 * Removes containers whose record was just deleted, then the homes of their owners that are not kept. Never throws: the tasks,
 * which are activated when anything is left, do the rest.
 * @param removeHomes of one owner, unless they are kept
 * @returns whether nothing is left
 */
export function finishRemovals(
  removal: ContainerRemoval,
  removeHomes: (owner: FormerOwner) => Promise<void>,
  activate: () => void,
  log: Logger,
): (containers: readonly RemovedContainer[]) => Promise<boolean> {
  const removeContainers = async (containers: readonly RemovedContainer[]) => {
    const report = (reason: unknown) => log.warn({ err: reason }, 'removing a deleted container failed; it is retried')
    return (await removeAll(containers, removal, answerTimeout, report)) === containers.length
  }
  const removeAllHomes = async (containers: readonly RemovedContainer[]) => {
    for (const owner of new Map(containers.map((each) => [each.userId, each])).values()) await removeHomes(owner)
    return true
  }
  const removeBoth = async (containers: readonly RemovedContainer[]) =>
    (await removeContainers(containers)) &&
    (await tryOrLog(log, 'removing the homes of deleted people', () => removeAllHomes(containers))) === true
  return async (containers) => {
    const isDone = (await withTimeout(answerTimeout, removeBoth(containers))) === true
    if (!isDone) activate()
    return isDone
  }
}

/** Stops at the timeout; removals in progress continue. @returns the number that is done by then */
async function removeAll(
  containers: readonly RemovedContainer[],
  removal: Pick<ContainerRemoval, 'finish'>,
  timeout: number,
  report: (reason: unknown) => void,
): Promise<number> {
  const limit = pLimit(maxParallel)
  let removed = 0
  await withTimeout(
    timeout,
    limit.map(containers, (each) => removal.finish(each).then(() => removed++, report)),
  )
  limit.clearQueue()
  return removed
}

/** Max former owners whose homes are removed at the same time, and in one run; the others follow in the next. */
const [maxParallelOwners, maxOwners] = [4, 50]
/** Timeout of one run, in ms. Removals in progress continue after it. */
const homesRunTimeout = 15_000

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
    pLimit(maxParallelOwners).map(owners, async (owner) => {
      if (isOver()) return noHomes
      underWay.add(ownerKey(owner))
      return removeHomesOf(owner, homes, { database, runtime }, now).finally(() => underWay.delete(ownerKey(owner)))
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
      const owners = due.filter((owner) => !underWay.has(ownerKey(owner)))
      // The list has a limit of its own, and takes longer than the removals where there are tens of thousands.
      const homes = owners.length === 0 ? [] : await runtime.homes()
      let isOver = false
      const removal = removeAll(owners, homes, now, () => isOver)
      const outcomes = await withTimeout(runTimeout ?? homesRunTimeout, removal)
      isOver = true
      const failures = (outcomes ?? []).flatMap((each) => each.failures)
      if (failures.length > 0) throw new Unfinished(failures)
      if (!outcomes || due.some((owner) => underWay.has(ownerKey(owner))))
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

interface RemovedHomes {
  readonly removed: number
  readonly failures: readonly unknown[]
}

const noHomes: RemovedHomes = { removed: 0, failures: [] }

const ownerKey = ({ userId, slug }: FormerOwner) => `${userId} ${slug}`

async function removeHomesOf(
  owner: FormerOwner,
  homes: readonly Home[],
  { database, runtime }: Pick<KeptHomesParts, 'database' | 'runtime'>,
  now: Date,
): Promise<RemovedHomes> {
  // A store that was assembled from backups: the homes belong to an existing user.
  if ((await findUser(database.db, owner.userId))?.slug === owner.slug) {
    await forgetHomes(database.db, owner)
    return noHomes
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
