import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { suite, test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { blockContainersOfGroup, unblockContainersOfGroup } from '#/store/container-blocks.ts'
import { ensureContainer, findContainer, type BlockSource } from '#/store/user-containers.ts'
import { localSource } from '#/store/groups.ts'
import { dialects, newUsers, now } from '#test/support/store/both-databases.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

/** Last migration before blocks had several sources. */
const older = '028-usage-of-subjects'

for (const dialect of dialects)
  suite(dialect, () => {
    test('an upgrade keeps who has blocked a container, and a group that blocks it afterwards is one more', async (t) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'berth-upgrade-'))
      t.after(() => rm(folder, { recursive: true, force: true }))
      const postgres = dialect === 'PostgreSQL' ? await startPostgres() : undefined
      t.after(() => postgres?.stop())
      const url = postgres?.url ?? null

      const before = await openDatabase(url, folder, { until: older })
      // By columns of that time.
      const newGroup = (name: string) =>
        before.db
          .insertInto('user_groups')
          .values({ name, description: '', types: '["lab"]', source: localSource, created_at: now.getTime() })
          .returning('id')
          .executeTakeFirstOrThrow()
      const [physics, maths] = [await newGroup('Physics'), await newGroup('Maths')]
      const newUser = newUsers(() => before.db, now)
      const blockedBy = async (source: BlockSource, ownerIsBlocked = false) => {
        const { id } = await newUser()
        const record = await ensureContainer(before.db, id, 'lab', 'x', now)
        const block = { is_blocked: 1, blocked_at: 5, block_source: source }
        await before.db.updateTable('user_containers').set(block).where('id', '=', record.id).execute()
        if (ownerIsBlocked) await before.db.updateTable('users').set({ is_blocked: 1 }).where('id', '=', id).execute()
        return id
      }
      const [byGroup, byAdmin, byOwner, byGone] = [
        await blockedBy(`group:${physics.id}`),
        await blockedBy('container'),
        await blockedBy('user', true),
        await blockedBy('group:4711'),
      ]
      await before.close()

      const { db, close } = await openDatabase(url, folder)
      t.after(close)
      const all = [byGroup, byAdmin, byOwner, byGone]
      const sources = () =>
        Promise.all(all.map(async (id) => (await findContainer(db, id, 'lab'))?.blockSource ?? null))
      const ofPhysics = `group:${physics.id}`
      assert.deepEqual(await sources(), [ofPhysics, 'container', 'user', 'group:4711'])

      await blockContainersOfGroup(db, { ...maths, types: ['lab'] }, [byGroup], { by: null, at: now })
      const { released, kept } = await unblockContainersOfGroup(db, physics.id, 100)
      assert.deepEqual([released.length, kept.length], [0, 1])
      assert.deepEqual(await sources(), [`group:${maths.id}`, 'container', 'user', 'group:4711'])
      await unblockContainersOfGroup(db, maths.id, 100)
      assert.deepEqual(await sources(), [null, 'container', 'user', 'group:4711'])
    })
  })
