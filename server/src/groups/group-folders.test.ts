import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { notKept } from '#/store/removals.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { GroupFolders } from './group-folders.ts'

const nothing = async () => undefined

// Each run began with the same ones: of a school that ended with many folders in use, none was removed.
test('folders that are in use keep no others from being removed', async (t) => {
  const { database } = await openTemporaryStore(t)
  const names = Array.from({ length: 25 }, (_, at) => `berth-folder-${10 + at}`)
  const rows = names.map((volume) => ({ volume, group_id: null, name: null, members: 'read' as const }))
  const due = rows.map((row) => ({ ...row, remove_after: notKept.getTime() }))
  await database.db.insertInto('group_folders').values(due).execute()
  const inUse = new Set(names.slice(0, 22))
  const removed: string[] = []
  const { task } = new GroupFolders({
    database,
    directory: { refresh: nothing },
    runtime: {
      inspectId: nothing,
      removeStopped: nothing,
      async removeFolder(volume) {
        if (inUse.has(volume)) throw new RuntimeError('conflict', 'a container has it')
        removed.push(volume)
      },
    },
    installation: 'berth',
    isSettled: () => true,
    activate: () => undefined,
  })
  for (let run = 0; run < 2; run++) await task.run(new Date())
  assert.deepEqual(removed, names.slice(22))
  inUse.clear()
  await task.run(new Date())
  assert.equal(removed.length, 23)
})
