import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { homeVolume } from '#/containers/container-name.ts'
import type { Home } from '#/engines/runtime-container.ts'
import { forgetHomes, keepHomes } from '#/store/kept-homes.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { PruneSnapshots } from './prune-snapshots.ts'

const now = new Date('2026-12-01T10:00:00Z')
const [second, hour] = [1_000, 3_600_000]
const homeOf = (userId: number, slug: string, type: string) => homeVolume('berth', userId, slug, type)

/** Snapshots of Ann's homes `dev`, which has a record, and `lab`, which has none, and of a deleted Bob; the engine has all homes. */
async function arrange(t: TestContext) {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const ann = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  await ensureContainer(db, ann.id, 'dev', 'image', now)
  const bob = { userId: ann.id + 1, slug: 'bob' }
  const [dev, lab, bobs] = [
    homeOf(ann.id, 'ann', 'dev'),
    homeOf(ann.id, 'ann', 'lab'),
    homeOf(bob.userId, 'bob', 'dev'),
  ]
  await keepHomes(db, [{ ...bob, type: 'dev', volume: bobs }], new Date(now.getTime() + hour))
  const snapshots = new Set([dev, bobs])
  const homes = new Set([dev, lab, bobs])
  let [lists, steady] = [0, 0]
  const pruning = new PruneSnapshots({
    db,
    installation: 'berth',
    runtime: {
      homes: async () => {
        lists++
        return [...homes].map((volume) => ({ volume }) as Home)
      },
    },
    files: { volumes: async () => [...snapshots], removeAll: async (volume) => void snapshots.delete(volume) },
    steady: () => steady,
  })
  const run = async (after = 0) => {
    steady += after
    return pruning.run()
  }
  return { db, bob, dev, lab, bobs, snapshots, homes, run, lists: () => lists }
}

test('no home is listed while every home has a record, or is kept for a deleted user', async (t) => {
  const { db, bob, dev, bobs, snapshots, homes, run, lists } = await arrange(t)
  assert.deepEqual([await run(), await run(hour), lists()], [0, 0, 0])
  homes.delete(bobs)
  await forgetHomes(db, bob)
  assert.equal(await run(), 1)
  assert.deepEqual([...snapshots], [dev])
})

// Each run of the reconciler listed all homes while the snapshots of one deleted container were kept.
test('for a home that stays without a record all homes are listed ever more rarely, at last once an hour', async (t) => {
  const { lab, snapshots, homes, run, lists } = await arrange(t)
  snapshots.add(lab)
  for (let each = 0; each < 120; each++) await run(30 * second)
  assert.ok(lists() < 12, `${lists()} lists in an hour`)
  const before = lists()
  for (let each = 0; each < 240; each++) await run(30 * second)
  assert.ok(lists() - before <= 3, `${lists() - before} lists in the next two`)
  homes.delete(lab)
  assert.equal(await run(hour), 1)
  assert.ok(!snapshots.has(lab))
})

test('a home that loses its record while another has none is looked for at once', async (t) => {
  const { lab, snapshots, run } = await arrange(t)
  snapshots.add(lab)
  await run()
  snapshots.add('berth-home-7-gone-dev')
  assert.equal(await run(second), 1)
  assert.ok(snapshots.has(lab))
})

// A store of another installation was restored into the data folder: within 30 s all snapshots of the one before were gone.
test('snapshots of another installation that had this data folder stay, whose homes the engine does not list here', async (t) => {
  const { dev, bobs, snapshots, run, lists } = await arrange(t)
  const others = ['other-home-1-ann-dev', 'berth2-home-1-ann-dev', 'berth-home-of-mine']
  for (const volume of others) snapshots.add(volume)
  assert.deepEqual([await run(), await run(hour), lists()], [0, 0, 0])
  assert.deepEqual([...snapshots], [dev, bobs, ...others])
})
