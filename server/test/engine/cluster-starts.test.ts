import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartVerifier } from '#/containers/launch/container-starter.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { removeHome } from '#/engines/kubernetes/home-volumes.ts'
import { awaitStart, removePod } from '#/engines/kubernetes/container-lifecycle.ts'
import { inspectId, listPods } from '#/engines/kubernetes/container-lookup.ts'
import { assertQuick } from '../support/timed-attempts.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'

/** What the adapter asks an API server while pods start, end and are counted; by a stand-in for one. */

const name = 'berth-abcde-ann-dev'
/** In ms; without news a pod is looked at after a second. */
const atOnce = 500

async function took(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

// The watch told that the program runs while an answer was under way in which it did not run yet. The change was lost, and the
// launch took a second longer.
test('a start ends at once when the watch tells of it while the API server is asked', (t) =>
  assertQuick(atOnce, async () => {
    const { cluster } = await openStandIn(t, ({ path }, response) => {
      if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(name, 'uid-1')))
      cluster.index.note(storedPod(name, 'uid-1', { running: true }))
      return reply(response, 200, storedPod(name, 'uid-1'))
    })
    cluster.index.watch.noteOpen()
    return took(() => awaitStart(cluster, 'uid-1'))
  }))

test('a removal ends at once when the watch tells that the pod is gone while the API server is asked', (t) =>
  assertQuick(atOnce, async () => {
    let isDeleted = false
    const { cluster } = await openStandIn(t, ({ method, path }, response) => {
      if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(name, 'uid-1')))
      if (method === 'DELETE') {
        isDeleted = true
        return reply(response, 200, {})
      }
      if (isDeleted && cluster.index.nameOf('uid-1') === undefined) return reply(response, 404, status(404, 'NotFound'))
      if (isDeleted) cluster.index.noteGone('uid-1')
      return reply(response, 200, storedPod(name, 'uid-1'))
    })
    cluster.index.watch.noteOpen()
    return took(() => removePod(cluster, 'uid-1'))
  }))

test('what the watch tells of a start is not asked for again', async (t) => {
  const { cluster, asked } = await openStandIn(t, ({ path }, response) =>
    reply(response, 200, path.endsWith('/pods') ? podList('1', storedPod(name, 'uid-1')) : storedPod(name, 'uid-1')),
  )
  cluster.index.watch.noteOpen()
  await listPods(cluster)
  const started = awaitStart(cluster, 'uid-1')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = asked.length
  cluster.index.note(storedPod(name, 'uid-1', { version: '2' }))
  await new Promise((resolve) => setImmediate(resolve))
  cluster.index.note(storedPod(name, 'uid-1', { running: true, version: '3' }))
  await started
  assert.equal(asked.length, before)
})

// The start had waited for a busy API server, and the first look of the verification after it failed the launch all the same.
test('a start is verified although the API server is too busy for a look', async (t) => {
  let busy = 2
  const { cluster } = await openStandIn(t, ({ path }, response) => {
    if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(name, 'uid-1', { running: true })))
    if (busy-- > 0) return reply(response, 429, status(429, 'TooManyRequests'))
    return reply(response, 200, storedPod(name, 'uid-1', { running: true }))
  })
  const runtime = { capabilities: { hasNodes: true }, inspectId: (id: string) => inspectId(cluster, id) }
  const spec = { name, owner: { userId: 1, slug: 'ann', type: 'dev' }, image: 'app' } as ContainerSpec
  const { id, state } = await new StartVerifier(runtime as unknown as Runtime).verify(spec, 'uid-1')
  assert.deepEqual([id, state], ['uid-1', 'running'])
  busy = 1
  await assert.rejects(
    new StartVerifier({ ...runtime, capabilities: { hasNodes: false } } as unknown as Runtime).verify(spec, 'uid-1'),
    { kind: 'unreachable' },
  )
})

// One look that an overloaded API server refused, or answered after more than 3 s, failed a launch whose pod started, and a stop.
test('a start and an end go on when the API server is too busy for a look', async (t) => {
  let [busy, isDeleted] = [2, false]
  const { cluster } = await openStandIn(t, ({ method, path }, response) => {
    if (path.endsWith('/pods')) return reply(response, 200, podList('1', storedPod(name, 'uid-1')))
    if (method === 'DELETE') {
      ;[busy, isDeleted] = [2, true]
      return reply(response, 200, {})
    }
    if (busy-- > 0) return reply(response, busy === 0 ? 429 : 503, status(429, 'TooManyRequests'))
    if (isDeleted) return reply(response, 404, status(404, 'NotFound'))
    return reply(response, 200, storedPod(name, 'uid-1', { running: true }))
  })
  await listPods(cluster)
  await awaitStart(cluster, 'uid-1')
  await removePod(cluster, 'uid-1')
  assert.ok(isDeleted)
})

// Fifty pods started at once: a busy API server did not send a kubelet the Secret of one within a second. The kubelet tried again
// after 10 to 15 s, and its launch was given up after 15.
test('a start waits for several attempts of a kubelet that could not read the Secret of the pod', async (t) => {
  const retries = 100
  let began = 0
  const waiting = { reason: 'CreateContainerConfigError', message: 'failed to sync secret cache' }
  const answer = (isOver: boolean) => {
    const pod = storedPod(name, 'uid-1', { running: isOver })
    return isOver ? pod : { ...pod, status: { phase: 'Pending', containerStatuses: [{ state: { waiting } }] } }
  }
  const { cluster } = await openStandIn(
    t,
    ({ method, path }, response) => {
      if (path.endsWith('/pods')) return reply(response, 200, podList('1', answer(false)))
      if (method === 'DELETE') return reply(response, 200, {})
      began ||= performance.now()
      return reply(response, 200, answer(performance.now() - began > ended))
    },
    { retries },
  )
  let ended = 3 * retries
  await listPods(cluster)
  await awaitStart(cluster, 'uid-1')
  ;[began, ended] = [0, Infinity]
  await assert.rejects(awaitStart(cluster, 'uid-1'), { kind: 'failed' })
})

// After a restart each page of a sleeping container asked for a list of all pods of its own, 32 at a time.
test('before the first list all who ask about unknown containers share one', async (t) => {
  const { cluster, asked } = await openStandIn(t, (_, response) => reply(response, 200, podList('1')))
  const found = await Promise.all(Array.from({ length: 32 }, (_, each) => inspectId(cluster, `uid-${each}`)))
  assert.deepEqual([found.filter(Boolean).length, asked.length], [0, 1])
})

test('the removal of a home looks at the pods of its owner only', async (t) => {
  const claim = { ...storedPod('berth-abcde-home-1-ann-dev', 'uid-home'), kind: 'PersistentVolumeClaim' }
  const { cluster, asked } = await openStandIn(t, ({ path }, response) =>
    reply(response, 200, path.endsWith('/pods') ? podList('1') : claim),
  )
  await removeHome(cluster, 'berth-abcde-home-1-ann-dev')
  const lists = asked.filter(({ path }) => path.endsWith('/pods'))
  assert.deepEqual(
    lists.map(({ query }) => query.get('labelSelector')),
    ['berth.instance=berth-abcde,berth.user_id=1'],
  )
  assert.equal(asked.at(-1)?.method, 'DELETE')
})

test('of the pods of a list nothing is kept that is not read', async (t) => {
  const pod = storedPod(name, 'uid-1', { running: true })
  const whole = {
    ...pod,
    metadata: { ...pod.metadata, managedFields: [{}] },
    spec: { nodeName: 'n', containers: [{}] },
  }
  const { cluster } = await openStandIn(t, (_, response) => reply(response, 200, podList('1', whole)))
  const [found] = await listPods(cluster)
  assert.deepEqual(found, { metadata: pod.metadata, spec: { nodeName: 'n', volumes: [] }, status: pod.status })
})
