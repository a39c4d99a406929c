import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlatformUpstream } from '#/gateway/upstream/platform-upstream.ts'
import type { UpstreamConnection } from '#/gateway/upstream/upstream-connection.ts'
import { Exchange } from '#/gateway/proxy/exchange.ts'
import type { ExchangeClient } from '#/gateway/proxy/exchange-client.ts'
import { isFault } from '#/gateway/http1/http-fault.ts'
import { readRequestHead } from '#/gateway/http1/request-head.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, okResponse } from '#test/support/gateway/test-apps.ts'

/** A control plane that gives a token for an app when it is told to. */
function heldToken() {
  const { promise, resolve } = Promise.withResolvers<{ token: string; expiresAt: number }>()
  let isAsked = false
  const scopedToken = () => {
    isAsked = true
    return promise
  }
  const give = () => resolve({ token: 'scoped', expiresAt: Date.now() + 900_000 })
  return { control: { scopedToken }, isAsked: () => isAsked, give }
}

/** Sends the head of a request with a body, and the body once the request waits for its token. */
async function sendBodyMeanwhile(t: Parameters<typeof rawClient>[0], port: number, isAsked: () => boolean) {
  const client = await rawClient(t, port)
  client.write(keptHead('POST /ann-dev/first HTTP/1.1', 'Content-Length: 4'))
  await until('the token is asked for', isAsked)
  client.write('body')
  // The gateway answers another client after it has read this one.
  const other = await rawClient(t, port)
  other.write(keptHead('GET /nothing-here HTTP/1.1'))
  await other.expect(/^HTTP/)
  return client
}

test('a body that comes while its request waits for a token does not stop the next request', async (t) => {
  const { control, isAsked, give } = heldToken()
  const { port } = await startGatewayHarness(t, echoApp(), { control })
  const client = await sendBodyMeanwhile(t, port, isAsked)
  give()
  await client.expect(/"url":"\/first".*"body":"body"/)
  client.write(keptHead('GET /ann-dev/second HTTP/1.1'))
  await client.expect(/"url":"\/second"/)
})

test('a client that leaves after such a body ends the request in the app', async (t) => {
  const { control, isAsked, give } = heldToken()
  let [hasBegun, hasEnded] = [false, false]
  const app = httpApp((request) => {
    hasBegun = true
    request.once('close', () => (hasEnded = true))
  })
  const { port } = await startGatewayHarness(t, app, { control })
  const client = await sendBodyMeanwhile(t, port, isAsked)
  give()
  await until('the app has the request', () => hasBegun)
  client.socket.destroy()
  await until('the app hears that the client has left', () => hasEnded)
})

test('a body that the app answers before it has taken it does not stop the next request', () => {
  const head = readRequestHead(keptHead('POST /ann-dev/ HTTP/1.1', 'Content-Length: 4'))
  assert.ok(!isFault(head))
  const calls: string[] = []
  const note = (name: string) => () => (calls.push(name), true)
  const client = {
    pause: note('pause'),
    resume: note('resume'),
    write: note('write'),
    responseBegan: note('began'),
    responseEnded: note('ended'),
    hasUnsentBytes: () => false,
  } as unknown as ExchangeClient
  const connection = { begin: () => false, hasUnsentBytes: () => true, destroy: note('destroy') } as unknown
  const upstream = new PlatformUpstream('/nowhere', new Set())
  const exchange = new Exchange(
    { head, upstream, upstreamHead: '', responseContext: undefined, caller: undefined, active: undefined },
    client,
  )
  const body = Buffer.from('body')
  exchange.readFirst(body)
  exchange.send(connection as UpstreamConnection, body)
  const answer = Buffer.from(okResponse('no'))
  exchange.onUpstreamData(answer, answer.length)
  assert.deepEqual(calls, ['pause', 'began', 'write', 'destroy', 'resume', 'ended'])
})
