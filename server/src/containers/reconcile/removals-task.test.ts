import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { personalFactsTask } from '#/accounts/housekeeping-tasks.ts'
import { settledDay } from '#/machine/settled-dates.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteRemovals,
  insertRemovals,
  keepHomes,
  notKept,
  pendingRemovals,
  type RemovedContainer,
} from '#/store/removals.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { keptHomesTask, removalsTask, type KeptHomesParts } from './removals-task.ts'

test('two hundred containers that cannot be removed keep no other from being removed', async (t) => {
  const { database } = await openTemporaryStore(t)
  const containerOf = (userId: number) => ({ userId, slug: `s${userId}`, type: 'dev', containerId: null })
  const all = Array.from({ length: 230 }, (_, index) => containerOf(index + 1))
  await insertRemovals(database.db, all, { isPurge: false, now: new Date() })
  let isStuck = ({ userId }: RemovedContainer) => userId <= 200
  const removed: number[] = []
  const task = removalsTask(database, {
    finish: async (container) => {
      if (isStuck(container)) throw new Error('it is busy')
      removed.push(container.userId)
      const pending = await pendingRemovals(database.db, container)
      await deleteRemovals(
        database.db,
        pending.map(({ id }) => id),
      )
    },
  })
  const run = () => task.run(new Date())
  await assert.rejects(run(), { name: 'Unfinished' })
  await assert.rejects(run(), { name: 'Unfinished' }, 'those before are still to be done')
  assert.equal(removed.length, 30)
  isStuck = () => false
  await assert.rejects(run(), { name: 'Unfinished' }, 'a whole page is done, and there may be more')
  await assert.rejects(run(), { name: 'Unfinished' })
  assert.equal(removed.length, 230)
  assert.deepEqual(await run(), { removed: 0 })
})

const [minute, day] = [60_000, 86_400_000]
const now = new Date('2026-11-28T10:00:00Z')
const ownerOf = (userId: number) => ({ userId, slug: `s${userId}`, type: 'dev' })

/** Former owners with a home each, of which those that an engine was told to remove are counted. */
async function arrange(t: TestContext, owners: number, keptUntil: Date, parts: Partial<KeptHomesParts>) {
  const { database } = await openTemporaryStore(t)
  const homes = Array.from({ length: owners }, (_, at) => ({ volume: `v${at + 1}`, owner: ownerOf(at + 1) }))
  const kept = homes.map(({ volume, owner }) => ({ volume, ...owner }))
  await keepHomes(database.db, kept, keptUntil)
  const removed: string[] = []
  const world = {
    answered: Promise.resolve(),
    listed: Promise.resolve() as Promise<unknown>,
    refused: new Set<string>(),
  }
  const runtime = {
    homes: async () => {
      await world.listed
      return homes.filter(({ volume }) => !removed.includes(volume))
    },
    removeHome: async (volume: string) => {
      if (world.refused.has(volume)) throw new Error('in use')
      removed.push(volume)
      await world.answered
    },
  }
  const task = keptHomesTask({ database, runtime, isSettled: () => true, ...parts })
  return { removed, database, world, run: (at = now) => task.run(at) }
}

// One volume after the other, for up to a minute each: nothing else was reconciled for 50 minutes.
test('a run ends in time although homes are removed slowly; the others follow, and none is asked for twice', async (t) => {
  const { removed, world, run } = await arrange(t, 50, now, { runTimeout: 50 })
  const answered = Promise.withResolvers<void>()
  world.answered = answered.promise
  await assert.rejects(run(), { name: 'Unfinished' })
  const begun = removed.length
  assert.ok(begun >= 1 && begun <= 8, `${begun} at the same time`)
  answered.resolve()
  let runs = 0
  for (let isDone = false; !isDone && runs < 200; runs++) {
    await turn()
    isDone = await run().then(
      () => true,
      () => false,
    )
  }
  assert.deepEqual(removed.toSorted(), Array.from({ length: 50 }, (_, at) => `v${at + 1}`).toSorted())
})

test('a home whose removal hangs is not asked for again by the next run, which is not done either', async (t) => {
  const { removed, world, run } = await arrange(t, 1, now, { runTimeout: 20 })
  const hung = Promise.withResolvers<void>()
  t.after(() => hung.resolve())
  world.answered = hung.promise
  await assert.rejects(run(), { name: 'Unfinished' })
  await assert.rejects(run(), { name: 'Unfinished' })
  assert.deepEqual(removed, ['v1'])
})

// A machine without a battery starts with any clock: all kept homes were removed before a time server had set it.
test('a clock that is a year ahead at the start removes no kept home', async (t) => {
  let steady = 30_000
  const isSettled = settledDay(10 * minute, () => steady)
  const { removed, run } = await arrange(t, 1, new Date(now.getTime() + 30 * day), { isSettled })
  const ahead = (minutes: number) => new Date(now.getTime() + 365 * day + minutes * minute)
  await run(ahead(0))
  assert.deepEqual(removed, [])
  steady += 9 * minute
  await run(ahead(9))
  assert.deepEqual(removed, [])
  steady += minute
  await run(ahead(10))
  assert.deepEqual(removed, ['v1'])
})

test('homes of a purge are removed whatever the clock says, also after an attempt that failed', async (t) => {
  const { removed, world, run } = await arrange(t, 2, notKept, { isSettled: () => false })
  world.answered = Promise.reject(new Error('in use'))
  await assert.rejects(run(), { name: 'Unfinished' })
  removed.length = 0
  world.answered = Promise.resolve()
  await run()
  assert.deepEqual(removed, ['v1', 'v2'])
})

// They were always the first of those that are due, and personal data stayed for good.
test('purged homes that are in use for long do not keep others from being removed', async (t) => {
  const { removed, database, world, run } = await arrange(t, 60, notKept, {})
  world.refused = new Set(Array.from({ length: 59 }, (_, at) => `v${at + 1}`))
  await keepHomes(database.db, [{ volume: 'v60', ...ownerOf(60) }], new Date(now.getTime() - day))
  await run().catch(() => undefined)
  assert.ok(removed.includes('v60'))
})

// Each run gave up before the list came, and began another one.
test('homes are removed although the engine takes longer to list them than a run may take', async (t) => {
  const { removed, world, run } = await arrange(t, 1, now, { runTimeout: 20 })
  world.listed = sleep(60)
  await run()
  assert.deepEqual(removed, ['v1'])
})

test('personal facts of the audit log are not deleted while the clock cannot be relied on', async () => {
  // This store throws when it is asked for anything.
  const noStore = {} as Database
  assert.deepEqual(await personalFactsTask(noStore, 1, () => false).run(now), {})
})
