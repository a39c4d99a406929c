import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ensureContainer, noteRunning, type ContainerRef } from '#/store/user-containers.ts'
import { setMember } from '#/store/group-members.ts'
import { localSource } from '#/store/groups.ts'
import { insertUser } from '#/store/users.ts'
import { newGroup } from '#test/support/store/new-group.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { GroupContainers } from './group-containers.ts'

const now = new Date('2026-11-25T08:00:00Z')

/** A group for `lab`: the container of ann runs, that of ben ran until the engine ended, that of eve was stopped. */
async function arrange(
  t: TestContext,
  stop: (owned: ContainerRef) => Promise<boolean>,
  publish: () => Promise<void> = async () => undefined,
) {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const group = await newGroup(db, ['lab'], now)
  const users = new Map<string, number>()
  for (const slug of ['ann', 'ben', 'eve']) {
    const { id } = await insertUser(db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    users.set(slug, id)
    await setMember(db, { groupId: group.id, userId: id, role: 'member', source: localSource, now })
    for (const type of ['lab', 'dev']) await ensureContainer(db, id, type, 'x', now)
    if (slug !== 'eve') for (const type of ['lab', 'dev']) await noteRunning(db, id, type, now)
  }
  const admin = await insertUser(db, { email: 'root@x.org', slug: 'root', isAdmin: true, now })
  const nameOf = (userId: number) => [...users].find(([, id]) => id === userId)?.[0]
  const [enforced, cancelled] = [[] as string[], [] as number[]]
  const groups = new GroupContainers({
    database,
    occupantsOf: (userId) => (userId === users.get('ann') ? ['lab', 'dev'].map((type) => ({ userId, type })) : []),
    stop,
    containers: {
      publishUsers: publish,
      stopBlocked: async (records) =>
        void enforced.push(...records.map(({ userId, type }) => `${nameOf(userId)} ${type}`)),
    },
    cancelStarts: (groupId) => void cancelled.push(groupId),
    report: () => undefined,
  })
  const actor = { id: admin.id, email: admin.email, address: '127.0.0.1', language: 'en' } as const
  const [stopAll, blockAll] = [() => groups.stop(actor, group.id, now), () => groups.block(actor, group.id, now)]
  return { stopAll, blockAll, nameOf, enforced, cancelled, group }
}

// While the engine was away a group was stopped: "0 stopped, 0 failed" was answered, and the engine's return restored all.
test('a stop of a group concerns also what is to be restored after an outage of the engine', async (t) => {
  const asked: ContainerRef[] = []
  const { stopAll, nameOf } = await arrange(t, async (owned) => asked.push(owned) > 0)
  assert.deepEqual(await stopAll(), { stopped: 2, failed: 0, underWay: 0 })
  assert.deepEqual(asked.map(({ userId, type }) => `${nameOf(userId)} ${type}`).sort(), ['ann lab', 'ben lab'])
})

test('what cannot be stopped because the engine is away is told as failed', async (t) => {
  const { stopAll } = await arrange(t, async () => {
    throw new Error('the engine does not answer')
  })
  assert.deepEqual(await stopAll(), { stopped: 0, failed: 2, underWay: 0 })
})

// Nothing was stopped before all pages were stored and published: when the gateway failed, blocked containers ran on.
test('what a block of a group has stored is stopped also when the gateway fails, and without waiting for it', async (t) => {
  const stop = async () => true
  const failing = await arrange(t, stop, () => Promise.reject(new Error('the gateway does not answer')))
  await assert.rejects(failing.blockAll(), /the gateway does not answer/)
  assert.deepEqual(failing.enforced.sort(), ['ann lab', 'ben lab', 'eve lab'])

  const published = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const slow = await arrange(t, stop, () => (asked.resolve(), published.promise))
  const block = slow.blockAll()
  await asked.promise
  await new Promise(setImmediate)
  assert.equal(slow.enforced.length, 3)
  published.resolve()
  assert.equal(await block, 3)
})

test('a stop and a block of a group cancel its starts that are under way', async (t) => {
  const { stopAll, blockAll, cancelled, group } = await arrange(t, async () => true)
  await stopAll()
  assert.deepEqual(cancelled, [group.id])
  await blockAll()
  assert.deepEqual(cancelled, [group.id, group.id])
})
