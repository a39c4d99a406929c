import assert from 'node:assert/strict'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { test, type TestContext } from 'node:test'
import { homeVolume } from '#/containers/container-name.ts'
import type { Home, HomeContents } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { refusals } from '#/refusals/errors.ts'
import { forgetHomes, keepHomes } from '#/store/removals.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { HomeAccess, type HomeAccessParts } from './home-access.ts'
import { HomeSnapshots, PruneSnapshots, outdatedSnapshots, type HomeSnapshotsParts } from './home-snapshots.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

const now = new Date('2026-12-01T10:00:00Z')
const ann = { id: 1, slug: 'ann' }

/** A home without end: reading it ends by the signal alone. */
class EndlessHome implements Pick<HomeContents, 'read'> {
  reads = 0
  ended = 0

  async *read(_volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.reads++
    try {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('the engine ended it'))))
      yield new Uint8Array()
    } finally {
      this.ended++
    }
  }
}

function arrange(timeLimit?: number) {
  const home = new EndlessHome()
  const warnings: unknown[] = []
  const access = new HomeAccess({
    homes: unsharedHomes(),
    isOn: true,
    contents: home,
    singleFlight: new SingleFlight(),
    installation: 'berth',
    timeLimit,
  } as unknown as HomeAccessParts)
  const write: SnapshotFiles['write'] = async (_volume, _reason, archive) => {
    for await (const _ of archive);
    throw new Error('an endless home has ended')
  }
  const log = { warn: (fields: unknown) => void warnings.push(fields), info: () => undefined }
  const snapshots = new HomeSnapshots({
    access,
    maxBytes: 1_000,
    files: { write },
    log,
  } as unknown as HomeSnapshotsParts)
  return { home, access, warnings, before: (signal: AbortSignal) => snapshots.beforeImage(ann, 'dev', now, signal) }
}

// The signal was dropped: a stop of the launch waited until the home was read, a quarter of an hour at most.
test('a launch that is cancelled while its home is read ends when the read has', async () => {
  const { home, before, warnings } = arrange()
  const cancel = new AbortController()
  const launch = before(cancel.signal)
  while (home.reads === 0) await new Promise(setImmediate)
  cancel.abort(refusals.launchStopped())
  await assert.rejects(launch, { code: 'launchStopped' })
  assert.deepEqual([home.ended, warnings], [1, []])
})

test('a launch that is cancelled while it waits behind other homes ends at once, and reads nothing', async () => {
  const { home, access, before } = arrange()
  const others = Promise.withResolvers<void>()
  const both = [101, 102].map((id) => access.runNext({ id }, () => others.promise))
  const cancel = new AbortController()
  const launch = before(cancel.signal)
  cancel.abort(refusals.launchStopped())
  await assert.rejects(launch, { code: 'launchStopped' })
  others.resolve()
  await Promise.all(both)
  await new Promise(setImmediate)
  assert.equal(home.reads, 0)
})

// The operator corrects the name of an image that could not be pulled: the log warned of a home without a snapshot, and there was none.
test('before the first home of a container there is nothing to keep, and nothing to warn of', async () => {
  const { home, before, warnings } = arrange()
  home.read = () => {
    throw new RuntimeError('missing', 'read a home')
  }
  await before(new AbortController().signal)
  assert.deepEqual(warnings, [])
})

test('a launch whose snapshot does not begin in time is refused with words, and one whose snapshot fails goes on', async () => {
  const { home, access, before, warnings } = arrange(100)
  const others = Promise.withResolvers<void>()
  const both = [101, 102].map((id) => access.runNext({ id }, () => others.promise))
  const alive = setInterval(() => undefined, 1_000)
  await assert.rejects(before(new AbortController().signal), { code: 'snapshotsBusy' })
  others.resolve()
  await Promise.all(both)
  assert.deepEqual([home.reads, warnings.length], [0, 0])
  await before(new AbortController().signal)
  assert.deepEqual([home.reads, warnings.length], [1, 1])
  clearInterval(alive)
})

const day = 86_400_000
const retentionNow = Date.parse('2026-12-01T00:00:00Z')
/** Snapshots of these ages in days, of which the first was just made, and the ages of those that stay. */
const keptOf = (...ages: number[]) => {
  const all = ages.map((age) => ({
    id: String(age),
    reason: 'manual' as const,
    createdAt: new Date(retentionNow - age * day),
    bytes: 1,
  }))
  const gone = new Set(outdatedSnapshots(all, retentionNow, String(ages[0])))
  return all.filter((each) => !gone.has(each)).map(({ id }) => Number(id))
}

test('the three newest snapshots stay, in whatever order they are listed', () => {
  assert.deepEqual(keptOf(0), [0])
  assert.deepEqual(keptOf(2, 0, 1), [2, 0, 1])
})

test('of the others the newest that is a week old stays', () => {
  assert.deepEqual(keptOf(0, 1, 2, 7, 8, 30), [0, 1, 2, 7])
  assert.deepEqual(keptOf(0, 1, 2, 5, 6, 9), [0, 1, 2, 9])
})

test('while none of the others is a week old, the oldest stays, so that one grows old', () => {
  assert.deepEqual(keptOf(0, 1, 2, 3, 4), [0, 1, 2, 4])
  const ages = [0]
  for (let today = 1; today < 40; today++) {
    const next = keptOf(0, ...ages.map((age) => age + 1))
    ages.splice(0, ages.length, ...next)
    assert.ok(ages.length <= 4)
    if (today > 20)
      assert.ok(
        ages.some((age) => age >= 6),
        ages.join(),
      )
  }
})

test('after the clock was set back, the one just made stays beside three from the future, and makes room for later ones', () => {
  assert.deepEqual(keptOf(0, -1, -2, -3, 10), [0, -1, -2, 10])
  assert.deepEqual(keptOf(0, -1, -2, 1, 2), [0, -1, -2, 2])
})

const [second, hour] = [1_000, 3_600_000]
const homeOf = (userId: number, slug: string, type: string) => homeVolume('berth', userId, slug, type)

/** Snapshots of Ann's homes `dev`, which has a record, and `lab`, which has none, and of a deleted Bob; the engine has all homes. */
async function arrangePrune(t: TestContext) {
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
    names: unsharedHomes().names,
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
  const { db, bob, dev, bobs, snapshots, homes, run, lists } = await arrangePrune(t)
  assert.deepEqual([await run(), await run(hour), lists()], [0, 0, 0])
  homes.delete(bobs)
  await forgetHomes(db, bob)
  assert.equal(await run(), 1)
  assert.deepEqual([...snapshots], [dev])
})

// Each run of the reconciler listed all homes while the snapshots of one deleted container were kept.
test('for a home that stays without a record all homes are listed ever more rarely, at last once an hour', async (t) => {
  const { lab, snapshots, homes, run, lists } = await arrangePrune(t)
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
  const { lab, snapshots, run } = await arrangePrune(t)
  snapshots.add(lab)
  await run()
  snapshots.add('berth-home-7-gone-dev')
  assert.equal(await run(second), 1)
  assert.ok(snapshots.has(lab))
})

// A store of another installation was restored into the data folder: within 30 s all snapshots of the one before were gone.
test('snapshots of another installation that had this data folder stay, whose homes the engine does not list here', async (t) => {
  const { dev, bobs, snapshots, run, lists } = await arrangePrune(t)
  const others = ['other-home-1-ann-dev', 'berth2-home-1-ann-dev', 'berth-home-of-mine']
  for (const volume of others) snapshots.add(volume)
  assert.deepEqual([await run(), await run(hour), lists()], [0, 0, 0])
  assert.deepEqual([...snapshots], [dev, bobs, ...others])
})
