import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import {
  deleteContainer,
  ensureContainer,
  listContainersOf,
  noteRunning,
  storeContainer,
} from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import type { Admitted } from './admission-control.ts'
import { containerSpec } from './build-container-spec.ts'
import { CrashLoops } from './crash-loops.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Spawner, type SpawnerParts } from './spawner.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

test('what an administrator deletes while it waits to be started again is not made anew', async (t) => {
  const { spawner, database, singleFlight, user, template, now, record, slots } = await startRig(t)
  const deleted = singleFlight.run(
    `${user.id} dev`,
    'remove',
    async () => void (await deleteContainer(database.db, record.id)),
  )
  await Promise.all([deleted, assert.rejects(spawner.restore(user, template, now), { name: 'Refusal' })])
  assert.deepEqual([slots, await listContainersOf(database.db, user.id)], [[], []])

  await assert.rejects(spawner.ensureRunning(user, template, now), /the engine is asked/)
  assert.deepEqual(slots, ['high'], 'a launch makes a new one')
})

// The restorer had read that it should run before the stop was stored, and started it after the stop was answered.
test('what is stopped while it waits to be started again is not started', async (t) => {
  const { spawner, database, singleFlight, user, template, now, slots } = await startRig(t)
  const stopped = singleFlight.run(`${user.id} dev`, 'stop', () => noteRunning(database.db, user.id, 'dev', null))
  await Promise.all([
    stopped,
    assert.rejects(spawner.restore(user, template, now), { name: 'Refusal', extra: { reason: 'stopped' } }),
  ])
  assert.deepEqual(slots, [])
})

// The launch was queued behind all others for as long as they took: when its owner asked, it was not in the queue yet.
test('what its owner asks for just before it is queued to be started again is not behind the others', async (t) => {
  const { spawner, singleFlight, user, template, now, slots } = await startRig(t)
  const before = Promise.withResolvers<void>()
  const earlier = singleFlight.run(`${user.id} dev`, 'pause', () => before.promise)
  const restored = spawner.restore(user, template, now)
  const launched = spawner.ensureRunning(user, template, now)
  before.resolve()
  await earlier
  for (const each of [restored, launched]) await assert.rejects(each, /the engine is asked/)
  await assert.rejects(spawner.restore(user, template, now), /the engine is asked/)
  assert.deepEqual(slots, ['high', 'high', 'low'])
})

test('a launch looks at mounts only when their file system answers', async (t) => {
  const looked: string[] = []
  const sources = {
    whenAnswering: async () => Promise.reject(new Error('the file system hangs')),
    secretsOf: () => (looked.push('secrets'), {}),
    mountsOf: () => (looked.push('mounts'), []),
  }
  const { spawner, user, template, now } = await startRig(t, { sources })
  await assert.rejects(spawner.ensureRunning(user, template, now), /the file system hangs/)
  assert.deepEqual(looked, [])
})

// With another image named it was admitted as the start of what exists: on the last bytes of a disk the old one was removed for it.
test('a launch that has to make a new container in place of a stopped one is admitted as one', async (t) => {
  const rig = await startRig(t)
  const { spawner, database, settings, user, template, now, record, admitted, known } = rig
  await storeContainer(database.db, record.id, { containerId: 'old', port: 80, image: 'x' })
  const isNew = async (image: string, seen?: Partial<RuntimeContainer> | 'gone') => {
    admitted.length = 0
    known.seen = seen
    await assert.rejects(spawner.ensureRunning(user, { ...template, image }, now), /the engine is asked/)
    return admitted.map(({ needsImage }) => needsImage)
  }
  const { fingerprint } = containerSpec(user, template, settings)
  assert.deepEqual(await isNew('y'), [true], 'another image')
  assert.deepEqual(await isNew('x'), [false], 'nothing is known of it')
  assert.deepEqual(await isNew('x', { state: 'exited', fingerprint }), [false])
  assert.deepEqual(await isNew('x', { state: 'exited', fingerprint: 'another' }), [true], 'another limit of memory')
  assert.deepEqual(await isNew('x', 'gone'), [true])
})

// A request of an open tab that waited for the deletion made a new container for it.
test('a wake makes a launch of what does not exist, but not of what was deleted while it waited, nor without the right', async (t) => {
  const { spawner, database, user, template, record, slots } = await startRig(t)
  const known = { userId: user.id, type: 'dev', containerId: null, seen: undefined } as unknown as ContainerState
  const wake = (mayStart: boolean) => spawner.wakeLocked(user, template, { known, mayStart, onRunning: assert.fail })
  await wake(false)
  assert.deepEqual(slots, [])
  await assert.rejects(wake(true), /the engine is asked/)
  assert.deepEqual(slots, ['high'])
  await deleteContainer(database.db, record.id)
  await assert.rejects(wake(true), { name: 'Refusal', code: 'containerDeleted' })
  assert.deepEqual([slots, await listContainersOf(database.db, user.id)], [['high'], []])
})

/** A spawner whose launches end when they have a slot; `slots` has the priority of each, `known` what is known of the container. */
async function startRig(t: TestContext, otherSettings: object = {}) {
  const { database } = await openTemporaryStore(t)
  const now = new Date()
  const user = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const { template } = readTemplate('dev', { image: 'x' })
  assert.ok(template)
  const record = await ensureContainer(database.db, user.id, 'dev', 'x', now)
  await noteRunning(database.db, user.id, 'dev', now)

  const settings = { installation: 'b', spawnerUrl: '', jwksUrl: '', jwks: '', signingJwks: '', ...otherSettings }
  const slots: string[] = []
  const admitted: Admitted[] = []
  const known: { seen?: unknown } = {}
  const singleFlight = new SingleFlight()
  const parts: Partial<Record<keyof SpawnerParts, object>> = {
    runtime: { capabilities: dockerCapabilities, inspect: async () => undefined } satisfies Partial<Runtime>,
    database,
    settings,
    singleFlight,
    routeSync: { publishContainer: async () => undefined, get: () => known },
    removal: {
      finishLocked: async () => undefined,
      withHome: async (_container, _hasHome, work) => work(undefined),
    } satisfies SpawnerParts['removal'],
    rules: { foldersFor: async () => [] },
    preLaunchHooks: { refusalFor: async () => undefined },
    admission: {
      promote: () => undefined,
      isUp: () => false,
      release: () => undefined,
      run: async (each: Admitted) => {
        admitted.push(each)
        slots.push(each.isLowPriority ? 'low' : 'high')
        throw new Error('the engine is asked to make it')
      },
    },
    launchProgress: { enter: () => undefined },
    crashLoops: new CrashLoops(),
    launchMetrics: { failed: () => undefined },
    log: pino({ level: 'silent' }),
  }
  const spawner = new Spawner(parts as unknown as SpawnerParts)
  return { spawner, database, settings, singleFlight, user, template, now, record, slots, admitted, known }
}
