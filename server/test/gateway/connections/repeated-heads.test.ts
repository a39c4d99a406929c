import assert from 'node:assert/strict'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import { isFault } from '@berth/gateway/http1/header-lines.ts'
import { readRequestHead } from '@berth/gateway/http1/request-head.ts'
import type { GatewayChange } from '@berth/gateway/port/gateway.ts'
import { UpstreamRequestHeaders } from '@berth/gateway/proxy/request-headers.ts'
import type { Caller } from '@berth/gateway/tokens/token-verifier.ts'
import type { Route } from '@berth/gateway/upstream/route.ts'
import { routeTo, startGatewayHarness, usualRules, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until } from '#test/support/gateway/raw-client.ts'
import { listen, okResponse } from '#test/support/gateway/test-apps.ts'
import { annPerson, annToken, bobToken, tokenFor } from '#test/support/gateway/tokens.ts'

/**
 * Heads that are the same, byte for byte, as the one before on their connection are read once. What is decided about them is
 * decided anew each time.
 */

const head = keptHead('GET /ann-dev/x HTTP/1.1')

/** An app that answers each head of requests, and the request lines that it has got. */
function appThat(answer: (requestLine: string) => string) {
  const lines: string[] = []
  const app = net.createServer((socket) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const line = text.slice(0, text.indexOf('\r\n'))
        text = text.slice(end + 4)
        lines.push(line)
        socket.write(answer(line), 'latin1')
      }
    })
  })
  return { app, lines }
}

/** A gateway, and a client of it that repeats a request and is told the whole answer of each. */
async function repeating(t: TestContext, app: net.Server, options: HarnessOptions = {}) {
  const harness = await startGatewayHarness(t, app, options)
  const client = await rawClient(t, harness.port)
  const ask = async (text = head, isWhole = /\r\n\r\n[^]*[\])}\n]$/) => {
    const before = client.text().length
    client.write(text)
    await until('an answer', () => isWhole.test(client.text().slice(before)))
    return client.text().slice(before)
  }
  return { ...harness, client, ask }
}

const ok = appThat.bind(undefined, () => okResponse('[ok]'))

const later = Date.now() + 3_600_000
const changes: readonly [string, GatewayChange, RegExp][] = [
  ['its token is revoked', { kind: 'revoked', revocation: { jti: 'ann', expiresAt: later } }, /^HTTP\/1\.1 401 /],
  ['its user is blocked', { kind: 'user', user: { ...annPerson, isBlocked: true } }, /^HTTP\/1\.1 403 /],
  ['its user is gone', { kind: 'user-gone', userId: 1 }, /^HTTP\/1\.1 401 /],
  ['its container is gone', { kind: 'route-gone', prefix: 'ann-dev' }, /^HTTP\/1\.1 503 /],
]
for (const [what, change, refusal] of changes)
  test(`a head that is repeated is refused once ${what}`, async (t) => {
    const { app, lines } = ok()
    const { ask, gateway } = await repeating(t, app)
    for (let round = 0; round < 3; round++) assert.match(await ask(), /^HTTP\/1\.1 200 [^]*\[ok\]$/)
    await gateway.apply([change])
    assert.match(await ask(), refusal)
    assert.equal(lines.length, 3)
  })

test('a head that is repeated is refused once its container is blocked, or belongs to another user', async (t) => {
  const { app } = ok()
  const { ask, gateway, route } = await repeating(t, app)
  for (const forbidden of [{ isBlocked: true }, { ownerId: 2 }]) {
    assert.match(await ask(), /^HTTP\/1\.1 200 /)
    await gateway.apply([{ kind: 'route', route: { ...route, ...forbidden } }])
    assert.match(await ask(), /^HTTP\/1\.1 403 /)
    await gateway.apply([{ kind: 'route', route }])
  }
})

test('a head that is repeated goes to where its container is now', async (t) => {
  const [one, other] = [appThat(() => okResponse('[one]')), appThat(() => okResponse('[two]'))]
  const { ask, gateway } = await repeating(t, one.app)
  assert.match(await ask(), /\[one\]$/)
  assert.match(await ask(), /\[one\]$/)
  await gateway.apply([{ kind: 'route', route: routeTo('ann-dev', 1, await listen(t, other.app)) }])
  assert.match(await ask(), /\[two\]$/)
})

test('a head with another token is the request of another user', async (t) => {
  const { app, lines } = ok()
  const { ask } = await repeating(t, app)
  const cookie = (token: string) =>
    headOf('GET /ann-dev/x HTTP/1.1', 'Host: spawner.test', `Cookie: spawner_token=${token}`)
  const [own, foreign] = [cookie(annToken), cookie(bobToken)]
  for (const text of [own, own]) assert.match(await ask(text), /^HTTP\/1\.1 200 /)
  assert.match(await ask(foreign), /^HTTP\/1\.1 403 /)
  assert.match(await ask(own), /^HTTP\/1\.1 200 /)
  assert.match(await ask(cookie(await tokenFor(1, { expiresIn: -5 }))), /^HTTP\/1\.1 401 /)
  assert.equal(lines.length, 3)
})

test('heads that are sent together are each answered, the same and others among them', async (t) => {
  const { app, lines } = appThat((line) => okResponse(`[${line}]`))
  const { client, ask } = await repeating(t, app)
  await ask()
  const other = keptHead('GET /ann-dev/other HTTP/1.1')
  client.write(head + head + other + head.slice(0, 20))
  await client.expect(/\[GET \/other HTTP\/1\.1\]$/)
  client.write(head.slice(20))
  await client.expect(/\[GET \/other HTTP\/1\.1\][^]*\[GET \/x HTTP\/1\.1\]$/)
  const x = 'GET /x HTTP/1.1'
  assert.deepEqual(lines, [x, x, x, 'GET /other HTTP/1.1', x])
})

test('an answer with the same head is written anew for what the request was, and where the app is', async (t) => {
  let length = 4
  const { app } = appThat((line) => {
    const lines = [`Content-Length: ${length}`, `Location: http://localhost:${address()}/to`, 'Set-Cookie: a=b']
    return headOf('HTTP/1.1 302 Found', ...lines) + (line.startsWith('HEAD') ? '' : '[ok]'.slice(0, length))
  })
  const address = () => (app.address() as net.AddressInfo).port
  const { ask, gateway, route, known } = await repeating(t, app)
  const usual = await ask()
  assert.match(usual, /\r\nLocation: http:\/\/spawner\.test\/ann-dev\/to\r\n[^]*Path=\/ann-dev\/[^]*\r\n\r\n\[ok\]$/)
  assert.equal(await ask(), usual)
  // Of the answer to HEAD no body follows, although its head is the same.
  const heads = await ask(keptHead('HEAD /ann-dev/x HTTP/1.1'), /\r\n\r\n$/)
  assert.equal(`${heads}[ok]`, usual)
  assert.equal(await ask(), usual)
  const others = { ...route, prefix: 'ann-prod', type: 'prod' }
  await gateway.replace({ ...known, routes: [others] })
  assert.match(await ask(keptHead('GET /ann-prod/x HTTP/1.1')), /spawner\.test\/ann-prod\/to\r\n[^]*Path=\/ann-prod\//)
  length = 3
  assert.match(await ask(keptHead('GET /ann-prod/x HTTP/1.1'), /\[ok$/), /Content-Length: 3\r\n[^]*\r\n\r\n\[ok$/)
})

test('an address of the app in an answer with the same head is its own only where the app is now', async (t) => {
  const answer = (port: number) =>
    headOf('HTTP/1.1 200 OK', 'Content-Length: 4', `Content-Location: http://localhost:${port}/to`) + '[ok]'
  let first = 0
  const [one, other] = [appThat(() => answer(first)), appThat(() => answer(first))]
  const { ask, gateway } = await repeating(t, one.app)
  first = (one.app.address() as net.AddressInfo).port
  for (let round = 0; round < 2; round++)
    assert.match(await ask(), /Content-Location: http:\/\/spawner\.test\/ann-dev\/to/)
  await gateway.apply([{ kind: 'route', route: routeTo('ann-dev', 1, await listen(t, other.app)) }])
  for (let round = 0; round < 2; round++)
    assert.match(await ask(), new RegExp(`Content-Location: http://localhost:${first}/to`))
})

test('a head that is repeated is written anew for another user, also when others were sent with a trace between', () => {
  const headers = new UpstreamRequestHeaders({ containsOwnToken: () => false, ownTokenLines: () => () => false })
  const read = readRequestHead(head)
  assert.ok(!isFault(read))
  const route = { segment: 'ann-dev', rules: usualRules, entry: routeTo('ann-dev', 1, 1) } as unknown as Route
  const origin = { address: '192.0.2.1', scheme: 'http', proxy: 'none' } as const
  const sent = (email: string, traceparent?: string) => {
    const identity = { caller: { userId: 1, acting: null } as Caller, email, token: undefined, share: undefined }
    return headers.write(read, '/x', route, origin, identity, traceparent)
  }
  const one = sent('one@x.org')
  assert.match(one, /^GET \/x HTTP\/1\.1\r\n[^]*X-Berth-User: one@x\.org\r\n/)
  assert.equal(sent('one@x.org'), one)
  assert.match(sent('two@x.org', 'a trace'), /traceparent: a trace\r\n[^]*X-Berth-User: two@x\.org\r\n/)
  assert.match(sent('two@x.org'), /^GET \/x HTTP\/1\.1\r\n[^]*X-Berth-User: two@x\.org\r\n/)
})
