import assert from 'node:assert/strict'
import http from 'node:http'
import { test, type TestContext } from 'node:test'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { listen } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'

/** An app whose port is open before it can serve: `ready_path` keeps requests from it until it can. */

function slowApp(isReady: () => boolean, path = '/healthz?full=1') {
  const asked: string[] = []
  const forwarded: string[] = []
  const app = http.createServer((request, response) => {
    if (request.url === path) asked.push(request.headers.authorization ?? 'without a token')
    else forwarded.push(request.url ?? '')
    response.statusCode = isReady() ? (request.url === path ? 404 : 200) : 503
    response.end('the app')
  })
  return { app, asked, forwarded }
}

/** An app that can serve once it was asked so often. */
async function readyAfter(t: TestContext, times: number) {
  const slow = slowApp(() => slow.asked.length > times)
  const harness = await startGatewayHarness(t, slow.app, { rules: { readyPath: 'healthz?full=1' } })
  return { ...slow, ...harness }
}

test('requests wait until the app answers its ready_path below 500, and it is asked no more after that', async (t) => {
  const { port, asked, forwarded } = await readyAfter(t, 2)
  const answers = await Promise.all([1, 2, 3].map((n) => get(port, `/ann-dev/${n}`, { headers: ann })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.deepEqual(forwarded.toSorted(), ['/1', '/2', '/3'])
  assert.ok(asked.length > 2 && asked.every((each) => each === 'without a token'), 'no token is sent along')
  const before = asked.length
  assert.equal((await get(port, '/ann-dev/4', { headers: ann })).status, 200)
  assert.equal(asked.length, before)
})

test('after a new start the app is asked again', async (t) => {
  const { port, gateway, asked } = await readyAfter(t, 0)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
  const next = slowApp(() => next.asked.length > 1)
  const restarted = routeTo('ann-dev', 1, await listen(t, next.app))
  await gateway.apply([{ kind: 'route', route: restarted }])
  assert.equal((await get(port, '/ann-dev/x', { headers: ann })).status, 200)
  assert.ok(next.asked.length >= 2, `asked ${next.asked.length} times`)
  assert.deepEqual(next.forwarded, ['/x'])
  assert.equal(asked.length, 1)
})

test('an app that keeps its prefix is asked below it', async (t) => {
  const { app, asked } = slowApp(() => true, '/ann-dev/healthz')
  const { port } = await startGatewayHarness(t, app, { rules: { readyPath: 'healthz', stripPrefix: false } })
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
  assert.equal(asked.length, 1)
})
