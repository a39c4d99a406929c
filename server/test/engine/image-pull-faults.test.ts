import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { EngineClient } from '#/engines/docker/engine-client.ts'
import { ImagePulls } from '#/engines/docker/images.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { PullProgress } from '#/engines/runtime.ts'
import { engineAddress } from '../support/engine/engine.ts'
import { startRegistry } from '../support/engine/registry.ts'
import { eventually, look, ofKind, openDockerEngine } from '../support/engine/runtimes.ts'

/** Faults of image pulls: cancellation, progress, registries that hang or refuse. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, spec } = rig

test('an image that is missing is fetched from its registry', async (t) => {
  const { image } = await startRegistry(t)
  const created = await runtime.create(spec('fetched', { image, port: null }))
  assert.equal(created.port, 8081)
  await runtime.remove(created.id)
  // Docker 20.10 notes no time of a pull: administrators read none beside the image of a template.
  const info = await runtime.imageInfo(image)
  assert.ok((info?.taggedAt ?? 0) > new Date(Date.now() - 60_000), String(info?.taggedAt))
  assert.match(info?.digest ?? '', /^sha256:[0-9a-f]{64}$/)
})

test('a caller that aborts its wait for an image does not end the pull for others', async (t) => {
  const registry = await startRegistry(t, { isSlow: true })
  const gaveUp = new AbortController()
  const one = runtime.create(spec('abandoned', { image: registry.image }), { signal: gaveUp.signal })
  const other = runtime.create(spec('patient', { image: registry.image }))
  await eventually(() => assert.ok(registry.waiting() > 0))
  gaveUp.abort(new Error('the person left'))
  await assert.rejects(one, /the person left/)
  registry.open()
  const { id } = await other
  assert.equal((await look(runtime, id)).state, 'created')
  assert.equal(await runtime.inspect(`${rig.installation}-abandoned`), undefined)
  await runtime.remove(id)
})

test('a pull ends when no caller waits for it', async (t) => {
  const registry = await startRegistry(t, { isSlow: true })
  const gaveUp = new AbortController()
  const attempt = runtime.create(spec('alone', { image: registry.image }), { signal: gaveUp.signal })
  await eventually(() => assert.ok(registry.waiting() > 0))
  gaveUp.abort(new Error('the person left'))
  await assert.rejects(attempt, /the person left/)
  await eventually(() => assert.equal(registry.waiting(), 0))
})

test('every caller that waits for an image receives its progress, a later one at once', async (t) => {
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

test('an image of a private registry is pulled with the credentials of its template, and unavailable without', async (t) => {
  const { image } = await startRegistry(t, { account: 'lab:top secret?' })
  await assert.rejects(runtime.create(spec('unknown', { image })), ofKind('image'))
  const wrong = { username: 'lab', password: 'hunter2?' }
  await assert.rejects(runtime.create(spec('unknown', { image }), { credentials: () => wrong }), (error) => {
    assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /hunter2|aHVudGVyMj/)
    return ofKind('image')(error)
  })
  const right = { username: 'lab', password: 'top secret?' }
  const { id } = await runtime.create(spec('known', { image }), { credentials: () => right })
  await runtime.remove(id)
})
