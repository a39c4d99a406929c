import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeLimit } from '#test/support/extent.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { get, isOver, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { keptHead } from '#test/support/gateway/http-text.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { endlessApp, openStreams } from '#test/support/gateway/open-streams.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'
import { ann, annToken, bob } from '#test/support/gateway/tokens.ts'

/** With several nodes: what a gateway does that the leader has not confirmed for a while. */

const isRefused = async (port: number) => {
  const { status, body } = await get(port, '/ann-dev/events', { headers: ann })
  return status === 503 && body.includes('lost touch with the others')
}

test('a gateway without a confirmation refuses containers and cuts what is open, and serves again with the next one', async (t) => {
  let isLed = true
  const confirmState = async () => {
    if (!isLed) throw new Error('this node does not lead')
  }
  const { bench, clients } = await openStreams(t, annToken, {
    settings: { maxStateAge: 1_500 },
    control: { confirmState },
  })
  isLed = false
  assert.ok(!isOver(clients.socket!), 'a confirmation counts for a while')
  await until('all are cut', () => Object.values(clients).every(isOver), timeLimit(3_000))
  assert.ok(await isRefused(bench.port))
  isLed = true
  await pollUntil(
    async () => {
      const again = await rawClient(t, bench.port)
      again.write(keptHead('GET /ann-dev/events HTTP/1.1'))
      return (await again.expect(/(?:1\r\nx|lost touch[^]*)\r?\n?$/)).startsWith('HTTP/1.1 200 ')
    },
    () => 'it serves no container although its state is confirmed again',
  )
})

// The first request of a person to an application waits for its token; the state could be given up meanwhile.
test('a request that waited until the state is too old reaches no application', async (t) => {
  let isLed = true
  const heard: string[] = []
  const app = httpApp((request, response) => {
    heard.push(request.url ?? '')
    response.end('the app')
  })
  const { port } = await startGatewayHarness(t, app, {
    settings: { maxStateAge: 1_500 },
    control: {
      confirmState: async () => {
        if (!isLed) throw new Error('this node does not lead')
      },
      scopedToken: async () => {
        await pollUntil(
          () => isRefusedNow,
          () => 'the state is not given up',
        )
        throw new Error('the leader does not answer')
      },
    },
  })
  let isRefusedNow = false
  const waiting = get(port, '/ann-dev/', { headers: ann })
  isLed = false
  await pollUntil(
    async () => (await get(port, '/ann-dev/', { headers: bob })).body.includes('lost touch with the others'),
    () => 'the state is not given up',
  )
  isRefusedNow = true
  const { status, body } = await waiting
  assert.deepEqual([status, body.includes('lost touch with the others'), heard], [503, true, []])
})

test('a gateway that was never confirmed refuses containers', async (t) => {
  const never = { confirmState: () => Promise.reject(new Error('this node does not lead')) }
  const { port } = await startGatewayHarness(t, endlessApp(new Set()), {
    settings: { maxStateAge: 60_000 },
    control: never,
  })
  assert.ok(await isRefused(port))
})

// The health checks went to the node that leads: without one they took ten seconds, longer than load balancers wait.
test('a gateway that is behind says at once that it lives, and that it is not ready', async (t) => {
  const never = { confirmState: () => Promise.reject(new Error('this node does not lead')) }
  const { port } = await startGatewayHarness(t, endlessApp(new Set()), {
    settings: { maxStateAge: 60_000, reservedSlugs: ['healthz', 'readyz'] },
    control: never,
  })
  // With a query, as of Kubernetes, the leader answered: 200 for a node that was behind.
  for (const query of ['', '?verbose=1']) {
    const [alive, ready] = [
      await get(port, `/healthz${query}`, { headers: {} }),
      await get(port, `/readyz${query}`, { headers: {} }),
    ]
    assert.deepEqual([alive.status, alive.body], [200, '{"status":"ok"}'])
    assert.equal(ready.status, 503)
    assert.match(ready.body, /lost touch with the others/)
  }
})
