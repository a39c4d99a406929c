import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { inspect, promisify } from 'node:util'
import { EngineClient } from '#/runtime/docker-engine/client/engine-client.ts'
import { createDockerRuntime } from '#/runtime/docker-engine/docker-runtime.ts'
import { findEngineAddress } from '#/runtime/docker-engine/client/engine-address.ts'
import { HomeQuota } from '#/runtime/docker-engine/homes/home-quota.ts'
import { ImagePulls } from '#/runtime/docker-engine/images/image-pull.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { RuntimeEvent } from '#/runtime/runtime.ts'
import type { PullProgress } from '#/runtime/runtime-container.ts'
import { askEngine, engineAddress } from '../support/engine/engine.ts'
import {
  endlessEngine,
  pingOnlyProxy,
  truncatingEngine,
  unresponsiveEngine,
  engineAnswering,
  hangingEngine,
  linkToEngine,
  ok,
  refusal,
} from '../support/engine/faulty-engines.ts'
import { startRegistry } from '../support/engine/registry.ts'
import { eventually, look, ofKind, openAt, openDockerEngine } from '../support/engine/runtimes.ts'

/** What the Docker Engine adapter makes of engines that misbehave, and of images that have to be fetched. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, spec } = rig

test('an image that is missing is fetched from its registry', async (t) => {
  const { image } = await startRegistry(t)
  const created = await runtime.create(spec('fetched', { image, port: null }))
  assert.equal(created.port, 8081)
  await runtime.remove(created.id)
})

test('whoever gives up waiting for an image does not end the pull for the others', async (t) => {
  const registry = await startRegistry(t, { isSlow: true })
  const gaveUp = new AbortController()
  const one = runtime.create(spec('impatient', { image: registry.image }), { signal: gaveUp.signal })
  const other = runtime.create(spec('patient', { image: registry.image }))
  await eventually(() => assert.ok(registry.waiting() > 0))
  gaveUp.abort(new Error('the person left'))
  await assert.rejects(one, /the person left/)
  registry.open()
  const { id } = await other
  assert.equal((await look(runtime, id)).state, 'created')
  assert.equal(await runtime.inspect(`${rig.installation}-impatient`), undefined)
  await runtime.remove(id)
})

test('a pull ends when nobody waits for it any more', async (t) => {
  const registry = await startRegistry(t, { isSlow: true })
  const gaveUp = new AbortController()
  const attempt = runtime.create(spec('alone', { image: registry.image }), { signal: gaveUp.signal })
  await eventually(() => assert.ok(registry.waiting() > 0))
  gaveUp.abort(new Error('the person left'))
  await assert.rejects(attempt, /the person left/)
  await eventually(() => assert.equal(registry.waiting(), 0))
})

test('everybody who waits for an image is told how far it is, who comes later at once', async (t) => {
  const registry = await startRegistry(t, { isSlow: true, layers: [1_000_000, 2_000_000, 1_000] })
  const began = performance.now()
  const wait = (name: string) => {
    const told: PullProgress[] = []
    const options = { onPull: (progress: PullProgress) => void told.push(progress) }
    return { told, created: runtime.create(spec(name, { image: registry.image }), options) }
  }
  const early = wait('early')
  const all = 3_000_000
  await eventually(() => {
    const { bytesDone = 0, bytesTotal = 0 } = early.told.at(-1) ?? {}
    assert.ok(bytesDone > 100_000 && bytesTotal > all)
  })
  const late = wait('late')
  await eventually(() => assert.ok(late.told.length > 0))
  const [first] = late.told
  assert.ok(first && first.layersTotal === 3 && first.bytesDone > 100_000 && first.bytesTotal > all, inspect(first))
  assert.ok(first.bytesDone < all && first.layersDone < 3, inspect(first))
  registry.open()
  const created = await Promise.all([early.created, late.created])
  const max = 2 + (performance.now() - began) / 250
  for (const { told } of [early, late]) {
    const last = told.at(-1)
    assert.ok(last && last.layersDone === 3 && last.layersTotal === 3, inspect(last))
    assert.ok(last.bytesDone === last.bytesTotal && last.bytesTotal > all, inspect(last))
    assert.ok(told.length <= max, `told ${told.length} times`)
    assert.deepEqual(
      told.map(({ bytesDone }) => bytesDone),
      told.map(({ bytesDone }) => bytesDone).toSorted((one, other) => one - other),
    )
  }
  for (const { id } of created) await runtime.remove(id)
})

test('a registry that falls silent is an image that is not to be had, and is not waited for any longer', async (t) => {
  const registry = await startRegistry(t, { isSlow: true, layers: [1_000_000] })
  const pulls = new ImagePulls(new EngineClient(engineAddress), 2_000)
  await assert.rejects(pulls.pull(registry.image), (error) => {
    assert.ok(ofKind('image')(error) && error instanceof RuntimeError)
    assert.match(String(error.cause), /no progress for 2000 ms/)
    return true
  })
  await eventually(() => assert.equal(registry.waiting(), 0))
})

test('an image whose registry knows nobody like us is one that cannot be had', async (t) => {
  const { image } = await startRegistry(t, { isPrivate: true })
  await assert.rejects(runtime.create(spec('unknown', { image })), ofKind('image'))
})

test('an engine that accepts and never answers is unreachable within 4 s, whatever it is asked', async (t) => {
  const { runtime, installation } = openAt(await unresponsiveEngine(t), t)
  const id = 'a'.repeat(64)
  const began = performance.now()
  const calls = [
    runtime.prepare(),
    runtime.ping(),
    runtime.inspect(installation),
    runtime.inspectId(id),
    runtime.create(spec('deaf')),
    runtime.start(id),
    runtime.pause(id),
    runtime.stop(id),
    runtime.remove(id),
    runtime.list(),
    runtime.logs(id, 5),
    runtime.followLogs(id, 5, () => undefined, new AbortController().signal),
    runtime.homes(),
    runtime.removeHome(installation),
    runtime.measureHomes(new AbortController().signal),
    runtime.cpuUsage(id),
  ]
  await Promise.all(calls.map((call) => assert.rejects(call, ofKind('unreachable'))))
  assert.ok(performance.now() - began < 4_000)
})

test('hundreds of followed logs take no connection from pings, questions and verbs', async (t) => {
  // As 51 people with five open logs each: with one pool of 256 connections the ping was not answered within 3 s.
  const { id } = await rig.run('followed')
  const away = new AbortController()
  t.after(() => away.abort())
  const distant = createDockerRuntime({
    installation: rig.installation,
    dockerHost: engineAddress,
    network: rig.installation,
  })
  let heard = 0
  for (let each = 0; each < 300; each++)
    void distant
      .followLogs(id, 1, () => void heard++, away.signal)
      .catch((error: unknown) => t.diagnostic(String(error)))
  // Each is told the last line, or is open without one; until they are.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const began = performance.now()
  await Promise.all([distant.ping(), distant.inspectId(id), distant.list({ ids: [id] }), distant.cpuUsage(id)])
  await distant.pause(id)
  await distant.start(id)
  assert.ok(performance.now() - began < 2_500, `${performance.now() - began} ms`)
})

test('hundreds of verbs that never return take no connection from pings, questions and streams', async (t) => {
  const { id } = await rig.run('stuck')
  const { address, hang } = await hangingEngine(t)
  hang(/\/stop\?/)
  const distant = createDockerRuntime({
    installation: rig.installation,
    dockerHost: address,
    network: rig.installation,
  })
  const gaveUp = new AbortController()
  const stops = Array.from({ length: 300 }, () => distant.stop(id, gaveUp.signal).catch((error: unknown) => error))
  await new Promise((resolve) => setTimeout(resolve, 500))
  const began = performance.now()
  await Promise.all([distant.ping(), distant.inspectId(id), distant.logs(id, 5), distant.cpuUsage(id)])
  assert.ok(performance.now() - began < 2_500, `${performance.now() - began} ms`)
  gaveUp.abort(new Error('enough'))
  await Promise.all(stops)
})

test('an engine that falls silent later is unreachable within 4 s, and who gives up earlier is free at once', async (t) => {
  const line = await linkToEngine(t)
  const { runtime } = openAt(line.address, t)
  await runtime.prepare()
  line.stopUp()
  const began = performance.now()
  await assert.rejects(runtime.create(spec('silent'), { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
  assert.ok(performance.now() - began < 1_000)
  await assert.rejects(runtime.list(), ofKind('unreachable'))
  assert.ok(performance.now() - began < 4_000)
})

test('an answer that breaks off is no answer, and is not waited for', async (t) => {
  const { runtime, installation } = openAt(await truncatingEngine(t), t)
  const began = performance.now()
  await assert.rejects(runtime.inspect(installation), ofKind('unreachable'))
  await assert.rejects(runtime.create(spec('broken')), ofKind('unreachable'))
  assert.ok(performance.now() - began < 1_000)
})

test('a proxy that knows no such path does not make a container missing', async (t) => {
  const { runtime, installation } = openAt(await pingOnlyProxy(t), t)
  await assert.rejects(runtime.inspect(installation), ofKind('failed'))
  const id = 'a'.repeat(64)
  for (const call of [runtime.start(id), runtime.pause(id), runtime.logs(id, 5), runtime.cpuUsage(id)])
    await assert.rejects(call, ofKind('failed'))
})

test('an engine that is not there is unreachable, and says where it was looked for', async (t) => {
  for (const address of ['unix:///nowhere/engine.sock', 'tcp://127.0.0.1:1']) {
    const { runtime } = openAt(address, t)
    await assert.rejects(runtime.ping(), (error) => {
      assert.ok(error instanceof RuntimeError && error.kind === 'unreachable')
      assert.match(String(error.cause), /\/nowhere\/engine\.sock|127\.0\.0\.1:1/)
      return true
    })
  }
})

test('after an interruption whoever watches is told to look at everything, and hears single changes again', async (t) => {
  const line = await linkToEngine(t)
  const installation = rig.installation
  const distant = createDockerRuntime({ installation, dockerHost: line.address, network: installation })
  const { id } = await runtime.create(spec('interrupted'))
  const away = new AbortController()
  t.after(() => away.abort())
  const heard: RuntimeEvent[] = []
  distant.watch((event) => void heard.push(event), away.signal)
  const hears = () =>
    eventually(async () => {
      await runtime.start(id)
      await runtime.stop(id)
      assert.ok(heard.some((event) => event.id === id))
    })
  await hears()
  assert.ok(!heard.some((event) => event.id === undefined))
  line.cut()
  await eventually(() => assert.ok(heard.some(({ id, action }) => id === undefined && action === 'other')))
  const blind = { id: undefined, action: 'lost' }
  assert.deepEqual(
    heard.filter((event) => event.id === undefined),
    [blind, { id: undefined, action: 'other' }],
  )
  heard.length = 0
  await hears()
})

test('whoever watches an engine that is not there is told once that it is blind, and nothing after it turned away', async (t) => {
  const { runtime } = openAt('unix:///nowhere/engine.sock', t)
  const away = new AbortController()
  t.after(() => away.abort())
  const heard: RuntimeEvent[] = []
  runtime.watch((event) => void heard.push(event), away.signal)
  // Long enough for four attempts.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.deepEqual(heard, [{ id: undefined, action: 'lost' }])
})

test('whoever turns away from the events is not told that they are lost', async () => {
  const away = new AbortController()
  const heard: RuntimeEvent[] = []
  runtime.watch((event) => void heard.push(event), away.signal)
  await runtime.ping()
  away.abort()
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.ok(!heard.some(({ action }) => action === 'lost'))
})

test('an engine that sends more output than was asked for, or than it says, or none, costs neither memory nor time', async (t) => {
  const { id } = await rig.run('output')
  const logsOf = async (answer: string) => {
    const address = await engineAnswering(t, /\/logs\?/, answer)
    return createDockerRuntime({ installation: rig.installation, dockerHost: address, network: rig.installation }).logs(
      id,
      20,
    )
  }
  const frame = (text: string, length = text.length) => `\x01\0\0\0\0\0\0${String.fromCharCode(length)}${text}`
  const began = performance.now()
  assert.deepEqual(await logsOf(ok(frame('a\n').repeat(10_000))), [])
  assert.deepEqual(await logsOf(ok(frame('whole\n') + frame('broken', 100))), ['whole', 'broken'])
  assert.deepEqual(await logsOf(ok(`${frame('whole\n')}\x01\0\0`)), ['whole'])
  assert.deepEqual(await logsOf(ok('')), [])
  await assert.rejects(logsOf(refusal(501, 'configured logging driver does not support reading')), ofKind('failed'))
  assert.deepEqual(await logsOf(refusal(404, `No such container: ${id}`)), [])
  assert.ok(performance.now() - began < 2_000)
  await assert.rejects(logsOf('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'), ofKind('unreachable'))
  assert.ok(performance.now() - began < 6_000)
})

test('of an app that never stops writing no more is read than a slow listener takes', async (t) => {
  const { id } = await rig.run('torrent')
  const line = Buffer.from(`\x01\0\0\0\0\0\x04\0${'x'.repeat(1023)}\n`)
  const engine = await endlessEngine(t, /^GET \S+\/logs/, line)
  const { installation } = rig
  const distant = createDockerRuntime({ installation, dockerHost: engine.address, network: installation })
  const away = new AbortController()
  let heard = 0
  const listen = async (text: string) => {
    assert.equal(text, 'x'.repeat(500))
    if (++heard === 10) await new Promise(() => undefined)
  }
  const following = distant.followLogs(id, 0, listen, away.signal)
  await eventually(() => assert.equal(heard, 10))
  // Until all that lies between is full.
  let before = -1
  await eventually(() => {
    const said = engine.said()
    const isStill = said === before
    before = said
    assert.ok(isStill)
  })
  assert.ok(before < 8 * 1024 ** 2, `${before} bytes`)
  away.abort()
  await following
})

test('whoever wants homes measured while somebody else measures waits, until they give up; another failure is told', async (t) => {
  const measure = async (answer: string, signal: AbortSignal) => {
    const dockerHost = await engineAnswering(t, /\/system\/df/, answer)
    return createDockerRuntime({ installation: rig.installation, dockerHost, network: rig.installation }).measureHomes(
      signal,
    )
  }
  const busy = refusal(500, 'a disk usage operation is already running')
  const gaveUp = new AbortController()
  const waiting = measure(busy, gaveUp.signal)
  const isStillWaiting = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 1_500, 'waits'))])
  assert.equal(isStillWaiting, 'waits')
  gaveUp.abort(new Error('nobody wants to know'))
  await assert.rejects(waiting, /nobody wants to know/)
  const signal = AbortSignal.timeout(60_000)
  await assert.rejects(measure(refusal(500, 'input/output error'), signal), ofKind('failed'))
  assert.deepEqual(await measure(ok('{"Volumes":null}'), signal), new Map())
})

test('a proxy that knows no such path does not make a volume missing', async (t) => {
  const { runtime } = openAt(await pingOnlyProxy(t), t)
  await assert.rejects(runtime.removeHome('some-home'), ofKind('failed'))
})

test('a home is bound to its size where the engine can do so, and nothing is left of trying', async (t) => {
  const sized = (name: string) => {
    const home = { volume: `${rig.installation}-${name}`, path: '/home/berth', size: 64 * 1024 ** 2 }
    return { volume: home.volume, spec: spec(name, { home }) }
  }
  const optionsOf = async (volume: string) =>
    (await askEngine<{ Options: object | null }>('GET', `/volumes/${volume}`)).Options
  const expected = (await runtime.host()).supportsHomeQuota ? { size: String(64 * 1024 ** 2) } : null
  const real = sized('sized')
  await runtime.create(real.spec)
  assert.deepEqual(await optionsOf(real.volume), expected)
  const probes = { filters: JSON.stringify({ label: [`berth.instance=${rig.installation}`, 'berth.probe'] }) }
  assert.deepEqual((await askEngine<{ Volumes: unknown }>('GET', '/volumes', { query: probes })).Volumes ?? [], [])
  // One that takes the trial, whatever is behind it: the size is asked for then.
  const dockerHost = await engineAnswering(t, /\/volumes\/create/, ok('{}'))
  const boasting = createDockerRuntime({ installation: rig.installation, dockerHost, network: rig.installation })
  assert.equal((await boasting.host()).supportsHomeQuota, true)
  const other = sized('boasted')
  const outcome = await boasting.create(other.spec).then(
    () => optionsOf(other.volume),
    (error: RuntimeError) => String(error.cause),
  )
  assert.match(JSON.stringify(outcome), /quota size requested but no quota support|67108864/)
})

test('that sizes cannot be bound is remembered, and a failure to find out is not', async (t) => {
  const timesAsked = async (answer: string) => {
    let asked = 0
    const address = await engineAnswering(t, /\/volumes\/create/, answer, async () => void asked++)
    const homeSize = new HomeQuota(new EngineClient(address), rig.installation)
    assert.deepEqual([await homeSize.isSupported(), await homeSize.isSupported()], [false, false])
    return asked
  }
  assert.equal(await timesAsked(refusal(400, 'create x: quota size requested but no quota support')), 1)
  assert.equal(await timesAsked(refusal(500, 'database is locked')), 2)
})

test('an engine that measures nothing or talks nonsense gives no usage, and never zero', async (t) => {
  const { id } = await rig.run('measured')
  const usageOf = async (answer: string) => {
    const address = await engineAnswering(t, /\/stats\?/, answer)
    return createDockerRuntime({
      installation: rig.installation,
      dockerHost: address,
      network: rig.installation,
    }).cpuUsage(id)
  }
  for (const nothing of ['', '{}', '{"cpu_stats":{"cpu_usage":{"total_usage":0}}}'])
    assert.equal(await usageOf(ok(nothing)), undefined)
  assert.equal(await usageOf(refusal(404, `No such container: ${id}`)), undefined)
  assert.deepEqual(await usageOf(ok('{"cpu_stats":{"cpu_usage":{"total_usage":1500000000}}}')), { cpuSeconds: 1.5 })
  await assert.rejects(usageOf(ok('<html>')), ofKind('unreachable'))
  await assert.rejects(usageOf(refusal(500, 'no cgroup')), ofKind('failed'))
})

test('an engine that cannot freeze says so, also when it says it in the words of a name that is taken', async (t) => {
  const { id } = await rig.run('warm')
  const pauseAt = async (answer: string) => {
    const address = await engineAnswering(t, /\/pause /, answer)
    return createDockerRuntime({
      installation: rig.installation,
      dockerHost: address,
      network: rig.installation,
    }).pause(id)
  }
  await assert.rejects(pauseAt(refusal(500, 'cgroups: cannot freeze')), ofKind('failed'))
  await assert.rejects(pauseAt(refusal(409, 'is not running')), ofKind('failed'))
  await assert.rejects(pauseAt(refusal(404, `No such container: ${id}`)), ofKind('missing'))
  assert.equal((await look(runtime, id)).state, 'running')
})

test('a container runs after a start even if somebody paused or stopped it between the look and the start', async (t) => {
  const { id } = await rig.run('contested')
  const startAt = async (part: RegExp, answer: string, meanwhile: () => Promise<void>) => {
    const address = await engineAnswering(t, part, answer, meanwhile)
    await createDockerRuntime({ installation: rig.installation, dockerHost: address, network: rig.installation }).start(
      id,
    )
    assert.equal((await look(runtime, id)).state, 'running')
  }
  await startAt(/\/start /, refusal(409, 'cannot start a paused container'), () => rig.pause(id))
  await rig.pause(id)
  await startAt(/\/unpause /, refusal(500, `Container ${id} is not paused`), () => runtime.stop(id))
})

test('a process that has turned away from the events can end', async () => {
  const script = `
    import { createDockerRuntime } from '${import.meta.resolve('#/runtime/docker-engine/docker-runtime.ts')}'
    const runtime = createDockerRuntime({ instance: 'test-none', dockerHost: '${engineAddress}', network: 'test-none' })
    const away = new AbortController()
    runtime.watch(() => undefined, away.signal)
    await runtime.ping()
    setTimeout(() => away.abort(), 300)`
  const args = ['--input-type=module', '--eval', script]
  await promisify(execFile)(process.execPath, args, { timeout: 10_000 })
})

test('the engine that the operator names is taken, and an address that cannot be one is refused with a sentence', () => {
  assert.equal(findEngineAddress('tcp://engine:2375'), 'tcp://engine:2375')
  assert.match(findEngineAddress(undefined), /^unix:\/\/\/.+\.sock$/)
  for (const dockerHost of ['/var/run/docker.sock', 'ssh://host', 'unix://', 'tcp://', 'tcp://host/path', 'nonsense'])
    assert.throws(
      () => createDockerRuntime({ installation: 'x', dockerHost, network: 'x' }),
      /DOCKER_HOST .* unix:\/\/\/path or tcp:\/\/host:port/,
      dockerHost,
    )
})
