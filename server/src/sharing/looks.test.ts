import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setShare } from '#/store/container-shares.ts'
import { insertGroup, localSource } from '#/store/groups.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { GroundlessLooks } from './looks.ts'

const now = new Date('2026-11-23T08:00:00Z')
const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000)

// Each change of a member, and each run of the reconciler, deleted looks of which there were none.
test('without a look the store is asked once; one that was allowed is deleted when its reason is over', async (t) => {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const deletions = t.mock.method(db, 'deleteFrom').mock
  const looks = new GroundlessLooks(db)
  for (const minutes of [0, 1, 2]) await looks.delete(later(minutes))
  assert.equal(deletions.callCount(), 1)

  const [ann, tom] = await Promise.all(
    ['ann', 'tom'].map((slug) => insertUser(db, { email: `${slug}@x.org`, slug, isAdmin: false, now })),
  )
  assert.ok(ann && tom)
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const fields = { name: 'Course', description: '', types: null, limits, expiresAt: null, source: localSource }
  const group = await insertGroup(db, { ...fields, createdAt: now })
  assert.ok(group)
  const { id: recordId } = await ensureContainer(db, ann.id, 'lab', 'image', now)
  const to = { managerId: tom.id, askedInId: group.id }
  await setShare(db, { recordId, to, may: 'look', now, expiresAt: later(60) })
  looks.note(later(60))
  // Neither is in the group.
  await looks.delete(later(3))
  assert.equal((await db.selectFrom('container_shares').selectAll().execute()).length, 0)
  await looks.delete(later(61))
  assert.equal(deletions.callCount(), 2)
})
