import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PlatformUpstream, type UpstreamConnection } from '@berth/gateway/upstream/upstream.ts'
import { Exchange, type ExchangeClient } from '@berth/gateway/proxy/exchange.ts'
import { ResponseHeads } from '@berth/gateway/proxy/response-headers.ts'
import { isFault } from '@berth/gateway/http1/header-lines.ts'
import { readRequestHead } from '@berth/gateway/http1/request-head.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until, type RawClient } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, okResponse } from '#test/support/gateway/test-apps.ts'
import { observationTime } from '#test/support/observation-time.ts'

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
  await otherIsAnswered(t, port)
  return client
}

/** The gateway answers another client after it has read what was sent before. */
async function otherIsAnswered(t: TestContext, port: number): Promise<void> {
  const other = await rawClient(t, port)
  other.write(keptHead('GET /nothing-here HTTP/1.1'))
  await other.expect(/^HTTP/)
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

/** An exchange with an app that takes only a part of `body`, of a request with so many bytes; and what its client is told. */
function exchangeWithFullApp(length: number, body: Buffer) {
  const head = readRequestHead(keptHead('POST /ann-dev/ HTTP/1.1', `Content-Length: ${length}`))
  assert.ok(!isFault(head))
  const calls: string[] = []
  const note = (name: string) => () => (calls.push(name), true)
  const client = {
    responseHeads: new ResponseHeads(),
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
    {
      head,
      upstream,
      upstreamHead: '',
      responseContext: undefined,
      caller: undefined,
      active: undefined,
      use: 'traffic',
    },
    client,
  )
  exchange.readFirst(body)
  exchange.send(connection as UpstreamConnection, body)
  return { exchange, calls }
}

// While reading is paused the gateway does not notice that the client leaves, and an app that reads nothing more never ends the pause.
test('a client whose whole request has come is read from on, although the app has not taken all of it', () => {
  assert.deepEqual(exchangeWithFullApp(4, Buffer.from('body')).calls, [])
})

test('a body that the app answers before it has taken it does not stop the connection', () => {
  const { exchange, calls } = exchangeWithFullApp(8, Buffer.from('body'))
  const answer = Buffer.from(okResponse('no'))
  exchange.onUpstreamData(answer, answer.length)
  assert.deepEqual(calls, ['pause', 'began', 'write', 'destroy', 'resume', 'ended'])
})

/** An app that never answers, and whether it has a request, and has heard that its client left. */
function silentApp() {
  let [hasBegun, hasEnded] = [false, false]
  const app = httpApp((request) => {
    hasBegun = true
    request.once('close', () => (hasEnded = true))
  })
  return { app, hasBegun: () => hasBegun, hasEnded: () => hasEnded }
}

/** Sends a request and, once the app has it, further bytes; then leaves with a reset. */
async function leaveAfter(t: TestContext, port: number, hasBegun: () => boolean, ahead: string): Promise<void> {
  const client: RawClient = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  await until('the app has the request', hasBegun)
  client.write(ahead)
  await otherIsAnswered(t, port)
  client.socket.resetAndDestroy()
}

// One byte ended the reading, and 250 such connections kept all others of their network from a public app, for good.
test('a client that leaves after the first byte of its next request ends the one before it in the app', async (t) => {
  const { app, hasBegun, hasEnded } = silentApp()
  const { port, gateway } = await startGatewayHarness(t, app)
  await leaveAfter(t, port, hasBegun, 'G')
  await until('the app hears that the client has left', hasEnded)
  assert.ok(((await gateway.counts())['berth_gateway_connections'] ?? 2) < 2)
})

test('one that sent more than is read ahead, and leaves, is let go when nothing of its answer moves any more', async (t) => {
  const { app, hasBegun, hasEnded } = silentApp()
  const { port } = await startGatewayHarness(t, app, { options: { timeouts: { stalled: 400 } } })
  await leaveAfter(t, port, hasBegun, keptHead('GET /ann-dev/ HTTP/1.1').repeat(1_000))
  await until('the app hears that the client has left', hasEnded)
})

test('one that sends many requests ahead gets all answers, also after one that takes long', async (t) => {
  const app = httpApp((request, response) => {
    if (request.url !== '/slow') return void response.end('ok')
    const pieces = setInterval(() => response.write('-'), 50)
    setTimeout(() => {
      clearInterval(pieces)
      response.end('ok')
    }, 1_500)
  })
  const { port } = await startGatewayHarness(t, app, { options: { timeouts: { stalled: 900 } } })
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/slow HTTP/1.1') + keptHead('GET /ann-dev/ HTTP/1.1').repeat(100))
  await until('all are answered', () => client.text().match(/ok/g)?.length === 101)
})

/** RFC 9112, 2.2: some clients send one behind the body of a POST. */
test('empty lines before a request are no part of it, in whatever pieces they come', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const client = await rawClient(t, port)
  const ask = (path: string) => keptHead(`GET /ann-dev/${path} HTTP/1.1`)
  client.write(`\r\n${ask('a')}`)
  await client.expect(/"url":"\/a"/)
  client.write(`${keptHead('POST /ann-dev/b HTTP/1.1', 'Content-Length: 4')}body\r\n\r\n${ask('c')}\r\n`)
  await client.expect(/"url":"\/b"[^]*"url":"\/c"/)
  for (const piece of ['\r', '\n\r', '\n', ask('d').slice(0, 9), ask('d').slice(9)]) {
    client.write(piece)
    await otherIsAnswered(t, port)
  }
  await client.expect(/"url":"\/d"/)
})

test('a connection that has sent empty lines alone is idle: no answer tells it that its request is too slow', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { options: { timeouts: { head: 100 } } })
  const client = await rawClient(t, port)
  client.write(`${keptHead('POST /ann-dev/b HTTP/1.1', 'Content-Length: 4')}body`)
  const before = await client.expect(/"url":"\/b".*}/)
  client.write('\r\n')
  await observationTime(400)
  assert.equal(client.text(), before)
  client.write(keptHead('GET /ann-dev/a HTTP/1.1'))
  await client.expect(/"url":"\/a"/)
})
