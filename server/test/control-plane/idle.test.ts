import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineState } from '#test/support/api-calls.ts'
import {
  fragile,
  outside,
  pollUntil,
  startRig,
  type ControlPlaneRig,
  type Tenant,
} from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { openDatabase } from '#/store/database.ts'
import { onlyLong, timeLimit } from '#test/support/extent.ts'

/** Says every 200 ms that bytes moved, as the gateway does by the second. @returns what ends it */
function keepBusy({ control }: ControlPlaneRig, { prefix }: Tenant): () => void {
  const timer = setInterval(() => control.reportActivity([{ prefix, at: Date.now() }]), 200)
  return () => clearInterval(timer)
}

/** Side by side: they mostly wait, each for containers of its own. */
suite('idle containers', { concurrency: 3 }, () => {
  test('an unused container is paused, later stopped, and runs again when its owner opens it', async (t) => {
    const rig = await startRig(t, { ...fragile, idle_pause: 2, idle_timeout: 10 })
    const before = performance.now()
    const ann = await rig.person('ann')
    const launched = performance.now()
    const { containerId } = ann.address()
    await ann.untilRouteState('paused')
    const paused = performance.now()
    // It is unused since its launch, which ended at some time between the two.
    assert.ok(paused - before > 1_900 && paused - launched < timeLimit(4_500), `${paused - launched} ms`)
    assert.equal(await engineState(rig.berth, containerId), 'paused')
    await ann.untilRouteState('asleep')
    assert.equal(await engineState(rig.berth, containerId), 'exited')
    assert.equal(rig.gateway.held.size, 0)
    assert.equal(await rig.control.wake(ann.prefix), undefined)
    assert.equal(ann.address().containerId, containerId)
  })

  test('what is used stays, also when the gateway alone knows of it, and rests when that ends', onlyLong, async (t) => {
    const rig = await startRig(t, { idle_pause: 1 })
    const bob = await rig.person('bob')
    const relax = keepBusy(rig, bob)
    await observationTime(3_000)
    assert.equal(bob.routeState(), 'running')
    rig.gateway.isQuiet = false
    relax()
    await observationTime(3_000)
    assert.equal(bob.routeState(), 'running')
    rig.gateway.isQuiet = true
    await bob.untilRouteState('paused')
  })

  test('who wakes it while it is being stopped has it running in the end', onlyLong, async (t) => {
    const rig = await startRig(t, {
      idle_timeout: 1,
      command: [
        '/bin/sh',
        '-c',
        'trap "sleep 1; exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done',
      ],
    })
    const cat = await rig.person('cat')
    await pollUntil(
      () => rig.gateway.held.has(cat.prefix),
      () => 'it was never put to rest',
    )
    assert.equal(await rig.control.wake(cat.prefix), undefined)
    assert.equal(cat.routeState(), 'running')
    assert.equal(await engineState(rig.berth, cat.address().containerId), 'running')
  })

  test(
    'a program that ends with an error when it is stopped for idleness sleeps, also in the eyes of the next Berth',
    onlyLong,
    async (t) => {
      const fields = {
        idle_timeout: 1,
        command: ['/bin/sh', '-c', 'trap "exit 7" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'],
      }
      const rig = await startRig(t, fields)
      const dan = await rig.person('dan')
      const { containerId } = dan.address()
      await dan.untilRouteState('asleep')
      assert.equal((await rig.berth.runtime.inspectId(containerId))?.exitCode, 7)
      await rig.berth.close()
      const gateway = new FakeGateway()
      const { installation, dataDir } = rig.berth
      await startRig(t, fields, { installation, dataDir, gateway })
      await observationTime(500)
      assert.equal(gateway.routeStateOf(dan.prefix), 'asleep')
    },
  )

  test('when the engine cannot pause it, requests reach it again', onlyLong, async (t) => {
    const rig = await startRig(
      t,
      { idle_pause: 1 },
      { wrapRuntime: (runtime) => ({ ...runtime, pause: () => runtime.pause('0'.repeat(64)) }) },
    )
    const eve = await rig.person('eve')
    await pollUntil(
      () => rig.gateway.held.has(eve.prefix),
      () => 'there was no attempt',
    )
    await pollUntil(
      () => !rig.gateway.held.has(eve.prefix),
      () => 'it is held for ever',
    )
    assert.equal(eve.routeState(), 'running')
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
    await pollUntil(
      () => isOverdue,
      () => 'there was no attempt',
    )
    rig.gateway.hold = async () => false
    await pollUntil(
      () => !rig.gateway.held.has(fay.prefix),
      () => 'it is held for ever',
    )
    assert.equal(fay.routeState(), 'running')
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
    await observationTime(4_000)
    assert.equal(fay.routeState(), 'running')
  })

  test('where the template says so, a container that does not compute is idle all the same', onlyLong, async (t) => {
    const rig = await startRig(t, { idle_pause: 1, idle_cpu: 0.2 })
    const gus = await rig.person('gus')
    await gus.untilRouteState('paused')
  })

  test('the owner is warned a quarter of the time before a stop, and told of everything else', async (t) => {
    const rig = await startRig(t, { idle_pause: 1, idle_timeout: 8 })
    const begun = Date.now()
    const hal = await rig.person('hal')
    const stream = await openStream(rig.berth, hal.token)
    await hal.untilRouteState('asleep')
    const stoppedAt = Date.now()
    assert.equal(await rig.control.wake(hal.prefix), undefined)
    const heard = () => stream.events.filter(({ name }) => name === 'container' || name === 'idle')
    await pollUntil(
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
    const stopped = stream.events.find(({ data }) => data.status === 'asleep')?.data
    assert.equal(stopped?.why, 'idle')
    assert.ok(Date.parse(String(stopped?.since)) <= stoppedAt)
    const warning = stream.events.find(({ name }) => name === 'idle')
    const at = Date.parse(String(warning?.data.at))
    assert.ok(
      at >= begun + 7_000 && at <= stoppedAt + 1_000,
      `${at - begun} ms, and stopped after ${stoppedAt - begun}`,
    )
  })

  test(
    'who was warned keeps it with a word, and every page hears of both, also one that is opened later',
    onlyLong,
    async (t) => {
      const rig = await startRig(t, { idle_timeout: 12 })
      const lea = await rig.person('lea')
      // Held up, so that a slow machine cannot stop it before it was kept.
      const held = Promise.withResolvers<boolean>()
      rig.gateway.hold = () => held.promise
      const idlesIn = ({ events }: OpenStream) => events.flatMap(({ name, data }) => (name === 'idle' ? [data] : []))
      const heard = (stream: OpenStream, count: number) =>
        pollUntil(
          () => idlesIn(stream).length === count,
          () => stream.text(),
          30_000,
        )
      const first = await openStream(rig.berth, lea.token)
      await heard(first, 1)
      const late = await openStream(rig.berth, lea.token)
      await heard(late, 1)
      assert.deepEqual(idlesIn(late), idlesIn(first))
      assert.ok(late.events.findIndex(({ name }) => name === 'idle') > 0, 'it is part of the snapshot')
      const asked = Date.now()
      const { body } = await lea.call('POST', '/api/container/keep/dev')
      const until = Date.parse(body.until)
      assert.ok(until >= asked + 12_000 && until <= Date.now() + 12_000, body.until)
      for (const stream of [first, late]) {
        await heard(stream, 2)
        assert.deepEqual(idlesIn(stream)[1], { type: 'dev', action: 'stop', at: null })
      }
      held.resolve(true)
      // Once more, so that however long that took there is no other warning yet.
      await lea.call('POST', '/api/container/keep/dev')
      const after = await openStream(rig.berth, lea.token)
      await pollUntil(
        () => after.lastId() !== undefined,
        () => after.text(),
      )
      assert.deepEqual(idlesIn(after), [])
      assert.equal(lea.routeState(), 'running')
      for (const stream of [first, late, after]) stream.close()
    },
  )

  test('a container that was about to be put to rest when its owner kept it runs on', onlyLong, async (t) => {
    const rig = await startRig(t, { idle_timeout: 1 })
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
    rig.gateway.hold = () => {
      asked.resolve()
      return held.promise
    }
    const max = await rig.person('max')
    await asked.promise
    const { containerId } = max.address()
    const asksAt = Date.now()
    const kept = await max.call('POST', '/api/container/keep/dev')
    assert.ok(Date.parse(kept.body.until) > asksAt, kept.text)
    rig.gateway.hold = async () => false
    held.resolve(true)
    await observationTime(500)
    assert.equal(await engineState(rig.berth, containerId), 'running')
    assert.equal(max.routeState(), 'running')
  })

  test('a container that runs unused is not stopped right after its owner launches it', async (t) => {
    const rig = await startRig(t, { idle_timeout: 6 })
    const kim = await rig.person('kim')
    const { containerId } = kim.address()
    await observationTime(4_000)
    assert.equal((await kim.call('POST', '/api/container/launch/dev')).status, 200)
    await observationTime(3_500)
    assert.equal(await engineState(rig.berth, containerId), 'running')
    await kim.untilRouteState('asleep')
  })

  test('nothing is stopped just because Berth was started again', async (t) => {
    const fields = { idle_timeout: 30 }
    const first = await startRig(t, fields)
    const [ida, joe] = [await first.person('ida'), await first.person('joe')]
    await outside.pause(joe.address().containerId)
    await first.berth.close()
    const { installation, dataDir } = first.berth
    await leaveForAnHour(dataDir)
    const gateway = new FakeGateway()
    await startRig(t, fields, { installation, dataDir, gateway })
    // Two checks of the idle monitor.
    await observationTime(2_500)
    assert.deepEqual([gateway.routeStateOf(ida.prefix), gateway.routeStateOf(joe.prefix)], ['running', 'paused'])
  })

  test('last_used follows the last byte, at the latest when it is put to rest or Berth ends', onlyLong, async (t) => {
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
    rig.control.reportActivity([{ prefix: jim.prefix, at }])
    await jim.untilRouteState('paused')
    await pollUntil(
      async () => (await lastUsed()) === at,
      () => 'last_used did not follow',
    )
  })

  test('a container without idle times runs for ever', onlyLong, async (t) => {
    const rig = await startRig(t)
    const kim = await rig.person('kim')
    await observationTime(2_500)
    assert.equal(kim.routeState(), 'running')
    await outside.pause(kim.address().containerId)
    await kim.untilRouteState('paused')
  })
})

/** As if nothing had been used for an hour, which is longer than any idle time here, in which Berth did not run. */
async function leaveForAnHour(dataDir: string): Promise<void> {
  const { db, close } = await openDatabase(null, dataDir)
  for (const table of ['users', 'user_containers'] as const)
    await db
      .updateTable(table)
      .set({ last_used: Date.now() - 3_600_000 })
      .execute()
  await close()
}
