import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import { setMember } from '#/store/group-members.ts'
import { localSource } from '#/store/groups.ts'
import { insertUser } from '#/store/users.ts'
import { newGroup } from '#test/support/store/new-group.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { waitFor } from '#test/support/program.ts'
import { GroupStarts } from './group-starts.ts'

const now = new Date('2026-11-25T08:00:00Z')
/** More than start at the same time. */
const members = 70

// "Stop for all" answered that nothing ran, and the launches that waited behind 64 others began afterwards.
test('a stop of a group cancels launches of a start that still wait, and those of a later start begin', async (t) => {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const group = await newGroup(db, ['lab'], now)
  for (let each = 0; each < members; each++) {
    const { id } = await insertUser(db, { email: `u${each}@x.org`, slug: `u${each}`, isAdmin: false, now })
    await setMember(db, { groupId: group.id, userId: id, role: 'member', source: localSource, now })
  }
  const admin = await insertUser(db, { email: 'root@x.org', slug: 'root', isAdmin: true, now })
  const actor = { id: admin.id, email: admin.email, address: '127.0.0.1', language: 'en' } as const
  const engine = Promise.withResolvers<void>()
  const [launched, noted] = [[] as number[], [] as number[]]
  const starts = new GroupStarts({
    database,
    templates: new Templates([readTemplate('lab', { image: 'x' }).template ?? assert.fail()]),
    rules: { refusalFor: async () => undefined },
    spawner: {
      prestart: async ({ id }) => {
        launched.push(id)
        await engine.promise
        return { containerId: `c${id}` }
      },
      replace: () => assert.fail(),
    },
    admission: { isUp: () => false },
    onStart: ({ userId }) => void noted.push(userId),
    log: { warn: () => undefined },
  })
  const start = starts.start(actor, group.id, 'lab', now)
  await waitFor('64 launches', () => launched.length === 64)
  starts.cancel(group.id)
  starts.cancel(group.id + 1)
  engine.resolve()
  assert.deepEqual([(await start).count, launched.length], [64, 64])
  assert.deepEqual(noted, launched)

  assert.equal((await starts.start(actor, group.id, 'lab', now)).count, members)
  assert.equal(launched.length, 64 + members)
})
