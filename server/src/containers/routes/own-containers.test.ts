import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { timeLimit } from '#test/support/extent.ts'
import { StatusLookups } from './own-containers.ts'

/** An engine in which everything runs, but that never answers about some, and counts what it is asked. */
function engine({ hanging = [] as string[], isListHanging = false } = {}) {
  const asked = { inspects: 0, lists: 0, atOnce: 0, max: 0 }
  const never = () => new Promise<never>(() => undefined)
  const container = (id: string) => ({ id, state: 'running' }) as RuntimeContainer
  const runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities'> = {
    capabilities: dockerCapabilities,
    async inspectId(id) {
      asked.inspects++
      asked.max = Math.max(asked.max, ++asked.atOnce)
      if (hanging.includes(id)) await sleep(3_000)
      else await sleep(20)
      asked.atOnce--
      if (hanging.includes(id)) throw new RuntimeError('unreachable', 'inspect')
      return id === 'gone' ? undefined : container(id)
    },
    async list(filter) {
      asked.lists++
      if (isListHanging) await never()
      return (filter?.ids ?? []).filter((id) => id !== 'gone').map(container)
    },
  }
  return { asked, lookups: new StatusLookups(runtime) }
}

test('a hundred requests for one container cost the engine two look-ups', async () => {
  const { asked, lookups } = engine()
  const states = await Promise.all(Array.from({ length: 100 }, () => lookups.of('c1')))
  assert.deepEqual(new Set(states.map((each) => JSON.stringify(each))), new Set(['{"state":"running"}']))
  assert.equal(asked.inspects, 2)
})

test('a thousand people who read at once have 32 look-ups under way', async () => {
  const { asked, lookups } = engine()
  await Promise.all(Array.from({ length: 1_000 }, (_, each) => lookups.of(`c${each}`)))
  assert.deepEqual([asked.inspects, asked.max], [1_000, 32])
})

test('a container whose look-up hangs is reported within 3 s to every request for it, and delays no other', async () => {
  const { lookups } = engine({ hanging: ['stuck'] })
  const began = performance.now()
  const stuck = Array.from({ length: 50 }, () => lookups.of('stuck'))
  assert.deepEqual(await lookups.of('c1'), { state: 'running' })
  assert.ok(performance.now() - began < timeLimit(500))
  for (const each of stuck) assert.deepEqual(await each, { failure: 'the container engine does not answer' })
  assert.ok(performance.now() - began < timeLimit(3_500))
})

test('a list costs one call; when that is not answered, each container is looked up by itself', async () => {
  const quick = engine()
  const ids = ['c1', 'gone', 'stuck']
  assert.deepEqual(
    [...(await quick.lookups.ofEach(ids)).values()],
    [{ state: 'running' }, { state: 'not_found' }, { state: 'running' }],
  )
  assert.deepEqual([quick.asked.lists, quick.asked.inspects], [1, 0])
  const slow = engine({ isListHanging: true, hanging: ['stuck'] })
  const began = performance.now()
  assert.deepEqual(
    [...(await slow.lookups.ofEach(ids)).values()],
    [{ state: 'running' }, { state: 'not_found' }, { failure: 'the container engine does not answer' }],
  )
  assert.ok(performance.now() - began < timeLimit(5_500))
})

test('where the engine keeps no stopped containers, one that is gone is reported as exited', async () => {
  const runtime = { capabilities: { ...dockerCapabilities, keepsStopped: false }, inspectId: async () => undefined }
  const lookups = new StatusLookups({ ...runtime, list: async () => [] })
  assert.deepEqual(await lookups.of('c1'), { state: 'exited' })
  assert.deepEqual((await lookups.ofEach(['c1'])).get('c1'), { state: 'exited' })
})
