import assert from 'node:assert/strict'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead, requestHead } from '#test/support/gateway/http-text.ts'
import { exchange, rawClient } from '#test/support/gateway/raw-client.ts'
import { echoApp, watchfulApp } from '#test/support/gateway/test-apps.ts'
import { annToken } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'

const hidden = keptHead('GET /ann-dev/smuggled HTTP/1.1')
const chunks = '5\r\nhello\r\n0\r\n\r\n'

interface Attempt {
  readonly bytes: string
  readonly status?: RegExp
}

const post = (...lines: readonly string[]) => keptHead('POST /ann-dev/x HTTP/1.1', ...lines)
const chunked = (body: string) => post('Transfer-Encoding: chunked') + body

/** By what is wrong; each is followed by a request that must not be answered. */
const attempts: Record<string, Attempt> = {
  'a length and a coding': { bytes: post('Content-Length: 5', 'Transfer-Encoding: chunked') + chunks },
  'two different lengths': { bytes: `${post('Content-Length: 5', 'Content-Length: 6')}hello!` },
  'the same length twice': { bytes: `${post('Content-Length: 5', 'Content-Length: 5')}hello` },
  'a length with a plus': { bytes: `${post('Content-Length: +5')}hello` },
  'a length with a minus': { bytes: `${post('Content-Length: -5')}hello` },
  'a list of lengths': { bytes: `${post('Content-Length: 5, 5')}hello` },
  'a hexadecimal length': { bytes: `${post('Content-Length: 0x5')}hello` },
  'an empty length': { bytes: `${post('Content-Length:')}hello` },
  'a space before the colon': { bytes: post('Transfer-Encoding : chunked') + chunks },
  'an unknown coding': { bytes: post('Transfer-Encoding: xchunked') + chunks, status: /40[0]|501/ },
  'a list of codings': { bytes: post('Transfer-Encoding: chunked, identity') + chunks, status: /400|501/ },
  'a coding below the chunks': { bytes: post('Transfer-Encoding: gzip, chunked') + chunks, status: /400|501/ },
  'two codings': { bytes: post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + chunks },
  'two codings of which one is unknown': {
    bytes: post('Transfer-Encoding: chunked', 'Transfer-Encoding: x') + chunks,
    status: /400|501/,
  },
  'a vertical tab before the coding': { bytes: post('Transfer-Encoding: \x0bchunked') + chunks, status: /400|501/ },
  'a tab behind the coding': { bytes: post('Transfer-Encoding: chunked\t') + chunks },
  'a tab behind the coding, and no blank before it': { bytes: post('Transfer-Encoding:chunked\t') + chunks },
  'a tab before the coding': { bytes: post('Transfer-Encoding:\tchunked') + chunks },
  'a folded line': { bytes: `${post('X-A: 1\r\n Content-Length: 5')}hello` },
  'a folded coding': { bytes: post('Transfer-Encoding:\r\n chunked') + chunks },
  'a bare line feed': { bytes: `${post('X-A: 1\nContent-Length: 5')}hello` },
  'line feeds only': { bytes: post('Content-Length: 0').replaceAll('\r\n', '\n') },
  'a bare carriage return': { bytes: `${post('X-A: 1\rContent-Length: 5')}hello` },
  'a NUL in a value': { bytes: post('X-A: a\0b', 'Content-Length: 0') },
  'a control byte in a value': { bytes: post('X-A: a\x01b', 'Content-Length: 0') },
  'a space in a name': { bytes: post('X A: 1', 'Content-Length: 0') },
  'a name beyond ASCII': { bytes: post('X\xe9: 1', 'Content-Length: 0') },
  'an empty name': { bytes: post(': 1', 'Content-Length: 0') },
  'a line without a colon': { bytes: post('X-A', 'Content-Length: 0') },
  'a space before the first name': { bytes: post('Content-Length: 0').replace('\r\nHost', '\r\n Host') },
  'a line feed in a chunk extension': { bytes: chunked('5;a\nhello\r\n0\r\n\r\n') },
  'a control byte in a chunk extension': { bytes: chunked('5;a=\x01\r\nhello\r\n0\r\n\r\n') },
  'a chunk extension that goes on for ever': { bytes: chunked(`5;${'a'.repeat(9_000)}\r\nhello\r\n0\r\n\r\n`) },
  'a chunk size with 0x': { bytes: chunked('0x5\r\nhello\r\n0\r\n\r\n') },
  'a chunk size with a sign': { bytes: chunked('+5\r\nhello\r\n0\r\n\r\n') },
  'a chunk size beyond 64 bits': { bytes: chunked('10000000000000005\r\nhello\r\n0\r\n\r\n') },
  'an empty chunk size': { bytes: chunked('\r\nhello\r\n0\r\n\r\n') },
  'a space in front of a chunk size': { bytes: chunked(' 5\r\nhello\r\n0\r\n\r\n') },
  'a chunk that is longer than it says': { bytes: chunked('5\r\nhelloXX0\r\n\r\n') },
  'a chunk that ends with a line feed only': { bytes: chunked('5\r\nhello\n0\r\n\r\n') },
  'a length in the trailers': { bytes: chunked('0\r\nContent-Length: 5\r\n\r\n') },
  'a folded trailer': { bytes: chunked('0\r\nX-A: 1\r\n 2\r\n\r\n') },
  'two hosts': { bytes: post('Host: other.example', 'Content-Length: 0') },
  'the same host twice': { bytes: post('hOST: spawner.test', 'Content-Length: 0') },
  'no host': { bytes: post('Content-Length: 0').replace('Host: spawner.test\r\n', '') },
  'a host that is no host': { bytes: post('Content-Length: 0').replace('spawner.test', 'a/../b') },
  'a coding in HTTP/1.0': { bytes: post('Transfer-Encoding: chunked').replace('1.1', '1.0') + chunks },
  'an address in absolute form': {
    bytes: keptHead('GET http://spawner.test/ann-dev/ HTTP/1.1'),
  },
  'another version': { bytes: post('Content-Length: 0').replace('HTTP/1.1', 'HTTP/1.2'), status: /400|505/ },
  'two spaces in the first line': { bytes: post('Content-Length: 0').replace('POST ', 'POST  ') },
  'a tab in the first line': { bytes: post('Content-Length: 0').replace('POST ', 'POST\t') },
}

for (const [what, { bytes, status = /400/ }] of Object.entries(attempts))
  test(`refused before a byte reaches the app: ${what}`, async (t) => {
    const { app, seen } = watchfulApp()
    const { port } = await startGatewayHarness(t, app)
    const answer = await exchange(port, bytes + hidden)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 (${status.source}) `))
    assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1, answer)
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.equal(seen(), '')
  })

test('the platform is protected in the same way as the apps', async (t) => {
  const { app, seen } = watchfulApp()
  const { port } = await startGatewayHarness(t, echoApp(), { platform: app })
  for (const bytes of [
    `POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    'POST /api/x HTTP/1.1\r\nHost: a\nContent-Length: 5\r\n\r\nhello',
    'POST http://a/api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
  ])
    assert.match(await exchange(port, bytes), /^HTTP\/1\.1 400 /)
  assert.equal(seen(), '')
})

test('a chunk that turns out wrong later ends the request in the app, and what is behind it is no request', async (t) => {
  const { app, seen } = watchfulApp()
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(chunked('5\r\nhello\r\n'))
  await sleep(50)
  client.write(`5\r\nhelloXX0\r\n\r\n${hidden}`)
  await observationTime(200)
  assert.doesNotMatch(seen(), /smuggled/)
  assert.doesNotMatch(seen(), /\r\n0\r\n\r\n/)
  assert.ok((client.text().match(/HTTP\/1\.1 \d/g)?.length ?? 0) <= 1, client.text())
})

test('a header that only looks like a coding is forwarded as what it is: unknown', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const lines = ['Transfer_Encoding: chunked', 'Content-Length: 5']
  const answer = await exchange(port, `${requestHead('POST /ann-dev/ HTTP/1.1', ...lines)}hello`)
  assert.match(answer, /^HTTP\/1\.1 200 .*"body":"hello"/s)
  assert.match(answer, /Transfer_Encoding: chunked/)
})

test('requests sent together are answered apart and in order', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(
    port,
    [
      `${keptHead('POST /ann-dev/1 HTTP/1.1', 'Content-Length: 26')}GET /smuggled HTTP/1.1\r\n\r\n`,
      keptHead('POST /ann-dev/2 HTTP/1.1', 'Transfer-Encoding: chunked') + chunks,
      keptHead('GET /ann-dev/3 HTTP/1.1'),
      requestHead('GET /ann-dev/4 HTTP/1.1'),
    ].join(''),
  )
  const urls = [...answer.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url)
  assert.deepEqual(urls, ['/1', '/2', '/3', '/4'])
})

test('a request reads the same however its bytes arrive', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const bytes = requestHead('POST /ann-dev/x?y HTTP/1.1', 'X-A: 1', 'Transfer-Encoding: chunked') + chunks
  const whole = await exchange(port, bytes)
  const socket = net.connect(port, '127.0.0.1').setNoDelay(true)
  const all = socket.toArray()
  for (const byte of bytes) {
    socket.write(byte, 'latin1')
    await new Promise((resolve) => setImmediate(resolve))
  }
  const bodyIn = (text: string) => text.slice(text.indexOf('{'))
  assert.equal(bodyIn(Buffer.concat(await all).toString('latin1')), bodyIn(whole))
})

test('an HTTP/1.0 request without a host reaches the app, which learns one', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(port, headOf('GET /ann-dev/ HTTP/1.0', `Authorization: Bearer ${annToken}`))
  assert.match(answer, /^HTTP\/1\.1 200 .*"Host: [^"]+"/s)
})
