import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { WebSocketServer } from 'ws'
import { removeLeftHelpers, withHomeHelper } from '#/engines/kubernetes/helper-containers.ts'
import { homeContents } from '#/engines/kubernetes/home-contents.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { ofKind } from '../support/engine/runtimes.ts'

/** Pods that read and write homes, by a stand-in for the API server. */

// Each backup that was killed left a pod in the namespace, which counts for its quota.
test('helpers of processes that were killed are removed once they have ended, or never began; those at work are not', async (t) => {
  const helper = (uid: string, status: object, age = 0) => ({
    metadata: { name: uid, uid, creationTimestamp: new Date(Date.now() - age).toISOString() },
    status,
  })
  const long = 31 * 60_000
  const running = { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ state: { running: {} } }] }
  const helpers = [
    helper('ended', { phase: 'Failed' }),
    helper('at-work', running, long),
    helper('waits', { phase: 'Pending' }),
    helper('waits-in-vain', { phase: 'Pending' }, long),
  ]
  const { cluster, asked } = await openStandIn(t, (_, response) => reply(response, 200, podList('1', ...helpers)))
  await removeLeftHelpers(cluster)
  assert.equal(asked.length, 0, 'without an image of helpers nothing is asked')
  await removeLeftHelpers({ ...cluster, helperImage: 'helper:1' })
  assert.equal(asked[0]?.query.get('labelSelector'), 'berth.helper=berth-abcde')
  const deleted = asked.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('/').at(-1))
  assert.deepEqual(deleted, ['ended', 'waits-in-vain'])
})

const unbound = { metadata: storedPod('berth-abcde-ann-home', 'uid-claim').metadata }
const claim = { ...unbound, spec: { volumeName: 'pv-1' } }

// A helper on a node that had frozen took no byte more, and the restore of a home waited for ever, with the home locked.
test('a home that takes nothing more of an archive fails after a while, and its helper is deleted', async (t) => {
  let isDeleted = false
  const { cluster, asked, server } = await openStandIn(
    t,
    ({ method, path }, response) => {
      if (path.includes('/persistentvolumeclaims/')) return reply(response, 200, claim)
      if (method === 'DELETE') isDeleted = true
      if (path.endsWith('/pods') && method === 'GET') return reply(response, 200, podList('1'))
      if (isDeleted && method === 'GET') return reply(response, 404, status(404, 'NotFound'))
      return reply(response, 200, storedPod('berth-abcde-helper-1', 'uid-1', { running: true }))
    },
    { stall: 500 },
  )
  const frozen = new WebSocketServer({ server })
  frozen.on('connection', (socket) => socket.pause())
  t.after(() => frozen.clients.forEach((socket) => socket.terminate()))
  const { add } = homeContents({ ...cluster, helperImage: 'helper:1' })
  const endless = async function* () {
    for (;;) yield Buffer.alloc(1024 * 1024)
  }
  const added = add('berth-abcde-ann-home', endless(), AbortSignal.timeout(20_000))
  await assert.rejects(added, (error: Error) => {
    assert.match(error.message, /it took nothing for 0\.5 s/)
    return ofKind('failed')(error)
  })
  assert.equal(asked.filter(({ method }) => method === 'DELETE').length, 1)
})

/** Uses a helper once. @param pods of the user @param waits status of each helper in turn, while it is none that runs */
async function helpersFor(
  t: TestContext,
  pods: readonly object[],
  waits: readonly object[] = [],
  home: object = claim,
) {
  let created = 0
  let isDeleted = false
  const { cluster, asked } = await openStandIn(
    t,
    ({ method, path }, response) => {
      if (path.includes('/persistentvolumeclaims/')) return reply(response, 200, home)
      if (method === 'GET' && path.endsWith('/pods')) return reply(response, 200, podList('1', ...pods))
      if (method === 'DELETE') isDeleted = true
      if (method === 'POST') {
        created++
        isDeleted = false
        return reply(response, 201, storedPod(`helper-${created}`, `uid-${created}`))
      }
      if (method === 'GET' && isDeleted) return reply(response, 404, status(404, 'NotFound'))
      const waiting = waits[created - 1]
      const running = storedPod(`helper-${created}`, `uid-${created}`, { running: true })
      return reply(response, 200, waiting ? { ...running, status: waiting } : running)
    },
    home === unbound ? { scheduling: 300 } : {},
  )
  const use = async () => 'done'
  const helper = { ...cluster, helperImage: 'helper:1' }
  assert.equal(await withHomeHelper(helper, 'berth-abcde-ann-home', AbortSignal.timeout(20_000), use), 'done')
  return asked
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/pods'))
    .map(({ body }) => {
      const { spec } = body as { spec: { affinity?: { nodeAffinity: object }; tolerations?: object[] } }
      return { nodes: JSON.stringify(spec.affinity ?? {}), tolerations: spec.tolerations ?? [] }
    })
}

const podWithHome = (node: string, phase: string, tolerations: readonly object[] = []) => ({
  ...storedPod(`pod-${node}`, `uid-${node}`),
  spec: { nodeName: node, tolerations, volumes: [{ persistentVolumeClaim: { claimName: 'berth-abcde-ann-home' } }] },
  status: { phase },
})

const anyTaint = { operator: 'Exists', effect: 'NoSchedule' }

// Snapshots of homes on GPU nodes, whose taint only the container tolerates, waited five minutes and failed.
test('a helper goes to the node of the pod that has the home, also when that is tainted or cordoned', async (t) => {
  const gpu = { key: 'gpu', operator: 'Exists', effect: 'NoExecute' }
  const [helper] = await helpersFor(t, [podWithHome('b', 'Running', [gpu])])
  assert.match(helper?.nodes ?? '', /"values":\["b"\]/)
  assert.deepEqual(helper?.tolerations, [gpu, anyTaint])
})

// A node that had been removed since, or was full, kept homes from being read until the pod was.
test('a helper is not kept on the node of a pod that has ended', async (t) => {
  const pods = [podWithHome('a', 'Failed'), podWithHome('b', 'Succeeded')]
  assert.deepEqual(await helpersFor(t, pods), [{ nodes: '{}', tolerations: [] }])
  const [helper] = await helpersFor(t, [...pods, podWithHome('c', 'Running')])
  assert.match(helper?.nodes ?? '', /"values":\["c"\]/)
})

const unscheduled = (message: string) => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})

test('a helper tolerates taints only when nothing but taints keeps it from the nodes that its volume allows', async (t) => {
  for (const message of [
    '0/2 nodes are available: 1 node(s) had untolerated taint {gpu: }, 1 node(s) had volume node affinity conflict.',
    "0/2 nodes are available: 1 node(s) had taint {gpu: }, that the pod didn't tolerate, 1 node(s) were unschedulable.",
  ]) {
    const helpers = await helpersFor(t, [], [unscheduled(message)])
    assert.deepEqual(
      helpers.map(({ tolerations }) => tolerations),
      [[], [anyTaint]],
    )
  }
})

// A restore into a cluster whose workers were not ready yet made a home on the disk of its control plane, for good.
test('a helper whose volume is still to be made waits for a node on which containers run', async (t) => {
  const tainted = unscheduled(
    '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.',
  )
  await assert.rejects(helpersFor(t, [], [tainted], unbound), /no node has room|does not answer|refuses/)
})

test('a helper for which a node has no room, or whose node is lost, is given up and deleted', async (t) => {
  const full = unscheduled('0/2 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint {gpu: }.')
  const crowded = unscheduled(
    '0/2 nodes are available: 1 node(s) exceed max volume count, 1 node(s) had untolerated taint {gpu: }.',
  )
  const lost = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] }
  for (const [waiting, words] of [
    [full, /no node has room/],
    [crowded, /no node has room/],
    [lost, /its node does not answer/],
  ] as const) {
    let isDeleted = false
    const { cluster, asked } = await openStandIn(
      t,
      ({ method, path }, response) => {
        if (path.includes('/persistentvolumeclaims/')) return reply(response, 200, claim)
        if (method === 'GET' && path.endsWith('/pods')) return reply(response, 200, podList('1'))
        if (method === 'DELETE') isDeleted = true
        if (method === 'GET' && isDeleted) return reply(response, 404, status(404, 'NotFound'))
        const spec = waiting === lost ? { nodeName: 'a' } : {}
        return reply(response, 200, { ...storedPod('helper-1', 'uid-1'), spec, status: waiting })
      },
      { scheduling: 300 },
    )
    const helper = { ...cluster, helperImage: 'helper:1' }
    const used = withHomeHelper(helper, 'berth-abcde-ann-home', AbortSignal.timeout(20_000), async () => undefined)
    await assert.rejects(used, words)
    assert.deepEqual([isDeleted, asked.filter(({ method }) => method === 'POST').length], [true, 1])
  }
})
