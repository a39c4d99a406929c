import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertGroup, localSource } from '#/store/groups.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { GroupDirectory } from './group-directory.ts'

// The timers of expiry and hours did not begin for a group whose publication had failed: no later read found a difference.
test('a change whose publication fails is published and reported by the next read, once', async (t) => {
  const { database } = await openTemporaryStore(t)
  const directory = new GroupDirectory(database.db)
  const gateway = { isSilent: true, published: 0 }
  let reported = 0
  directory.publishBy(async () => {
    if (gateway.isSilent) throw new Error('the gateway does not answer')
    gateway.published++
  })
  directory.onChange(() => void reported++)
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const createdAt = new Date('2026-11-25T08:00:00Z')
  const fields = { name: 'Physics', description: '', types: ['lab'], limits, source: localSource }
  assert.ok(await insertGroup(database.db, { ...fields, expiresAt: createdAt, createdAt }))
  await assert.rejects(directory.refresh(), /the gateway does not answer/)
  assert.equal(reported, 0)
  gateway.isSilent = false
  await directory.refresh()
  assert.deepEqual([gateway.published, reported, directory.hasEnding], [1, 1, true])
  await directory.refresh()
  assert.deepEqual([gateway.published, reported], [1, 1])
})
