import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocketServer } from 'ws'
import { homeContents } from '#/runtime/kubernetes/homes/home-contents.ts'
import { openStandIn, podList, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { ofKind } from '../support/engine/runtimes.ts'

/** Pods that read and write homes, by a stand-in for the API server. */

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
