import assert from 'node:assert/strict'
import { test } from 'node:test'
import { echoApp, exchange, requestHead, startBench } from '#test/support/gateway-bench.ts'

test('a request that names two hosts is refused', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const second of ['Host: evil.example', 'hOST: spawner.test']) {
    assert.match(
      await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1', second)),
      /^HTTP\/1\.1 400 .*"error":"This request is not valid/s,
    )
  }
})

test('TRACE is not allowed, whatever the address', async (t) => {
  const { port } = await startBench(t, echoApp())
  const answer = await exchange(port, requestHead('TRACE /ann-dev/ HTTP/1.1'))
  assert.match(answer, /^HTTP\/1\.1 405 .*\r\nallow: GET, HEAD,/s)
})

test('CONNECT opens no tunnel', async (t) => {
  const { port } = await startBench(t, echoApp())
  assert.doesNotMatch(await exchange(port, requestHead('CONNECT /ann-dev/ HTTP/1.1')), /HTTP\/1\.1 2/)
})

test('a request that can be read in two ways never reaches the app', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const [firstLine, ...lines] of [
    ['POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked', 'Content-Length: 4'],
    ['POST /ann-dev/ HTTP/1.1', 'Content-Length: 4', 'Content-Length: 5'],
    ['POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: gzip, chunked'],
    ['POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: xchunked'],
    ['POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding : chunked'],
    ['POST /ann-dev/ HTTP/1.0', 'Transfer-Encoding: chunked'],
  ] as const) {
    assert.match(
      await exchange(port, `${requestHead(firstLine, ...lines)}0\r\n\r\n`),
      /^HTTP\/1\.1 (400|501) /,
      lines.join(),
    )
  }
})

test('nothing behind a refused message is taken for a request', async (t) => {
  const { port } = await startBench(t, echoApp())
  const smuggled = requestHead('GET /ann-dev/smuggled HTTP/1.1')
  const answer = await exchange(
    port,
    `${requestHead('POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: gzip, chunked').replace('close', 'keep-alive')}0\r\n\r\n${smuggled}`,
  )
  assert.match(answer, /^HTTP\/1\.1 501 /)
  assert.doesNotMatch(answer, /smuggled/)
})

test('h2c is not spoken: the app gets a plain request without the offer', async (t) => {
  const { port } = await startBench(t, echoApp())
  const lines = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']
  const answer = await exchange(port, requestHead('GET /ann-dev/x HTTP/1.1', ...lines))
  assert.match(answer, /^HTTP\/1\.1 200 .*"url":"\/x"/s)
  assert.doesNotMatch(answer, /h2c|http2-settings/i)
})

test('an offer of another protocol with a body is refused', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const protocol of ['h2c', 'websocket']) {
    const lines = ['Connection: Upgrade', `Upgrade: ${protocol}`, 'Content-Length: 5']
    assert.match(await exchange(port, `${requestHead('POST /ann-dev/x HTTP/1.1', ...lines)}hello`), /^HTTP\/1\.1 400 /)
  }
})
