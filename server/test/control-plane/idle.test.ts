import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineState } from '#test/support/asking.ts'
import { fragile, outside, patiently, startRig, type Rig, type Tenant } from '#test/support/control-plane.ts'
import { openStream } from '#test/support/event-stream.ts'
import { ObedientGateway } from '#test/support/obedient-gateway.ts'

/** Says every 200 ms that bytes moved, as the gateway does by the second. @returns what ends it */
function keepBusy({ control }: Rig, { prefix }: Tenant): () => void {
  const timer = setInterval(() => control.used([{ prefix, at: Date.now() }]), 200)
  return () => clearInterval(timer)
}

test('what nobody uses is paused, later stopped, and runs again when its owner asks for it', async (t) => {
  const rig = await startRig(t, { ...fragile, idle_pause: 2, idle_timeout: 5 })
  const ann = await rig.person('ann')
  const began = performance.now()
  const { containerId } = ann.address()
  await ann.untilWord('paused')
  const pausedAfter = performance.now() - began
  assert.ok(pausedAfter > 1_500 && pausedAfter < 4_500, `${pausedAfter} ms`)
  assert.equal(await engineState(rig.berth, containerId), 'paused')
  await ann.untilWord('asleep')
  assert.equal(await engineState(rig.berth, containerId), 'exited')
  assert.equal(rig.gateway.held.size, 0)
  assert.equal(await rig.control.wake(ann.prefix), undefined)
  assert.equal(ann.address().containerId, containerId)
})

test('what is used stays, also when the gateway alone knows of it, and rests when that ends', async (t) => {
  const rig = await startRig(t, { idle_pause: 1 })
  const bob = await rig.person('bob')
  const relax = keepBusy(rig, bob)
  await sleep(3_000)
  assert.equal(bob.word(), 'running')
  rig.gateway.isQuiet = false
  relax()
  await sleep(3_000)
  assert.equal(bob.word(), 'running')
  rig.gateway.isQuiet = true
  await bob.untilWord('paused')
})

test('who wakes it while it is being stopped has it running in the end', async (t) => {
  const rig = await startRig(t, {
    idle_timeout: 1,
    command: [
      '/bin/sh',
      '-c',
      'trap "sleep 1; exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done',
    ],
  })
  const cat = await rig.person('cat')
  await patiently(
    () => rig.gateway.held.has(cat.prefix),
    () => 'it was never put to rest',
  )
  assert.equal(await rig.control.wake(cat.prefix), undefined)
  assert.equal(cat.word(), 'running')
  assert.equal(await engineState(rig.berth, cat.address().containerId), 'running')
})

test('a program that ends with an error when it is stopped for idleness sleeps, also in the eyes of the next Berth', async (t) => {
  const fields = {
    idle_timeout: 1,
    command: ['/bin/sh', '-c', 'trap "exit 7" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'],
  }
  const rig = await startRig(t, fields)
  const dan = await rig.person('dan')
  const { containerId } = dan.address()
  await dan.untilWord('asleep')
  assert.equal((await rig.berth.runtime.inspectId(containerId))?.exitCode, 7)
  await rig.berth.close()
  const gateway = new ObedientGateway()
  const { instance, dataDir } = rig.berth
  await startRig(t, fields, { instance, dataDir, gateway })
  await sleep(500)
  assert.equal(gateway.wordFor(dan.prefix), 'asleep')
})

test('when the engine cannot pause it, requests reach it again', async (t) => {
  const rig = await startRig(
    t,
    { idle_pause: 1 },
    { wrapRuntime: (runtime) => ({ ...runtime, pause: () => runtime.pause('0'.repeat(64)) }) },
  )
  const eve = await rig.person('eve')
  await patiently(
    () => rig.gateway.held.has(eve.prefix),
    () => 'nobody tried',
  )
  await patiently(
    () => !rig.gateway.held.has(eve.prefix),
    () => 'it is held for ever',
  )
  assert.equal(eve.word(), 'running')
})

test('a hold that the gateway did not confirm in time is ended: requests reach it again', async (t) => {
  const rig = await startRig(t, { idle_pause: 1 })
  const hold = rig.gateway.hold.bind(rig.gateway)
  let isOverdue = false
  rig.gateway.hold = async (prefix) => {
    await hold(prefix)
    isOverdue = true
    throw new Error('hold was not answered within 5000 ms')
  }
  const fay = await rig.person('fay')
  await patiently(
    () => isOverdue,
    () => 'nobody tried',
  )
  rig.gateway.hold = async () => false
  await patiently(
    () => !rig.gateway.held.has(fay.prefix),
    () => 'it is held for ever',
  )
  assert.equal(fay.word(), 'running')
})

test('a container that computes is not idle where the template says so', async (t) => {
  const busy = {
    command: [
      '/bin/sh',
      '-c',
      'httpd -p 8080 -h /home/berth; while [ ! -e /tmp/rest ]; do :; done; while :; do sleep 1; done',
    ],
  }
  // Far less than it wants: on a busy machine it gets a tenth of a core.
  const rig = await startRig(t, { ...busy, idle_pause: 1, idle_cpu: 0.02 })
  const fay = await rig.person('fay')
  await sleep(4_000)
  assert.equal(fay.word(), 'running')
})

test('where the template says so, a container that does not compute is idle all the same', async (t) => {
  const rig = await startRig(t, { idle_pause: 1, idle_cpu: 0.2 })
  const gus = await rig.person('gus')
  await gus.untilWord('paused')
})

test('the owner is warned a quarter of the time before a stop, and told of everything else', async (t) => {
  const rig = await startRig(t, { idle_pause: 1, idle_timeout: 8 })
  const hal = await rig.person('hal')
  const stream = await openStream(rig.berth, hal.token)
  await hal.untilWord('asleep')
  const stoppedAt = Date.now()
  assert.equal(await rig.control.wake(hal.prefix), undefined)
  const heard = () => stream.events.filter(({ name }) => name === 'container' || name === 'idle')
  await patiently(
    () => heard().at(-1)?.data.status === 'running',
    () => stream.text(),
  )
  stream.close()
  const words = heard().map(({ name, data }) => `${name} ${data.type} ${data.status ?? data.action}`)
  assert.deepEqual(words.slice(-4), [
    'container dev paused',
    'idle dev stop',
    'container dev asleep',
    'container dev running',
  ])
  const warning = stream.events.find(({ name }) => name === 'idle')
  assert.ok(Math.abs(Date.parse(String(warning?.data.at)) - stoppedAt) < 4_000, `${String(warning?.data.at)}`)
})

test('nothing is stopped just because Berth was started again', async (t) => {
  const first = await startRig(t, { idle_timeout: 3 })
  const [ida, joe] = [await first.person('ida'), await first.person('joe')]
  await outside.pause(joe.address().containerId)
  await first.berth.close()
  await sleep(3_000)
  const gateway = new ObedientGateway()
  const { instance, dataDir } = first.berth
  await startRig(t, { idle_timeout: 3 }, { instance, dataDir, gateway })
  await sleep(1_500)
  assert.deepEqual([gateway.wordFor(ida.prefix), gateway.wordFor(joe.prefix)], ['running', 'paused'])
})

test('last_used follows the last byte, at the latest when it is put to rest or Berth ends', async (t) => {
  const rig = await startRig(t, { idle_pause: 2 })
  const jim = await rig.person('jim')
  const lastUsed = async () => {
    const row = await rig.berth.database.db
      .selectFrom('user_containers')
      .selectAll()
      .where('user_id', '=', jim.id)
      .executeTakeFirst()
    return row?.last_used
  }
  await sleep(500)
  const at = Date.now()
  rig.control.used([{ prefix: jim.prefix, at }])
  await jim.untilWord('paused')
  await patiently(
    async () => (await lastUsed()) === at,
    () => 'last_used did not follow',
  )
})

test('a container without idle times runs for ever', async (t) => {
  const rig = await startRig(t)
  const kim = await rig.person('kim')
  await sleep(2_500)
  assert.equal(kim.word(), 'running')
  await outside.pause(kim.address().containerId)
  await kim.untilWord('paused')
})
