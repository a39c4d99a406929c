import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { engineAddress } from '../support/engine/engine.ts'
import {
  pingOnlyProxy,
  truncatingEngine,
  unresponsiveEngine,
  hangingEngine,
  linkToEngine,
} from '../support/engine/faulty-engines.ts'
import { ofKind, openAt, openDockerEngine } from '../support/engine/runtimes.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Timeouts and connection limits of the Docker Engine client against engines that hang or break off. */
const rig = await openDockerEngine()
after(() => rig.close())
const { spec } = rig

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
    runtime.usage(id),
  ]
  await Promise.all(calls.map((call) => assert.rejects(call, ofKind('unreachable'))))
  assert.ok(performance.now() - began < timeLimit(4_000))
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
  // Each gets the last line, or is open without one.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const began = performance.now()
  await Promise.all([distant.ping(), distant.inspectId(id), distant.list({ ids: [id] }), distant.usage(id)])
  await distant.pause(id)
  await distant.start(id)
  assert.ok(performance.now() - began < timeLimit(2_500), `${performance.now() - began} ms`)
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
  await Promise.all([distant.ping(), distant.inspectId(id), distant.logs(id, 5), distant.usage(id)])
  assert.ok(performance.now() - began < timeLimit(2_500), `${performance.now() - began} ms`)
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
  assert.ok(performance.now() - began < timeLimit(1_000))
  await assert.rejects(runtime.list(), ofKind('unreachable'))
  assert.ok(performance.now() - began < timeLimit(4_000))
})

test('an answer that breaks off is no answer, and is not waited for', async (t) => {
  const { runtime, installation } = openAt(await truncatingEngine(t), t)
  const began = performance.now()
  await assert.rejects(runtime.inspect(installation), ofKind('unreachable'))
  await assert.rejects(runtime.create(spec('broken')), ofKind('unreachable'))
  assert.ok(performance.now() - began < timeLimit(1_000))
})

test('a proxy that knows no such path does not make a container missing', async (t) => {
  const { runtime, installation } = openAt(await pingOnlyProxy(t), t)
  await assert.rejects(runtime.inspect(installation), ofKind('failed'))
  const id = 'a'.repeat(64)
  for (const call of [runtime.start(id), runtime.pause(id), runtime.logs(id, 5), runtime.usage(id)])
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
