import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { deleteRemovals, insertRemovals, pendingRemovals, type RemovedContainer } from '#/store/containers/removals.ts'
import { removalsTask } from './removals-task.ts'

test('two hundred containers that cannot be removed keep no other from being removed', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-removals-'))
  const database = await openDatabase(null, dataDir)
  t.after(async () => {
    await database.close()
    await rm(dataDir, { recursive: true })
  })
  const containerOf = (userId: number) => ({ userId, slug: `s${userId}`, type: 'dev' })
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
