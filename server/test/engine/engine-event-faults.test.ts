import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { engineAddress } from '../support/engine/engine.ts'
import { linkToEngine } from '../support/engine/faulty-engines.ts'
import { eventually, openAt, openDockerEngine } from '../support/engine/runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'

/** The event watch across interruptions of the engine. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, spec } = rig

test('after an interruption a watcher gets the request to list everything, and receives single changes again', async (t) => {
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

test('a watcher of an unreachable engine receives one loss of events, and nothing after it unsubscribed', async (t) => {
  const { runtime } = openAt('unix:///nowhere/engine.sock', t)
  const away = new AbortController()
  t.after(() => away.abort())
  const heard: RuntimeEvent[] = []
  runtime.watch((event) => void heard.push(event), away.signal)
  // Long enough for four attempts.
  await observationTime(1_000)
  assert.deepEqual(heard, [{ id: undefined, action: 'lost' }])
})

test('a watcher that unsubscribes receives no loss of events', async () => {
  const away = new AbortController()
  const heard: RuntimeEvent[] = []
  runtime.watch((event) => void heard.push(event), away.signal)
  await runtime.ping()
  away.abort()
  await observationTime(300)
  assert.ok(!heard.some(({ action }) => action === 'lost'))
})

test('a process that has turned away from the events can end', async () => {
  const script = `
    import { createDockerRuntime } from '${import.meta.resolve('#/engines/docker/docker-runtime.ts')}'
    const runtime = createDockerRuntime({ installation: 'test-none', dockerHost: '${engineAddress}', network: 'test-none' })
    const away = new AbortController()
    runtime.watch(() => undefined, away.signal)
    await runtime.ping()
    setTimeout(() => away.abort(), 300)`
  const args = ['--input-type=module', '--eval', script]
  await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
})
