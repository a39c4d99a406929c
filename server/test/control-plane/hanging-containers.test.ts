// Part of npm run test:more: a real engine that hangs; container-inspector.test.ts and engine-sweep.test.ts state it of a fake one.
// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { BerthOptions } from '../support/berth.ts'
import { askEngine } from '../support/engine/engine.ts'
import { outside, pollUntil, startRig, type ControlPlaneRig, type Tenant } from '../support/control-plane.ts'
import { hangingEngine, type HangingEngine } from '../support/engine/faulty-engines.ts'
import { onlyLong, timeLimit, waitLimit } from '#test/support/extent.ts'

/** What a container does to the others when the engine does not answer about it: nothing. A real engine, and a line to it that hangs. */
async function arrange(t: TestContext, options: Pick<BerthOptions, 'env' | 'pace'> = {}) {
  const engine = await hangingEngine(t)
  const rig = await startRig(t, {}, { ...options, engine: { address: engine.address, ask: askEngine } })
  return { engine, rig }
}

const timed = async <T>(work: () => Promise<T>) => {
  const began = performance.now()
  const value = await work()
  return { value, ms: performance.now() - began }
}

/** Another user does everything there is, and none of it takes long. */
async function worksFor(person: Tenant): Promise<void> {
  for (const [method, path] of [
    ['GET', '/api/user/me'],
    ['GET', '/api/container/status'],
    ['GET', '/api/user/containers'],
    ['POST', '/api/container/launch/dev'],
    ['POST', '/api/container/stop/dev'],
    ['POST', '/api/container/launch/dev'],
  ] as const) {
    const { value, ms } = await timed(() => person.call(method, path))
    assert.equal(value.status, 200, `${path} ${value.text}`)
    // A stop is asked of a program that ends at once; the rest is the engine's own time on a busy machine.
    assert.ok(ms < waitLimit(10_000), `${path} took ${ms} ms`)
  }
  assert.equal((await person.call('GET', '/api/container/status')).body.status, 'running')
}

const statusOf = async (person: Tenant) => (await person.call('GET', '/api/container/status')).body.status as string

async function reconciled(rig: ControlPlaneRig, admin: Tenant): Promise<void> {
  const lastRun = async () => (await admin.call('GET', '/api/admin/system')).body.reconciler?.last_run as string | null
  const before = await lastRun()
  await pollUntil(
    async () => (await lastRun()) !== before,
    () => `no run of the reconciler: ${rig.berth.logs.slice(-5).join('')}`,
    60_000,
  )
}

const inspectsOf = (person: Tenant, engine: HangingEngine) => {
  const { containerId } = person.address()
  engine.hang(new RegExp(`GET \\S*/containers/(${containerId}|\\S*-${person.prefix})/json`))
  return containerId
}

test('a container whose inspect never returns is unknown, and all others work', async (t) => {
  // The reconciler runs in the middle of it, and is not waited for half a minute.
  const { engine, rig } = await arrange(t, { pace: { every: 5_000 } })
  const [bob, ann] = [await rig.person('bob'), await rig.person('ann')]
  const id = inspectsOf(ann, engine)
  await outside.pause(id)
  await ann.untilRouteState('unknown')
  await worksFor(bob)
  assert.equal(await statusOf(ann), 'error: the container engine does not answer')
  assert.equal((await ann.call('GET', '/api/user/me')).body.container.status, 'error')
  const launch = await timed(() => ann.call('POST', '/api/container/launch/dev'))
  assert.equal(launch.value.status, 500)
  assert.ok(launch.ms < 12_000, `${launch.ms} ms`)
  await worksFor(bob)
  assert.equal(bob.routeState(), 'running')
  await reconciled(rig, bob)
  engine.mend()
  await pollUntil(
    () => ann.routeState() === 'paused',
    () => `still ${ann.routeState()}`,
    40_000,
  )
  await outside.unpause(id)
})

test(
  'a container whose stop never returns keeps neither others, the reconciler, blocks nor the end of Berth waiting',
  onlyLong,
  async (t) => {
    const { engine, rig } = await arrange(t)
    const [bob, ann] = [await rig.person('bob'), await rig.person('ann')]
    const { containerId } = ann.address()
    engine.hang(new RegExp(`POST \\S*/containers/${containerId}/(stop|kill)`))
    const stop = timed(() => ann.call('POST', '/api/container/stop/dev'))
    await worksFor(bob)
    const { value, ms } = await stop
    assert.equal(value.status, 500)
    assert.equal(value.headers.get('berth-refusal') ?? 'stopFailed', 'stopFailed')
    assert.ok(ms < 30_000, `${ms} ms`)
    const { body } = await bob.call('GET', `/api/admin/users?q=${ann.slug}`)
    const recordId = body.users[0].containers.find(
      (each: { container_type: string }) => each.container_type === 'dev',
    ).id
    const block = await timed(() => bob.call('POST', `/api/admin/containers/${recordId}/block`))
    assert.equal(block.value.status, 200)
    assert.ok(block.ms < 10_000, `${block.ms} ms`)
    await reconciled(rig, bob)
    await worksFor(bob)
    const end = await timed(() => rig.berth.close())
    assert.ok(end.ms < 18_000, `${end.ms} ms`)
  },
)

test('a container whose start never returns gives back its launch slot', onlyLong, async (t) => {
  const { engine, rig } = await arrange(t, { env: { LAUNCH_PARALLEL: '1', LAUNCH_TIMEOUT: '5' } })
  const [bob, ann] = [await rig.person('bob'), await rig.person('ann')]
  const { containerId } = ann.address()
  await ann.call('POST', '/api/container/stop/dev')
  await bob.call('POST', '/api/container/stop/dev')
  engine.hang(new RegExp(`POST \\S*/containers/${containerId}/start`))
  const stuck = timed(() => ann.call('POST', '/api/container/launch/dev'))
  const queued = bob.call('POST', '/api/container/launch/dev')
  assert.equal((await stuck).value.status, 500)
  assert.ok((await stuck).ms < timeLimit(8_000))
  await queued
  await pollUntil(
    async () => (await bob.call('POST', '/api/container/launch/dev')).status === 200,
    () => 'bob waits for the slot of the start that hangs',
    25_000,
  )
  await worksFor(bob)
})

test('a container whose removal never returns fails by itself', onlyLong, async (t) => {
  const { engine, rig } = await arrange(t, { env: { LAUNCH_TIMEOUT: '5' } })
  const [bob, ann] = [await rig.person('bob'), await rig.person('ann')]
  const { containerId } = ann.address()
  engine.hang(new RegExp(`DELETE \\S*/containers/${containerId}`))
  const restart = timed(() => ann.call('POST', '/api/container/restart'))
  await worksFor(bob)
  const { value, ms } = await restart
  assert.equal(value.status, 500)
  assert.ok(ms < 15_000, `${ms} ms`)
  const deleted = await timed(() => bob.call('DELETE', `/api/admin/users/${ann.id}`))
  assert.equal(deleted.value.status, 200)
  assert.ok(deleted.ms < 15_000, `${deleted.ms} ms`)
  await worksFor(bob)
})

test('while a list of all containers takes 10 s, Berth starts, people work and the reconciler goes on', async (t) => {
  const engine = await hangingEngine(t)
  const installation = `test-list${process.pid}x`
  const first = await startRig(t, {}, { installation, engine: { address: engine.address, ask: askEngine } })
  const bob = await first.person('bob')
  await first.berth.close()
  engine.hang(/GET \S*\/containers\/json\?/, 10_000)
  const { dataDir } = first.berth
  const start = await timed(() =>
    startRig(t, {}, { installation, dataDir, engine: { address: engine.address, ask: askEngine } }),
  )
  assert.ok(start.ms < 20_000, `${start.ms} ms`)
  const rig = start.value
  assert.equal(rig.gateway.routeStateOf(bob.prefix), 'running')
  const ann = await rig.person('ann')
  await worksFor(ann)
  const report = async () => (await rig.berth.operate('GET', '/api/admin/system')).body.reconciler
  await pollUntil(
    async () => ((await report()).last_success ?? null) !== null,
    () => `the reconciler never ends: ${rig.berth.logs.slice(-3).join('')}`,
    90_000,
  )
})
