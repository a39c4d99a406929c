import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { ping } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { listHomes } from '#/engines/kubernetes/home-volumes.ts'
import { createPod } from '#/engines/kubernetes/container-create.ts'
import { removePod } from '#/engines/kubernetes/container-lifecycle.ts'
import { inspect, inspectId, listContainers, listPods } from '#/engines/kubernetes/container-lookup.ts'
import { watchPods } from '#/engines/kubernetes/container-events.ts'
import { timeLimit } from '#test/support/extent.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { eventually, ofKind, plainSpec } from '../support/engine/runtimes.ts'

/** Faults of an API server, by a stand-in for one; `npm run test:cluster` uses a real one. */

const spec = { ...plainSpec, name: 'berth-abcde-ann-dev', image: 'web:1', env: { KEY: 'value' } }

test('an API server that never answers is unreachable within four seconds', async (t) => {
  const { cluster } = await openStandIn(t, () => undefined)
  const begun = performance.now()
  await assert.rejects(inspect(cluster, spec.name), ofKind('unreachable'))
  assert.ok(performance.now() - begun < timeLimit(4_000))
})

// With one server behind an address each of its restarts took a minute in which every container was unknown.
test('an API server that shuts down, and is not ready for new clients, counts as answering', async (t) => {
  const { cluster } = await openStandIn(t, ({ path }, response) =>
    path === '/readyz' ? reply(response, 500, '[-]shutdown failed: reason withheld') : reply(response, 200, 'ok'),
  )
  await ping(cluster)
})

test('a container is gone only when the API itself says so: an answer of a proxy, an overload or a refused token is none', async (t) => {
  const answers = [
    { code: 404, body: '<html>no such page</html>' },
    { code: 401, body: status(401, 'Unauthorized') },
    { code: 429, body: status(429, 'TooManyRequests') },
    { code: 500, body: status(500, 'InternalError', 'etcdserver: request timed out') },
  ]
  let answer = answers[0]
  const { cluster } = await openStandIn(t, ({ path }, response) => {
    if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(spec.name, 'uid-1')))
    return reply(response, answer?.code ?? 0, answer?.body)
  })
  await listPods(cluster)
  for (answer of answers) await assert.rejects(inspectId(cluster, 'uid-1'), ofKind('unreachable'), String(answer.code))
  answer = { code: 404, body: status(404, 'NotFound') }
  assert.equal(await inspectId(cluster, 'uid-1'), undefined)
})

test('a pod of the same name and another uid is not the container that was asked for', async (t) => {
  const { cluster, asked } = await openStandIn(t, ({ path }, response) =>
    path.endsWith('/pods')
      ? reply(response, 200, podList('1', storedPod(spec.name, 'uid-1')))
      : reply(response, 200, storedPod(spec.name, 'uid-2', { running: true })),
  )
  assert.equal(await inspectId(cluster, 'uid-1'), undefined)
  const before = asked.length
  assert.equal(await inspectId(cluster, 'uid-1'), undefined)
  assert.equal(asked.length, before, 'a uid does not come back, so it is not asked for again')
})

test('a creation whose answer was lost is found by its name, and a second one is refused as a conflict', async (t) => {
  let isCreated = false
  const { cluster } = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'GET') return reply(response, 200, storedPod(spec.name, 'uid-1'))
    if (!path.endsWith('/pods')) return reply(response, 201, {})
    if (isCreated) return reply(response, 409, status(409, 'AlreadyExists'))
    isCreated = true
    return response.destroy()
  })
  await assert.rejects(createPod(cluster, spec), ofKind('unreachable'))
  await assert.rejects(createPod(cluster, spec), ofKind('conflict'))
  assert.equal((await inspect(cluster, spec.name))?.id, 'uid-1')
})

// Pods of a class that launches at once: the API server gives up after three attempts of its own to write the quota.
test('a creation that collides with others at a quota is repeated: of a home, an account, an environment and a pod', async (t) => {
  const collided = new Set<string>()
  const { cluster, asked } = await openStandIn(t, ({ method, body }, response) => {
    if (method !== 'POST') return reply(response, 404, status(404, 'NotFound'))
    const { metadata } = body as { metadata: { name: string } }
    if (collided.has(metadata.name)) return reply(response, 201, storedPod(metadata.name, 'uid-1'))
    collided.add(metadata.name)
    const words =
      'Operation cannot be fulfilled on resourcequotas "few": please apply your changes to the latest version'
    return reply(response, 409, status(409, 'Conflict', words))
  })
  const home = { volume: 'berth-abcde-ann-home', path: '/home/ann', size: null }
  const made = await createPod(cluster, { ...spec, home }, { credentials: () => ({ username: 'u', password: 'p' }) })
  assert.equal(made.id, 'uid-1')
  for (const name of [spec.name, home.volume, /-registry-/, /^berth-abcde-ann-dev-/])
    assert.ok([...collided].some((each) => (typeof name === 'string' ? each === name : name.test(each))))
  assert.equal(asked.filter(({ method, path }) => method === 'POST' && path.endsWith('/pods')).length, 2)
})

test('a creation that collides at a quota each time is given up after five attempts, and by its caller at once', async (t) => {
  const { cluster, asked } = await openStandIn(t, (_, response) => reply(response, 409, status(409, 'Conflict')))
  await assert.rejects(createPod(cluster, spec), ofKind('conflict'))
  assert.equal(asked.filter(({ path }) => path.endsWith('/pods')).length, 5)
  const signal = AbortSignal.timeout(50)
  await assert.rejects(createPod(cluster, spec, { signal }), (error) => error === signal.reason)
})

test('a pod whose environment cannot be made is deleted, by its uid and never at once', async (t) => {
  const { cluster, asked } = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'DELETE') return reply(response, 200, {})
    if (path.endsWith('/secrets')) return reply(response, 403, status(403, 'Forbidden', 'exceeded quota: few'))
    return reply(response, 201, storedPod(spec.name, 'uid-1'))
  })
  await assert.rejects(createPod(cluster, spec), ofKind('full'))
  const { path, body } = asked.find(({ method }) => method === 'DELETE') ?? {}
  assert.match(path ?? '', /\/pods\/berth-abcde-ann-dev$/)
  const { preconditions, gracePeriodSeconds } = body as { preconditions: unknown; gracePeriodSeconds: number }
  assert.deepEqual([preconditions, gracePeriodSeconds], [{ uid: 'uid-1' }, 1])
})

test('a removal whose name is another pod by now leaves that one alone', async (t) => {
  let isReplaced = false
  const { cluster, asked } = await openStandIn(t, ({ method, path }, response) => {
    if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(spec.name, 'uid-1')))
    if (method === 'GET') return reply(response, 200, storedPod(spec.name, isReplaced ? 'uid-2' : 'uid-1'))
    isReplaced = true
    return reply(response, 409, status(409, 'Conflict'))
  })
  await removePod(cluster, 'uid-1')
  assert.equal(asked.filter(({ method }) => method === 'DELETE').length, 1)
})

/** A cluster with two pages of pods, a and b, that has forgotten the second one when it is asked for first. */
async function openForgetful(t: TestContext) {
  let isForgotten = true
  return openStandIn(t, ({ query }, response) => {
    const first = { metadata: { resourceVersion: '1', continue: 'next' }, items: [storedPod('a', 'uid-a')] }
    if (!query.has('continue')) return reply(response, 200, first)
    if (!isForgotten) return reply(response, 200, podList('1', storedPod('b', 'uid-b')))
    isForgotten = false
    return reply(response, 410, status(410, 'Expired'))
  })
}

test('a list whose second page the API server has forgotten is read again from the first', async (t) => {
  const { cluster } = await openForgetful(t)
  assert.deepEqual(
    (await listPods(cluster)).map(({ metadata }) => metadata.uid),
    ['uid-a', 'uid-b'],
  )
})

// A list of 100,000 claims takes seconds, and began with an error when its version was compacted meanwhile.
test('a list of homes whose second page the API server has forgotten is read again from the first, and none is listed twice', async (t) => {
  const { cluster } = await openForgetful(t)
  assert.deepEqual(
    (await listHomes(cluster)).map(({ volume }) => volume),
    ['a', 'b'],
  )
})

test('a list of homes whose second page fails is none: what was not read does not count as gone', async (t) => {
  const { cluster } = await openStandIn(t, ({ query }, response) => {
    const first = { metadata: { resourceVersion: '1', continue: 'next' }, items: [storedPod('a', 'uid-a')] }
    return query.has('continue') ? reply(response, 500, status(500, 'InternalError')) : reply(response, 200, first)
  })
  await assert.rejects(listHomes(cluster), ofKind('unreachable'))
  await assert.rejects(listPods(cluster), ofKind('unreachable'))
})

test('a pod that only the first reading of a list had, whose version was forgotten, is gone', async (t) => {
  let reading = 0
  const { cluster, asked } = await openStandIn(t, ({ query }, response) => {
    if (!query.has('continue')) {
      reading++
      const items = reading === 1 ? [storedPod('a', 'uid-a')] : []
      return reply(response, 200, { metadata: { resourceVersion: '1', continue: 'next' }, items })
    }
    if (reading === 1) return reply(response, 410, status(410, 'Expired'))
    return reply(response, 200, podList('2', storedPod('b', 'uid-b')))
  })
  assert.deepEqual(
    (await listContainers(cluster)).map(({ id }) => id),
    ['uid-b'],
  )
  const before = asked.length
  assert.equal(await inspectId(cluster, 'uid-a'), undefined)
  assert.equal(asked.length, before, 'the index does not know its name')
})

/** A stand-in with a list, and watches that the test writes to. */
async function openWatch(t: TestContext, silence = 60_000) {
  const watches: { readonly version: string; readonly response: ServerResponse }[] = []
  let listed = podList('5', storedPod('a', 'uid-a', { running: true }))
  const { cluster, asked } = await openStandIn(
    t,
    ({ query }, response) => {
      if (query.get('watch') === null) return reply(response, 200, listed)
      response.writeHead(200).flushHeaders()
      return watches.push({ version: query.get('resourceVersion') ?? '', response })
    },
    { silence },
  )
  const away = new AbortController()
  t.after(() => away.abort())
  const heard: RuntimeEvent[] = []
  watchPods(cluster, (event) => void heard.push(event), away.signal)
  const nth = (count: number) =>
    eventually(() => {
      const watch = watches[count - 1]
      assert.ok(watch)
      return watch
    })
  const write = ({ response }: { readonly response: ServerResponse }, type: string, object: object) =>
    void response.write(`${JSON.stringify({ type, object })}\n`)
  const relist = (list: typeof listed) => void (listed = list)
  return { heard, nth, write, relist, lists: () => asked.filter(({ query }) => !query.has('watch')).length }
}

test('a watch that the API server ends in time continues from the last version, bookmarks included, and nothing is lost', async (t) => {
  const { heard, nth, write, lists } = await openWatch(t)
  const first = await nth(1)
  assert.equal(first.version, '5')
  write(first, 'ADDED', storedPod('b', 'uid-b', { running: true, version: '6' }))
  await eventually(() => assert.deepEqual(heard, [{ id: 'uid-b', action: 'start' }]))
  write(first, 'BOOKMARK', { metadata: { resourceVersion: '90' } })
  first.response.end()
  assert.equal((await nth(2)).version, '90')
  assert.deepEqual([heard.length, lists()], [1, 1])
})

test('a watch that breaks is reported as lost, then that anything may have changed, and continues', async (t) => {
  const { heard, nth, write, lists } = await openWatch(t)
  const first = await nth(1)
  write(first, 'MODIFIED', storedPod('a', 'uid-a', { version: '7' }))
  await eventually(() => assert.deepEqual(heard, [{ id: 'uid-a', action: 'die' }]))
  first.response.destroy()
  const second = await nth(2)
  assert.equal(second.version, '7')
  await eventually(() =>
    assert.deepEqual(heard.slice(1), [
      { id: undefined, action: 'lost' },
      { id: undefined, action: 'other' },
    ]),
  )
  write(second, 'DELETED', storedPod('a', 'uid-a', { version: '8' }))
  await eventually(() => assert.deepEqual(heard.at(-1), { id: 'uid-a', action: 'destroy' }))
  assert.equal(lists(), 1)
})

test('a version that the API server has forgotten (410) is listed anew', async (t) => {
  const { heard, nth, write, relist, lists } = await openWatch(t)
  relist(podList('200', storedPod('c', 'uid-c', { running: true })))
  write(await nth(1), 'ERROR', status(410, 'Expired'))
  const second = await nth(2)
  assert.deepEqual([second.version, lists()], ['200', 2])
  await eventually(() =>
    assert.deepEqual(
      heard.map(({ action }) => action),
      ['lost', 'other'],
    ),
  )
  write(second, 'MODIFIED', storedPod('c', 'uid-c', { version: '201' }))
  await eventually(() => assert.deepEqual(heard.at(-1), { id: 'uid-c', action: 'die' }))
})

test('a watch that the API server ends with another error is listed anew, too, with growing pauses', async (t) => {
  const { nth, write, lists } = await openWatch(t)
  const begun = performance.now()
  for (let count = 1; count <= 4; count++) write(await nth(count), 'ERROR', status(500, 'InternalError'))
  await nth(5)
  assert.equal(lists(), 5)
  assert.ok(performance.now() - begun > 100 + 200 + 400 + 800)
})

test('a watch on a connection that is half open is given up when no line comes, and what there is is listed anew', async (t) => {
  const { heard, nth, lists, relist } = await openWatch(t, 300)
  await nth(1)
  relist(podList('9', storedPod('a', 'uid-a', { running: true })))
  assert.equal((await nth(2)).version, '9')
  assert.equal(lists(), 2)
  await eventually(() =>
    assert.deepEqual(
      heard.slice(0, 2).map(({ action }) => action),
      ['lost', 'other'],
    ),
  )
})

test('an API server that ends each watch at once is asked again a few times a second, and no more', async (t) => {
  const { nth } = await openWatch(t)
  const begun = performance.now()
  for (let count = 1; count <= 4; count++) (await nth(count)).response.end()
  assert.ok(performance.now() - begun > 1_000)
})
