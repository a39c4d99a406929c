import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocketServer } from 'ws'
import { removeLeftHelpers } from '#/runtime/kubernetes/homes/home-helper.ts'
import { homeContents } from '#/runtime/kubernetes/homes/home-contents.ts'
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

const claim = { metadata: storedPod('berth-abcde-ann-home', 'uid-claim').metadata }

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
