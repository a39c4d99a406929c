import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { ExitedOnStart, explainFailure } from '#/containers/launch/launch-failure.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { refusals } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { openDatabase } from '#/store/database.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { ensureContainer, findContainer, noteRunning } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { Restorer } from './restorer.ts'
import { ActionCounters } from './action-executor.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'
import { copyEmptyStore, quickFolder } from '#test/support/store/empty-store.ts'

const now = new Date('2026-11-01T12:00:00Z')

/** A restorer over a real store, whose spawner fails as the test says: what it throws for this user at this attempt. */
async function arrange(
  t: TestContext,
  people: number,
  fail: (user: number, attempt: number) => unknown,
  isMemoryShort = false,
) {
  const dataDir = await mkdtemp(path.join(quickFolder(), 'berth-restore-'))
  await copyEmptyStore(dataDir)
  const database = await openDatabase(null, dataDir)
  const ids: number[] = []
  for (let each = 1; each <= people; each++) {
    const user = await insertUser(database.db, { email: `${each}@x.org`, slug: `u${each}`, isAdmin: false, now })
    await ensureContainer(database.db, user.id, 'dev', 'image', now)
    await noteRunning(database.db, user.id, 'dev', now)
    ids.push(user.id)
  }
  const [started, attempts]: [number[], Map<number, number>] = [[], new Map()]
  const restorer = new Restorer({
    db: database.db,
    templates: new Templates([{ type: 'dev' } as Template]),
    runtime: { inspectId: async () => undefined, logs: async () => [] },
    spawner: {
      restore: async ({ id }) => {
        const attempt = (attempts.get(id) ?? 0) + 1
        attempts.set(id, attempt)
        await sleep(1)
        const failure = fail(id, attempt)
        if (failure) throw failure as Error
        started.push(id)
        return { containerId: '' }
      },
    },
    counters: new ActionCounters(),
    routeSync: { isEngineAnswering: true },
    hostResources: { isMemoryShort: async () => isMemoryShort },
    log: pino({ level: 'silent' }),
    pauses: { server: [4, 16], container: [4, 16], poll: 2 },
  })
  t.after(async () => {
    await restorer.stop()
    await database.close()
    await rm(dataDir, { recursive: true })
  })
  const owned = ids.map((userId) => ({ userId, type: 'dev' }))
  const shouldRun = async (userId = 0) => (await findContainer(database.db, userId, 'dev'))?.runningSince !== null
  return { restorer, ids, owned, started, attempts, shouldRun }
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + waitLimit(20_000); !isSo(); await sleep(5))
    assert.ok(performance.now() < end, 'in time')
}

const crash = (exitCode: number, isOutOfMemory = false) =>
  explainFailure(
    { logs: async () => [], inspectId: async () => undefined },
    new ExitedOnStart('u1', { state: 'exited', exitCode, isOutOfMemory } as RuntimeContainer),
  )

const outOfMemory = await crash(137, true)

for (const [words, failure] of [
  ['the server is full', refusals.serverFull()],
  ['too many wait for a start', refusals.tooManyLaunches()],
  ['their owner has as many as may run', refusals.tooManyOfYours(1)],
  ['the store fails', new StoreFailure('locked')],
  ['the engine does not answer', new RuntimeError('unreachable', 'start')],
  ['no network has room', new RuntimeError('full', 'start')],
  ['the image cannot be had', new RuntimeError('image', 'create')],
  ['the engine cannot', new RuntimeError('failed', 'start')],
  ['a person kills it', await crash(137)],
  ['memory of the host is short, whose OOM killer ends it', outOfMemory],
] as const)
  test(`while ${words} nothing is given up, and all is started once it can be`, async (t) => {
    let isOver = false
    const { restorer, ids, owned, started, attempts, shouldRun } = await arrange(
      t,
      5,
      () => (isOver ? null : failure),
      true,
    )
    restorer.begin(owned)
    await until(() => Math.max(...attempts.values()) >= 8)
    assert.deepEqual(started, [])
    for (const id of ids) assert.equal(await shouldRun(id), true)
    assert.equal(restorer.pending.size, 5)
    isOver = true
    await until(() => restorer.pending.size === 0)
    assert.deepEqual(restorer.warnings(), [])
  })

for (const [words, failure] of [
  ['ends by itself', await crash(3)],
  ['needs more memory than its limit, while the host has enough,', outOfMemory],
] as const)
  test(`a program that ${words} after each of three starts is given up, alone, and told`, async (t) => {
    const { restorer, ids, owned, started, attempts, shouldRun } = await arrange(t, 3, (id) =>
      id === 2 ? failure : null,
    )
    restorer.begin(owned)
    await until(() => restorer.pending.size === 0)
    assert.equal(attempts.get(2), 3)
    assert.deepEqual(started.toSorted(), [ids[0], ids[2]])
    assert.equal(await shouldRun(2), false)
    assert.equal(await shouldRun(1), true)
    assert.equal(restorer.warnings().length, 1)
  })

test('what people ask for is started first, in the order in which they ask, however long there was no room', async (t) => {
  // Room comes as the first in line tries; at any other moment, whatever is tried just then has it.
  let [firstInLine, mayHaveRoom] = [0, false]
  let isFull = true
  const { restorer, ids, owned, started } = await arrange(t, 40, (id) => {
    if (mayHaveRoom && id === firstInLine) isFull = false
    return isFull ? refusals.serverFull() : null
  })
  firstInLine = ids[30] ?? 0
  restorer.begin(owned)
  await observationTime(50)
  for (const at of [30, 20, 35]) restorer.promote({ userId: ids[at] ?? 0, type: 'dev' })
  await observationTime(50)
  assert.deepEqual(started, [])
  mayHaveRoom = true
  await until(() => restorer.pending.size === 0)
  assert.deepEqual(started.slice(0, 3), [ids[30], ids[20], ids[35]])
  assert.equal(started.length, 40)
})

for (const [words, failure] of [
  ['about which an engine in good health does not answer', new RuntimeError('unreachable', 'start')],
  ['for whose networks there is no room', new RuntimeError('full', 'create')],
  ['that have to be made, for which the disk has no room', refusals.serverFull()],
] as const)
  test(`eight containers ${words} keep no other from being started`, async (t) => {
    const isStuck = (id: number) => id <= 8
    const { restorer, ids, owned, started, shouldRun } = await arrange(t, 60, (id) => (isStuck(id) ? failure : null))
    restorer.begin(owned)
    await until(() => started.length === 52)
    assert.equal(restorer.pending.size, 8)
    for (const id of ids) assert.equal(await shouldRun(id), true)
    // What concerns these alone is reported; of a full server the host's own warnings report.
    const isAlone = failure instanceof RuntimeError && failure.kind === 'unreachable'
    if (isAlone) await until(() => restorer.warnings().length === 1)
  })

test('without room it asks at growing pauses, not all the time', async (t) => {
  const { restorer, owned, attempts } = await arrange(t, 40, () => refusals.serverFull())
  restorer.begin(owned)
  await observationTime(400)
  const all = [...attempts.values()].reduce((sum, each) => sum + each, 0)
  assert.ok(all >= 4 && all < 200, `${all} attempts`)
})

test('a second list is added to what is not done yet, and one of an engine that went away waits for its next list', async (t) => {
  let isFull = true
  const { restorer, owned, started } = await arrange(t, 4, () => (isFull ? refusals.serverFull() : null))
  restorer.begin(owned.slice(0, 2))
  restorer.begin(owned.slice(1))
  assert.equal(restorer.pending.size, 4)
  restorer.interrupt()
  assert.equal(restorer.pending.size, 0)
  // What was under way goes on to its end.
  await observationTime(50)
  isFull = false
  await observationTime(50)
  assert.deepEqual(started, [])
  restorer.begin(owned)
  await until(() => started.length === 4)
})

// A container that is being made anew has been removed: the list of an engine that restarts then does not have it.
test('what was pending when the engine went away is restored although its next list does not have it', async (t) => {
  let isFull = true
  const { restorer, owned, started } = await arrange(t, 4, () => (isFull ? refusals.serverFull() : null))
  restorer.begin(owned)
  restorer.interrupt()
  // What was under way goes on to its end.
  await observationTime(50)
  isFull = false
  restorer.begin([])
  await until(() => started.length === 4)
})
