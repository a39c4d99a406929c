// Part of npm run test:more: answers that no engine in use gives.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EngineClient } from '#/engines/docker/engine-client.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { findEngineAddress } from '#/engines/docker/engine-address.ts'
import { HomeQuota } from '#/engines/docker/home-volumes.ts'
import type { RuntimeError } from '#/engines/runtime-error.ts'
import { askEngine } from '../support/engine/engine.ts'
import { endlessEngine, pingOnlyProxy, engineAnswering, ok, refusal } from '../support/engine/faulty-engines.ts'
import { eventually, look, ofKind, openAt, openDockerEngine } from '../support/engine/runtimes.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Output, homes, quotas and usage from engines that answer wrongly; races between a look and a start. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, spec } = rig

test('an engine that sends more output than was asked for, or than it says, or none, costs neither memory nor time', async (t) => {
  const { id } = await rig.run('output')
  const { installation } = rig
  const logsOf = async (answer: string, limit = 2_900) => {
    const dockerHost = await engineAnswering(t, /\/logs\?/, answer)
    const distant = createDockerRuntime({ installation, dockerHost, network: installation })
    const began = performance.now()
    // An engine that is waited for costs 3 s.
    return distant.logs(id, 20).finally(() => assert.ok(performance.now() - began < limit, 'it was waited for'))
  }
  const frame = (text: string, length = text.length) => `\x01\0\0\0\0\0\0${String.fromCharCode(length)}${text}`
  assert.deepEqual(await logsOf(ok(frame('a\n').repeat(10_000))), [])
  assert.deepEqual(await logsOf(ok(frame('whole\n') + frame('broken', 100))), ['whole', 'broken'])
  assert.deepEqual(await logsOf(ok(`${frame('whole\n')}\x01\0\0`)), ['whole'])
  assert.deepEqual(await logsOf(ok('')), [])
  await assert.rejects(logsOf(refusal(501, 'configured logging driver does not support reading')), ofKind('failed'))
  assert.deepEqual(await logsOf(refusal(404, `No such container: ${id}`)), [])
  const stalled = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'
  await assert.rejects(logsOf(stalled, timeLimit(6_000)), ofKind('unreachable'))
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

/** Without a line end there is no listener to wait for: each page that followed such a program read as fast as it wrote. */
test('of an app that never ends a line no more is read than its rate', async (t) => {
  const { id } = await rig.run('lineless')
  const piece = Buffer.concat([Buffer.from('\x01\0\0\0\0\x01\0\0', 'latin1'), Buffer.alloc(65_536, 'x')])
  const engine = await endlessEngine(t, /^GET \S+\/logs/, piece)
  const { installation } = rig
  const distant = createDockerRuntime({ installation, dockerHost: engine.address, network: installation })
  await distant.followLogs(id, 0, assert.fail, AbortSignal.timeout(3_000))
  assert.ok(engine.said() > 0)
  // 2 MiB at once, 256 KiB a second, and what the connection holds.
  assert.ok(engine.said() < 12 * 1024 ** 2, `${engine.said()} bytes`)
})

/** Where there is no container tool for the machine of the engine, which measures all volumes then. */
const withoutTool = (installation: string, dockerHost: string) =>
  createDockerRuntime({ installation, dockerHost, network: installation, toolFolder: '/nowhere' })

test('a measurement of homes waits for one under way until its signal aborts; other failures are reported', async (t) => {
  const home = { volume: `${rig.installation}-busy`, path: '/home/berth', size: null }
  await runtime.create(spec('busy', { home }))
  const measure = async (answer: string, signal: AbortSignal) => {
    const dockerHost = await engineAnswering(t, /\/system\/df/, answer)
    const { installation } = rig
    return withoutTool(installation, dockerHost).measureHomes(signal)
  }
  const busy = refusal(500, 'a disk usage operation is already running')
  const gaveUp = new AbortController()
  const waiting = measure(busy, gaveUp.signal)
  const isStillWaiting = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 1_500, 'waits'))])
  assert.equal(isStillWaiting, 'waits')
  gaveUp.abort(new Error('the caller gave up'))
  await assert.rejects(waiting, /the caller gave up/)
  const signal = AbortSignal.timeout(60_000)
  await assert.rejects(measure(refusal(500, 'input/output error'), signal), ofKind('failed'))
  assert.deepEqual(await measure(ok('{"Volumes":null}'), signal), new Map())
})

// One path that is too long for the engine made it say -1, and the home counted as it had before, for ever.
test('a home at which the engine failed is told from one that it does not measure', async (t) => {
  const { installation } = rig
  for (const name of ['failed', 'left-out', 'seven']) {
    const home = { volume: `${installation}-${name}`, path: '/home/berth', size: null }
    await runtime.create(spec(name, { home }))
  }
  const volumes = [
    { Name: `${installation}-failed`, UsageData: { Size: -1 } },
    { Name: `${installation}-seven`, UsageData: { Size: 7 } },
  ]
  const dockerHost = await engineAnswering(t, /\/system\/df/, ok(JSON.stringify({ Volumes: volumes })))
  const measured = await withoutTool(installation, dockerHost).measureHomes(AbortSignal.timeout(60_000))
  assert.deepEqual(
    ['failed', 'left-out', 'seven'].map((name) => measured.get(`${installation}-${name}`)),
    [null, undefined, 7],
  )
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
    }).usage(id)
  }
  for (const nothing of ['', '{}', '{"cpu_stats":{"cpu_usage":{"total_usage":0}}}'])
    assert.equal(await usageOf(ok(nothing)), undefined)
  assert.equal(await usageOf(refusal(404, `No such container: ${id}`)), undefined)
  const cpu = '"cpu_stats":{"cpu_usage":{"total_usage":1500000000}}'
  const startedAt = (await runtime.inspectId(id))?.startedAt
  assert.ok(startedAt)
  assert.deepEqual(await usageOf(ok(`{${cpu}}`)), { cpuSeconds: 1.5, memoryBytes: null, startedAt })
  for (const [name, left] of [
    ['inactive_file', 700],
    ['total_inactive_file', 700],
    ['active_file', 1_000],
  ] as const) {
    const memory = `"memory_stats":{"usage":1000,"stats":{"${name}":300}}`
    assert.deepEqual(await usageOf(ok(`{${cpu},${memory}}`)), { cpuSeconds: 1.5, memoryBytes: left, startedAt })
  }
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

test('a container runs after a start even if it was paused or stopped between inspect and start', async (t) => {
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
