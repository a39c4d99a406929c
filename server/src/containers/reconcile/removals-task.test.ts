import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteRemovals, insertRemovals, pendingRemovals, type RemovedContainer } from '#/store/removals.ts'
import { removalsTask } from './removals-task.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

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
