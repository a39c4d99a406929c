import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { inspectId, listContainers } from '#/engines/kubernetes/container-lookup.ts'
import { PodIndex, WatchState } from '#/engines/kubernetes/pod-index.ts'
import { watchPods } from '#/engines/kubernetes/container-events.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { eventually, ofKind } from '../support/engine/runtimes.ts'

/** Lists of a cluster that are answered by what its watch told, and those that are not. */

const running = (name: string, version: string) => storedPod(name, `uid-${name}`, { running: true, version })

/** A cluster that is watched, with pods that the test decides, and a clock of its own. */
async function openWatched(t: TestContext) {
  const world = {
    now: 0,
    pods: podList('5', running('a', '3'), running('b', '4')),
    isAnswering: true,
    /** Called before a whole list is answered. @returns whether it is */
    onList: async () => true,
  }
  const watches: ServerResponse[] = []
  const whole: string[] = []
  const standIn = await openStandIn(t, async ({ path, query }, response) => {
    if (query.get('watch') !== null) {
      response.writeHead(200).flushHeaders()
      return watches.push(response)
    }
    if (!world.isAnswering) return reply(response, 503, status(503, 'ServiceUnavailable'))
    if (!path.endsWith('/pods')) return reply(response, 404, status(404, 'NotFound'))
    const { pods } = world
    if (query.get('limit') === '1') return reply(response, 200, { ...pods, items: pods.items.slice(0, 1) })
    whole.push(path)
    if (!(await world.onList())) return reply(response, 500, status(500, 'InternalError'))
    return reply(response, 200, pods)
  })
  const index = new PodIndex('berth-abcde', new WatchState(() => world.now))
  const cluster = { ...standIn.cluster, index }
  const heard: RuntimeEvent[] = []
  const away = new AbortController()
  t.after(() => away.abort())
  const up = async () => (await listContainers(cluster, { isUp: true })).map(({ name }) => name).toSorted()
  return {
    world,
    cluster,
    heard,
    up,
    all: async () => (await listContainers(cluster)).map(({ name }) => name).toSorted(),
    begin: () => watchPods(cluster, (event) => void heard.push(event), away.signal),
    isOpen: () => eventually(() => assert.ok(index.isWatched)),
    tell: (type: string, object: object) => void watches.at(-1)?.write(`${JSON.stringify({ type, object })}\n`),
    breakWatch: () => watches.at(-1)?.destroy(),
    whole: () => whole.length,
  }
}

// With 20,000 pods the watch, the routes, the reconciler and each look at an unknown container took a list of 5 s each.
test('at the start the watch, lists, and looks at unknown containers share one list', async (t) => {
  const { begin, up, all, cluster, whole } = await openWatched(t)
  begin()
  const [listed, first, second, unknown] = await Promise.all([up(), all(), all(), inspectId(cluster, 'uid-z')])
  assert.deepEqual([listed, first, second, unknown], [['a', 'b'], ['a', 'b'], ['a', 'b'], undefined])
  assert.equal(whole(), 1)
})

test('a list that waits for that of the watch asks by itself when that one fails', async (t) => {
  const { world, begin, up, whole } = await openWatched(t)
  world.onList = async () => {
    world.onList = async () => true
    return false
  }
  begin()
  assert.deepEqual([await up(), whole()], [['a', 'b'], 2])
})

test('a list of what runs is what the watch has told since its list', async (t) => {
  const { world, begin, isOpen, tell, up, whole, heard } = await openWatched(t)
  begin()
  await isOpen()
  world.now = 20_000
  tell('ADDED', running('c', '6'))
  tell('MODIFIED', storedPod('a', 'uid-a', { version: '7' }))
  tell('DELETED', running('b', '8'))
  await eventually(() => assert.equal(heard.length, 4))
  assert.deepEqual([await up(), whole()], [['c'], 1])
})

test('an API server that does not answer is unreachable, whatever its watch told before', async (t) => {
  const { world, begin, isOpen, up, all } = await openWatched(t)
  begin()
  await isOpen()
  world.isAnswering = false
  await assert.rejects(up(), ofKind('unreachable'))
  await assert.rejects(all(), ofKind('unreachable'))
})

test('while the watch is broken, and when it is silent, a list is asked for', async (t) => {
  const { world, begin, isOpen, up, whole, heard, breakWatch } = await openWatched(t)
  begin()
  await isOpen()
  world.pods = podList('9', running('b', '4'))
  world.now = 90_000
  assert.deepEqual([await up(), whole()], [['b'], 2])
  breakWatch()
  await eventually(() => assert.ok(heard.some(({ action }) => action === 'lost')))
  world.pods = podList('10', running('d', '10'))
  const listed = await up()
  // It may be open again by now, and then says what the list before said.
  assert.ok(whole() === 3 ? listed.includes('d') : listed.includes('b'))
})

test('what the watch lost without a word is found by the next list of all, and corrects those of what runs', async (t) => {
  const { world, begin, isOpen, up, all, whole } = await openWatched(t)
  begin()
  await isOpen()
  world.now = 20_000
  world.pods = podList('9', running('b', '4'), running('c', '8'))
  assert.deepEqual(await up(), ['a', 'b'])
  assert.deepEqual([await all(), whole()], [['b', 'c'], 2])
  assert.deepEqual([await up(), whole()], [['b', 'c'], 2])
})

test('a list does not undo what the watch told while it was under way', async (t) => {
  const { world, begin, isOpen, tell, up, all, heard } = await openWatched(t)
  begin()
  await isOpen()
  world.now = 20_000
  world.onList = async () => {
    tell('ADDED', running('c', '6'))
    tell('DELETED', running('a', '7'))
    await eventually(() => assert.equal(heard.length, 3))
    return true
  }
  assert.deepEqual(await all(), ['a', 'b'])
  assert.deepEqual(await up(), ['b', 'c'])
})

test('containers that did not change are the same objects in all lists, so that none is in memory twice', async (t) => {
  const { world, begin, isOpen, cluster } = await openWatched(t)
  begin()
  await isOpen()
  const [before] = await listContainers(cluster, { isUp: true })
  world.now = 20_000
  world.pods = podList('9', running('a', '3'), running('b', '8'))
  const [a, b] = await listContainers(cluster)
  const [, oldB] = await listContainers(cluster, { isUp: true })
  assert.ok(before && a === before)
  assert.ok(b === oldB)
})

/** Pages as an API server writes them: the metadata first. */
const page = (next: string | undefined, ...items: object[]) => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '5', ...(next === undefined ? {} : { continue: next }), remainingItemCount: 1 },
  items,
})

test('each page of a list is asked for once, while the one before is read', async (t) => {
  const tokens: string[] = []
  const { cluster } = await openStandIn(t, ({ query }, response) => {
    const token = Number(query.get('continue') ?? 0)
    tokens.push(String(token))
    const items = [storedPod(`pod-${token}`, `uid-${token}`)]
    return reply(response, 200, token < 3 ? page(String(token + 1), ...items) : page(undefined, ...items))
  })
  const listed = await listContainers(cluster)
  assert.deepEqual(
    [listed.map(({ name }) => name), tokens],
    [
      ['pod-0', 'pod-1', 'pod-2', 'pod-3'],
      ['0', '1', '2', '3'],
    ],
  )
})

test('a page that was asked for ahead and fails makes the list fail; one that is forgotten begins it again', async (t) => {
  let failure: ReturnType<typeof status> | undefined = status(500, 'InternalError')
  const { cluster } = await openStandIn(t, ({ query }, response) => {
    if (!query.has('continue')) return reply(response, 200, page('next', storedPod('a', 'uid-a')))
    const answer = failure
    if (answer?.code === 410) failure = undefined
    return answer
      ? reply(response, answer.code, answer)
      : reply(response, 200, page(undefined, storedPod('b', 'uid-b')))
  })
  await assert.rejects(listContainers(cluster), ofKind('unreachable'))
  failure = status(410, 'Expired')
  assert.deepEqual(
    (await listContainers(cluster)).map(({ name }) => name),
    ['a', 'b'],
  )
})
