import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { createPod } from '#/engines/kubernetes/container-create.ts'
import { deletePod, removePod } from '#/engines/kubernetes/container-lifecycle.ts'
import { inspect } from '#/engines/kubernetes/container-lookup.ts'
import { watchPods } from '#/engines/kubernetes/container-events.ts'
import { timeLimit } from '#test/support/extent.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { eventually, ofKind, plainSpec } from '../support/engine/runtimes.ts'

/** What a cluster does to pods by itself: evictions, lost nodes, quotas; by a stand-in for its API server. */

const name = 'berth-abcde-ann-dev'
const spec = { ...plainSpec, name, image: 'web:1' }
const running = storedPod(name, 'uid-1', { running: true })
const deleted = (at: number) => ({
  ...running,
  metadata: { ...running.metadata, deletionTimestamp: new Date(at).toISOString() },
})

test('a pod that its node evicted is told from one whose program failed, by the words of old and of new clusters', async (t) => {
  const failed = { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 137 } } }] }
  const target = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] }
  let found: object = {}
  const { cluster } = await openStandIn(t, (_, response) => reply(response, 200, { ...running, status: found }))
  const disruption = async (state: object) => {
    found = state
    return (await inspect(cluster, name))?.disruption
  }
  assert.equal(await disruption(failed), undefined)
  assert.equal(await disruption({ phase: 'Failed', reason: 'Evicted', message: 'low on memory' }), 'evicted')
  assert.equal(await disruption({ phase: 'Failed', reason: 'NodeShutdown' }), 'evicted')
  const isFull = async (message: string) => {
    found = { phase: 'Failed', reason: 'Evicted', message }
    return (await inspect(cluster, name))?.isLayerFull
  }
  assert.equal(await isFull('Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. '), true)
  assert.equal(await isFull('Container app exceeded its local ephemeral storage limit "1Gi". '), true)
  assert.equal(await isFull('The node was low on resource: ephemeral-storage. '), undefined)
  assert.equal(await disruption({ ...failed, ...target }), 'evicted')
  assert.equal(await disruption({ ...running.status, ...target }), undefined, 'it runs on')
})

test('a pod whose node has not confirmed its end for long is lost: a removal says so at once, and never forces it', async (t) => {
  const { cluster, asked } = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'DELETE') return reply(response, 200, {})
    const pod = deleted(Date.now() - 60_000)
    return reply(response, 200, path.endsWith('/pods') ? podList('1', pod) : pod)
  })
  assert.equal((await inspect(cluster, name))?.disruption, 'node-lost')
  const begun = performance.now()
  await assert.rejects(removePod(cluster, 'uid-1'), ofKind('lost'))
  assert.ok(performance.now() - begun < timeLimit(3_000))
  const graces = asked.flatMap(({ method, body }) => (method === 'DELETE' ? [body] : []))
  assert.deepEqual(
    graces.map((body) => (body as { gracePeriodSeconds: number }).gracePeriodSeconds),
    [1],
  )
})

test('a pod that has been ending for a moment only is no lost one', async (t) => {
  const { cluster } = await openStandIn(t, (_, response) => reply(response, 200, deleted(Date.now() - 5_000)))
  const found = await inspect(cluster, name)
  assert.deepEqual([found?.state, found?.disruption], ['removing', undefined])
})

test('a quota that refuses a pod is named with its numbers; another refusal is none', async (t) => {
  const words = `pods "${name}" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3`
  let message = words
  const { cluster } = await openStandIn(t, (_, response) => reply(response, 403, status(403, 'Forbidden', message)))
  const limitOf = (error: unknown) => (error instanceof RuntimeError ? [error.kind, error.limit] : error)
  const limit = 'few, requested: pods=1, used: pods=3, limited: pods=3'
  assert.deepEqual(await createPod(cluster, spec).catch(limitOf), ['full', limit])
  message = `pods "${name}" is forbidden: failed quota: few: must specify limits.ephemeral-storage for: app`
  assert.deepEqual(await createPod(cluster, spec).catch(limitOf), ['failed', undefined])
  message = 'pods is forbidden: User "berth" cannot create resource "pods"'
  assert.deepEqual(await createPod(cluster, spec).catch(limitOf), ['failed', undefined])
})

/** A watch of one running pod. */
async function openWatch(t: TestContext) {
  const watches: ServerResponse[] = []
  let listed = podList('5', running)
  const { cluster } = await openStandIn(t, ({ method, query }, response) => {
    if (method === 'DELETE') return reply(response, 200, {})
    if (query.get('watch') === null) return reply(response, 200, listed)
    response.writeHead(200).flushHeaders()
    return watches.push(response)
  })
  const away = new AbortController()
  t.after(() => away.abort())
  const heard: RuntimeEvent[] = []
  watchPods(cluster, (event) => void heard.push(event), away.signal)
  await eventually(() => assert.equal(watches.length, 1))
  const write = (type: string, object: object) => void watches.at(-1)?.write(`${JSON.stringify({ type, object })}\n`)
  const ends = () => heard.filter(({ action }) => action === 'destroy')
  return { cluster, write, ends, watches, relist: (list: typeof listed) => void (listed = list) }
}

test('a running pod that others delete is reported as evicted; one that Berth deletes, or whose program had ended, is not', async (t) => {
  const { cluster, write, ends } = await openWatch(t)
  write('MODIFIED', deleted(Date.now()))
  write('DELETED', deleted(Date.now()))
  await eventually(() => assert.deepEqual(ends(), [{ id: 'uid-1', action: 'destroy', isEvicted: true }]))

  const second = { ...running, metadata: { ...running.metadata, uid: 'uid-2' } }
  write('ADDED', second)
  await deletePod(cluster, { name, uid: 'uid-2' }, 1)
  write('DELETED', second)
  const third = { ...running, metadata: { ...running.metadata, uid: 'uid-3' } }
  write('ADDED', third)
  write('MODIFIED', { ...third, status: { phase: 'Succeeded' } })
  write('DELETED', { ...third, status: { phase: 'Succeeded' } })
  await eventually(() =>
    assert.deepEqual(ends().slice(1), [
      { id: 'uid-2', action: 'destroy' },
      { id: 'uid-3', action: 'destroy' },
    ]),
  )
})

// The list said that the pod was ending, and no longer that it had run: its owner read that it was stopped.
test('an eviction that is under way while the watch begins anew is reported as one', async (t) => {
  const { write, ends, watches, relist } = await openWatch(t)
  relist(podList('9', deleted(Date.now())))
  write('ERROR', status(410, 'Expired'))
  await eventually(() => assert.equal(watches.length, 2))
  write('DELETED', deleted(Date.now()))
  await eventually(() => assert.deepEqual(ends(), [{ id: 'uid-1', action: 'destroy', isEvicted: true }]))
})

test('a pod that went while the watch was broken is reported as evicted when it continues', async (t) => {
  const { write, ends, relist } = await openWatch(t)
  relist(podList('9'))
  write('ERROR', status(410, 'Expired'))
  await eventually(() => assert.deepEqual(ends(), [{ id: 'uid-1', action: 'destroy', isEvicted: true }]))
})
