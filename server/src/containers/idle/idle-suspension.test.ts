import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { unavailable } from '@berth/gateway/port/gateway.ts'
import { ensureContainer, findContainer, noteRunning } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { IdleSuspension, type IdleSuspensionParts } from './idle-suspension.ts'

// Eight restarts in the launch queue took all eight slots of the idle monitor, for as long as they waited.
test('a container whose restart is queued is not waited for', async () => {
  const singleFlight = new SingleFlight()
  const parts: Partial<Record<keyof IdleSuspensionParts, object>> = {
    singleFlight,
    routeSync: { get: () => undefined },
  }
  const suspension = new IdleSuspension(parts as unknown as IdleSuspensionParts)
  const [owned, queued] = [{ userId: 1, type: 'dev' }, Promise.withResolvers<void>()]
  const restart = singleFlight.run('1 dev', 'replace', () => queued.promise)
  assert.equal(await suspension.suspend(owned, 'stop', 0), 'used')
  queued.resolve()
  await restart
  assert.equal(await suspension.suspend(owned, 'stop', 0), 'done')
})

/** A running container, and a gateway that holds no route because another node is not reached. */
async function withUnreachedGateway(t: TestContext) {
  const { database } = await openTemporaryStore(t)
  const now = new Date('2026-11-23T00:00:00Z')
  const { id: userId } = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const owned = { userId, type: 'dev' }
  await ensureContainer(database.db, userId, 'dev', 'x', now)
  await noteRunning(database.db, userId, 'dev', now)
  const known = { ...owned, prefix: 'ann-dev', containerId: 'c1' }
  const where = { containerId: 'c1', host: '10.0.0.1', port: 8080, isPaused: false }
  const state = { isUp: true }
  const did: string[] = []
  const singleFlight = new SingleFlight()
  const parts: Partial<Record<keyof IdleSuspensionParts, object>> = {
    singleFlight,
    database,
    runtime: { stop: async (id: string) => did.push(`stop ${id}`) },
    gateway: { hold: async () => false },
    routeSync: {
      isEngineAnswering: true,
      get: () => known,
      isUnknown: () => false,
      routeOf: () => ({ where: state.isUp ? where : unavailable('asleep') }),
      publishUser: async () => did.push('publish'),
      republish: async () => undefined,
    },
    activity: { lastOf: () => 0, hasTold: () => false, write: async () => undefined },
  }
  const recordOf = () => findContainer(database.db, userId, 'dev')
  const suspension = new IdleSuspension(parts as unknown as IdleSuspensionParts)
  return { suspension, singleFlight, owned, did, recordOf, state }
}

// While the gateway of a node was not reached, "Stop" was answered with success, and the container ran on.
test('a stop by request goes on when a gateway cannot hold requests, and is stored and published before it', async (t) => {
  const { suspension, owned, did, recordOf } = await withUnreachedGateway(t)
  assert.equal(await suspension.stopNow(owned, 'hours'), true)
  assert.deepEqual(did, ['publish', 'stop c1'])
  const record = await recordOf()
  assert.deepEqual([record?.stoppedAt instanceof Date, record?.runningSince], [true, null])
  assert.equal(record?.stopReason, 'hours')
})

test('a stop by request is stored as one, also of what does not run, unless any request is to start it again', async (t) => {
  const { suspension, owned, recordOf, state } = await withUnreachedGateway(t)
  await suspension.stopNow(owned, 'version')
  assert.equal((await recordOf())?.isStopRequested, false)
  await suspension.stopNow(owned, 'owner')
  assert.equal((await recordOf())?.isStopRequested, true)
  await suspension.stopNow(owned, 'version')
  state.isUp = false
  assert.equal(await suspension.stopNow(owned, 'owner'), false)
  const record = await recordOf()
  assert.deepEqual([record?.isStopRequested, record?.runningSince], [true, null])
})

test('an idle stop does nothing when a gateway cannot hold requests', async (t) => {
  const { suspension, owned, did } = await withUnreachedGateway(t)
  assert.equal(await suspension.suspend(owned, 'stop', 0), 'used')
  assert.deepEqual(did, [])
})

test('a stop with a condition asks it when earlier operations are done, and no other stop joins it', async (t) => {
  const { suspension, singleFlight, owned, did } = await withUnreachedGateway(t)
  const queued = Promise.withResolvers<void>()
  const restart = singleFlight.run(`${owned.userId} dev`, 'replace', () => queued.promise)
  let isSameStart = true
  const conditional = suspension.stopNow(owned, 'lifetime', { isMeant: async () => isSameStart })
  const byOwner = suspension.stopNow(owned, 'owner')
  isSameStart = false
  queued.resolve()
  await restart
  assert.equal(await conditional, false)
  assert.equal(await byOwner, true)
  assert.deepEqual(did, ['publish', 'stop c1'])
})

// The condition of a stop for its full layer stores that it is full: a stop at the same moment by its time of day left that out.
test('stops with conditions of their own do not join: each asks its own', async (t) => {
  const { suspension, singleFlight, owned } = await withUnreachedGateway(t)
  const queued = Promise.withResolvers<void>()
  const restart = singleFlight.run(`${owned.userId} dev`, 'replace', () => queued.promise)
  const asked: string[] = []
  const stop = (why: 'lifetime' | 'layer') =>
    suspension.stopNow(owned, why, { isMeant: async () => asked.push(why) > 0 })
  const stops = [stop('lifetime'), stop('layer')]
  queued.resolve()
  await Promise.all([restart, ...stops])
  assert.deepEqual(asked, ['lifetime', 'layer'])
})
