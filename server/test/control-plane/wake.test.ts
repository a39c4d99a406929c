import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, blockContainer, engineState, recordOf, unblockContainer } from '#test/support/api-calls.ts'
import { askEngine, buildImage, testImage } from '#test/support/engine/engine.ts'
import {
  fragile,
  outside,
  pollUntil,
  signalWhenListening,
  startRig,
  untilListening,
  type Tenant,
} from '#test/support/control-plane.ts'
import { noCreateRuntime, slowRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { testTemplates } from '#test/support/berth.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { extent, onlyLong, waitLimit } from '#test/support/extent.ts'

/** Counts what the engine is asked to do. */
const asked: string[] = []
const countingRuntime = (runtime: Runtime): Runtime => ({
  ...runtime,
  start: (id, signal) => (asked.push('start'), runtime.start(id, signal)),
  create: (spec, signal) => (asked.push('create'), runtime.create(spec, signal)),
  inspect: (name) => (asked.push('inspect'), runtime.inspect(name)),
})

const rig = await startRig({ after }, fragile, { wrapRuntime: countingRuntime })
const { berth, control } = rig
const admin = await rig.personWithoutContainer('boss')

test('a paused container runs again when its owner asks for it, and only that is asked of the engine', async () => {
  const ann = await rig.person('ann')
  await outside.pause(ann.address().containerId)
  await ann.untilRouteState('paused')
  asked.length = 0
  assert.equal(await control.wake(ann.prefix), undefined)
  assert.equal(ann.routeState(), 'running')
  assert.equal(await engineState(berth, ann.address().containerId), 'running')
  assert.deepEqual(asked, ['start'])
})

test('what was stopped by request is started by a page and not by an open tab, also after Berth has restarted', async (t) => {
  const first = await startRig(t)
  const pam = await first.person('pam')
  const { containerId } = pam.address()
  const stop = () => pam.call('POST', '/api/container/stop/dev')
  const isUp = async () => (await engineState(first.berth, containerId)) === 'running'
  // The request of a tab that comes while the container stops waits for the stop.
  const [stopped, ...answers] = await Promise.all([
    stop(),
    ...[0, 50, 200].map(async (wait) => {
      await sleep(wait)
      return first.control.wake(pam.prefix, undefined, 'use')
    }),
  ])
  assertOk(stopped)
  // One that came before the stop began found it running.
  assert.ok(answers.every((answer) => answer === undefined || answer.reason === 'asleep'))
  assert.equal((await first.control.wake(pam.prefix, undefined, 'use'))?.reason, 'asleep')
  assert.equal(await isUp(), false)
  await first.berth.close()
  const { installation, dataDir } = first.berth
  const later = await startRig(t, {}, { installation, dataDir, gateway: new FakeGateway() })
  const routeState = () => later.gateway.routeStateOf(pam.prefix)
  assert.equal((await later.control.wake(pam.prefix, undefined, 'use'))?.reason, 'asleep')
  assert.equal(routeState(), 'asleep')
  assert.equal(await later.control.wake(pam.prefix, undefined, 'start'), undefined)
  assert.equal(routeState(), 'running')
  // It was started, so the earlier stop does not count for what stops it next.
  const where = later.gateway.routes.get(pam.prefix)?.where
  assert.ok(where && 'host' in where)
  await outside.stop(where.containerId)
  await pollUntil(
    () => routeState() === 'asleep',
    () => String(routeState()),
  )
  assert.equal(await later.control.wake(pam.prefix, undefined, 'use'), undefined)
  assert.equal(routeState(), 'running')
})

test('of a stopped container fifty wakes at once make one start, and all of them wait for it', async () => {
  const bob = await rig.person('bob')
  const { containerId } = bob.address()
  await outside.stop(containerId)
  await bob.untilRouteState('asleep')
  asked.length = 0
  const answers = await Promise.all(Array.from({ length: 50 }, () => control.wake(bob.prefix)))
  assert.ok(answers.every((answer) => answer === undefined))
  assert.equal(bob.address().containerId, containerId)
  assert.deepEqual(asked, ['start'])
})

test('what crashes after a wake has crashed, although Berth had put it to sleep before', async () => {
  const cat = await rig.person('cat')
  const record = await recordOf(admin, cat.id)
  assertOk(await blockContainer(admin, record.id))
  assertOk(await unblockContainer(admin, record.id))
  await cat.untilRouteState('asleep')
  assert.equal(await control.wake(cat.prefix), undefined)
  await signalWhenListening(cat, 'USR1')
  await cat.untilRouteState('crashed')
})

test('what is blocked is not woken, also when the block comes while it wakes', onlyLong, async () => {
  const dan = await rig.person('dan')
  const { containerId } = dan.address()
  const record = await recordOf(admin, dan.id)
  assertOk(await blockContainer(admin, record.id))
  assert.notEqual(await control.wake(dan.prefix), undefined)
  assert.equal(await engineState(berth, containerId), 'exited')
  for (let round = 0; round < extent(2, 4); round++) {
    assertOk(await unblockContainer(admin, record.id))
    const waking = control.wake(dan.prefix)
    // Another moment of the wake in each round.
    await sleep(round * 60)
    const blocked = blockContainer(admin, record.id)
    await waking
    assertOk(await blocked)
    assert.equal(await engineState(berth, containerId), 'exited', `round ${round}`)
    assert.equal(rig.gateway.routes.get(dan.prefix)?.isBlocked, true)
  }
})

test('a block that stands in the store alone holds, too', async () => {
  const una = await rig.person('una')
  const { containerId } = una.address()
  await outside.stop(containerId)
  await una.untilRouteState('asleep')
  await berth.database.db.updateTable('user_containers').set({ is_blocked: 1 }).where('user_id', '=', una.id).execute()
  assert.notEqual(await control.wake(una.prefix), undefined)
  assert.equal(await engineState(berth, containerId), 'exited')
})

test('a wake during a launch is that launch', onlyLong, async (t) => {
  const slow = await startRig(t, {}, { wrapRuntime: (runtime) => slowRuntime(runtime, 200) })
  const eve = await slow.person('eve')
  await outside.stop(eve.address().containerId)
  await eve.untilRouteState('asleep')
  const [launched, woken] = await Promise.all([
    eve.call('POST', '/api/container/restart'),
    sleep(50).then(() => slow.control.wake(eve.prefix)),
  ])
  assertOk(launched)
  assert.equal(woken, undefined)
  assert.equal(eve.address().containerId, launched.body.container_id)
})

test('what crashed is not started by a visit; why, and its last lines, are explained', async () => {
  const fay = await rig.person('fay')
  await signalWhenListening(fay, 'USR1')
  await fay.untilRouteState('crashed')
  const absence = { reason: 'crashed', exitCode: 3 }
  assert.deepEqual(await control.wake(fay.prefix), absence)
  assert.equal(fay.routeState(), 'crashed')
  const { lastLines, ...rest } = await control.explain(fay.prefix)
  assert.deepEqual(rest, { unavailable: absence, displayName: 'Development' })
  assert.equal(lastLines.at(-1), 'last words')
})

test('a wake that comes in the moment of a crash does not hide it', onlyLong, async () => {
  const gus = await rig.person('gus')
  await signalWhenListening(gus, 'USR1')
  await pollUntil(
    () => gus.routeState() !== 'running',
    () => 'it did not end',
  )
  assert.deepEqual(await control.wake(gus.prefix), { reason: 'crashed', exitCode: 3 })
})

test(
  'what ends soon after each start is not started by visits again and again, but by hand at any time',
  onlyLong,
  async () => {
    const nel = await rig.person('nel')
    const { containerId } = nel.address()
    const end = async () => {
      await untilListening(nel)
      await outside.stop(containerId)
      await nel.untilRouteState('asleep')
    }
    await end()
    for (let time = 1; time <= 2; time++) {
      assert.equal(await control.wake(nel.prefix), undefined)
      await end()
    }
    asked.length = 0
    for (let visit = 0; visit < 3; visit++) assert.equal((await control.wake(nel.prefix))?.reason, 'crashed')
    assert.deepEqual(asked, [])
    assertOk(await nel.call('POST', '/api/container/launch/dev'))
  },
)

test('what ran out of memory says so', async () => {
  const hal = await rig.person('hal')
  await signalWhenListening(hal, 'USR2')
  await hal.untilRouteState('out-of-memory')
  const { unavailable, lastLines } = await control.explain(hal.prefix)
  assert.equal(unavailable?.reason, 'out-of-memory')
  assert.ok(lastLines.includes('hungry'))
})

test('a container that was removed while it slept unnoticed is made anew by a wake', onlyLong, async (t) => {
  const quiet = await startRig(t, {}, { wrapRuntime: (runtime) => ({ ...runtime, watch: () => undefined }) })
  const ida = await quiet.person('ida')
  const { containerId } = ida.address()
  await outside.stop(containerId)
  await quiet.control.explain(ida.prefix)
  assert.equal(ida.routeState(), 'asleep')
  await outside.remove(containerId)
  assert.equal(await quiet.control.wake(ida.prefix), undefined)
  assert.notEqual(ida.address().containerId, containerId)
})

test('a container of an older template is made anew when it wakes, unless it was only paused', onlyLong, async (t) => {
  const first = await startRig(t)
  const [jim, kim] = [await first.person('jim'), await first.person('kim')]
  const [stopped, paused] = [jim.address().containerId, kim.address().containerId]
  await Promise.all([outside.stop(stopped), outside.pause(paused)])
  await first.berth.close()
  const gateway = new FakeGateway()
  const { installation, dataDir } = first.berth
  const env = { CONTAINER_TEMPLATES: await testTemplates({ env: { NEW: '1' } }) }
  const { control: later } = await startRig(t, {}, { installation, dataDir, gateway, env })
  assert.equal(gateway.routeStateOf(kim.prefix), 'paused')
  assert.deepEqual([await later.wake(jim.prefix), await later.wake(kim.prefix)], [undefined, undefined])
  const where = (prefix: string) => JSON.stringify(gateway.routes.get(prefix)?.where)
  assert.ok(!where(jim.prefix).includes(stopped))
  assert.ok(where(kim.prefix).includes(paused))
})

test(
  'a container whose image was built again is made anew when it wakes, unless it was only paused',
  onlyLong,
  async (t) => {
    const image = `berth-test-again:${process.pid}`
    t.after(() => askEngine('DELETE', `/images/${image}`, { query: { force: 'true' } }))
    await buildImage(image, `FROM ${await testImage()}\nLABEL built=once\n`)
    const rebuilt = await startRig(t, { image })
    const [jim, kim] = [await rebuilt.person('jim'), await rebuilt.person('kim')]
    const [stopped, paused] = [jim.address().containerId, kim.address().containerId]
    await Promise.all([outside.stop(stopped), outside.pause(paused)])
    await Promise.all([jim.untilRouteState('asleep'), kim.untilRouteState('paused')])
    await buildImage(image, `FROM ${await testImage()}\nLABEL built=twice\n`)
    const wake = ({ prefix }: Tenant) => rebuilt.control.wake(prefix)
    assert.deepEqual(await Promise.all([jim, kim].map(wake)), [undefined, undefined])
    assert.equal(kim.address().containerId, paused)
    assert.notEqual(jim.address().containerId, stopped)
  },
)

test('a missing image is reported until a launch succeeds', async (t) => {
  const fault = { active: true }
  const bare = await startRig(t, {}, { wrapRuntime: (runtime) => noCreateRuntime(runtime, fault) })
  const lea = await bare.person('lea')
  assert.equal(lea.routeState(), 'no-image')
  assert.equal((await bare.control.wake(lea.prefix))?.reason, 'no-image')
  assert.equal((await bare.control.explain(lea.prefix)).unavailable?.reason, 'no-image')
  fault.active = false
  assertOk(await lea.call('POST', '/api/container/launch/dev'))
  assert.equal(lea.routeState(), 'running')
  await outside.stop(lea.address().containerId)
  await lea.untilRouteState('asleep')
})

test('an explanation takes less than three seconds although the engine takes longer', onlyLong, async (t) => {
  const never = () => new Promise<never>(() => {})
  const hung = { active: false }
  const slow = await startRig(
    t,
    {},
    {
      wrapRuntime: (runtime) => ({
        ...runtime,
        logs: never,
        inspectId: (id) => (hung.active ? never() : runtime.inspectId(id)),
      }),
    },
  )
  const mia = await slow.person('mia')
  hung.active = true
  const began = performance.now()
  const { lastLines, displayName } = await slow.control.explain(mia.prefix)
  assert.ok(performance.now() - began < waitLimit(3_000))
  assert.deepEqual([lastLines, displayName], [[], 'Development'])
})

test('an unknown container is only reported as missing', async () => {
  assert.deepEqual(await control.wake('nobody-dev'), { reason: 'missing', exitCode: null })
  const { unavailable, lastLines } = await control.explain('nobody-dev')
  assert.deepEqual([unavailable?.reason, lastLines], ['missing', []])
  control.reportUnreachable('nobody-dev')
  control.reportActivity([{ prefix: 'nobody-dev', at: Date.now() }])
})
