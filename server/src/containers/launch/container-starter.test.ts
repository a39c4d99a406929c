import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { refusals } from '#/refusals/errors.ts'
import type { LaunchSlot } from './launch-queue.ts'
import { StartVerifier, ContainerStarter, type Start, type ContainerStarterParts } from './container-starter.ts'

const owner = { userId: 1, slug: 'ann', type: 'dev' }
const start = {
  record: { containerId: 'old', image: 'app:1', retiredAt: null, fullLayer: null },
  spec: { name: 'berth-ann-dev', owner, image: 'app:1', home: { path: '/home', volume: 'v' } },
  folders: [],
  onStep: () => undefined,
} as unknown as Start

/** A starter whose launch is cancelled while it waits for the snapshot, and what is done. */
function arrange(fetchImage: () => Promise<void> = async () => undefined) {
  const done: string[] = []
  const cancel = new AbortController()
  const starter = new ContainerStarter({
    runtime: {
      imageId: async () => 'new',
      fetchImage,
      create: () => Promise.reject(new Error('create')),
      remove: async (id: string) => void done.push(`remove ${id}`),
    },
    beforeImage: async (_: unknown, signal?: AbortSignal) => {
      cancel.abort(refusals.launchStopped())
      signal?.throwIfAborted()
      done.push('snapshot')
    },
  } as unknown as ContainerStarterParts)
  const slot: LaunchSlot = {
    fetch: (work) => work(cancel.signal),
    create: (work) => work({}),
    start: () => Promise.reject(new Error('start')),
  }
  return { starter, slot, done }
}

// Its image has the name of the old one: only the old container tells that it is another.
test('a launch that is cancelled before another image gets the home leaves the old container to the next one', async () => {
  const { starter, slot, done } = arrange()
  const old = { id: 'old', state: 'exited', imageId: 'before' } as RuntimeContainer
  await assert.rejects(starter.createAndStart(start, old, 'before', slot), { code: 'launchStopped' })
  assert.deepEqual(done, [])
})

// `docker system prune` removes stopped containers; an hour later the record is forgotten, and then the image is another.
test('a home whose container was removed from outside gets another image only after its snapshot', async () => {
  const { starter, slot: cancelled, done } = arrange()
  const forgotten = { ...start, record: { ...start.record, containerId: null } } as Start
  const { signal } = new AbortController()
  const slot: LaunchSlot = { ...cancelled, fetch: (work) => work(signal) }
  const launch = (each: Start) => assert.rejects(starter.createAndStart(each, undefined, undefined, slot), /create/)
  await launch(forgotten)
  assert.deepEqual(done, [], 'the same image needs none')
  await launch({ ...forgotten, spec: { ...start.spec, image: 'app:2' } })
  assert.deepEqual(done, ['snapshot'])
})

test('a restart, which has removed the old container, makes its snapshot also when it is cancelled meanwhile', async () => {
  const { starter, slot, done } = arrange()
  await assert.rejects(starter.createAndStart(start, undefined, 'before', slot), /create/)
  assert.deepEqual(done, ['snapshot'])
})

// An image that cannot be pulled cost the files outside the home, and what had run could not be started any more.
test('the old container stays while the image of the new one cannot be had', async () => {
  const { starter, slot, done } = arrange(() => Promise.reject(new RuntimeError('image', 'pull')))
  const old = { id: 'old', state: 'exited', imageId: 'before' } as RuntimeContainer
  await assert.rejects(starter.createAndStart(start, old, 'before', slot), { kind: 'image' })
  assert.deepEqual(done, [])
})

const ends = { 'the kernel, short of memory,': 137, 'an engine that is being stopped': 143, 'its own program': 1 }
for (const [who, exitCode] of Object.entries(ends))
  test(`a stopped container that ${who} ends at its start is ${exitCode === 1 ? '' : 'not '}made anew`, async () => {
    const found = { id: 'old', state: 'exited', fingerprint: 'f', imageId: 'i', exitCode } as RuntimeContainer
    const runtime = {
      capabilities: dockerCapabilities,
      imageId: async () => 'i',
      start: async () => undefined,
      inspectId: async () => found,
      logs: async () => [],
    }
    const stored = { set: () => stored, where: () => stored, execute: async () => undefined }
    const database = { db: { updateTable: () => stored } }
    const starter = new ContainerStarter({
      runtime,
      database,
      log: { warn: () => undefined },
    } as unknown as ContainerStarterParts)
    const known = { ...start, spec: { ...start.spec, fingerprint: 'f' }, files: [] } as unknown as Start
    const tried = starter.tryToStart(known, found)
    if (exitCode === 1) assert.equal(await tried, undefined)
    else await assert.rejects(tried, { name: 'LaunchFailure', exitCode })
  })

/** A start is watched for so long at least, in ms. */
const watched = 400
/** Longer than a start is watched. */
const longEnough = 700

const spec = { name: 'i-ann-dev', owner: { userId: 1, slug: 'ann', type: 'dev' }, image: 'app' } as ContainerSpec

/** Programs that end on order; nothing but what `StartVerifier` asks for. */
class FallingRuntime {
  readonly states = new Map<string, string | undefined>()
  readonly capabilities = { hasNodes: false }

  async inspectId(id: string): Promise<RuntimeContainer | undefined> {
    const state = this.states.get(id)
    return state === undefined ? undefined : ({ id, state, exitCode: 1 } as RuntimeContainer)
  }

  start(id: string, fallsAfter = Infinity): void {
    this.states.set(id, 'running')
    if (fallsAfter < Infinity) setTimeout(() => this.states.set(id, 'exited'), fallsAfter)
  }
}

function arrangeVerifier() {
  const runtime = new FallingRuntime()
  const verifier = new StartVerifier(runtime as unknown as Runtime)
  const settle = async (id: string) => {
    const started = performance.now()
    await verifier.verify(spec, id)
    return performance.now() - started
  }
  return { runtime, settle }
}

test('a program that ends at once is never called running, although the engine says so at first', async () => {
  const { runtime, settle } = arrangeVerifier()
  runtime.start('a', 100)
  await assert.rejects(settle('a'), { kind: 'failed', message: /ended at once \(exited, exit code 1\)/ })
})

test('once a program has lasted, its next start is believed at once', async () => {
  const { runtime, settle } = arrangeVerifier()
  runtime.start('a')
  assert.ok((await settle('a')) >= watched)
  runtime.start('b')
  assert.ok((await settle('b')) < watched)
})

test('a program that fell over after it was believed is watched again', async () => {
  const { runtime, settle } = arrangeVerifier()
  runtime.start('a')
  await settle('a')
  runtime.start('b', 100)
  await settle('b')
  await sleep(longEnough)
  runtime.start('c', 100)
  await assert.rejects(settle('c'), { kind: 'failed' })
})

test('a container that was removed right after its start does not count as a failure of its program', async () => {
  const { runtime, settle } = arrangeVerifier()
  runtime.start('a')
  await settle('a')
  runtime.start('b')
  await settle('b')
  runtime.states.delete('b')
  await sleep(longEnough)
  runtime.start('c')
  assert.ok((await settle('c')) < watched)
})
