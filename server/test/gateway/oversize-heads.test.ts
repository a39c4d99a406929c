import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { annToken, echoApp, exchange, headOf, startBench } from '#test/support/gateway-bench.ts'

/** A container's page can set cookies for the whole site that make every head too long, the one of the sign-out included. */
const bomb = (count: number) => Array.from({ length: count }, (_, at) => `bomb${at}=${'x'.repeat(4_000)}`).join('; ')
const own = `spawner_token=${annToken}; spawner_language=en`
const browserLines = ['Host: spawner.test', 'Accept: text/html', 'Sec-Fetch-Mode: navigate', 'Accept-Language: de']
const page = (path: string, cookie: string) => headOf(`GET ${path} HTTP/1.1`, ...browserLines, `Cookie: ${cookie}`)
const lines = (answer: string, name: string) =>
  (answer.split('\r\n\r\n', 1)[0] ?? '').split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`))

test('six large cookies are no reason to refuse anything', async (t) => {
  const platform = createServer({ maxHeaderSize: 65_536 }, (_, response) => response.end('login'))
  const { port } = await startBench(t, echoApp(), { platform })
  const kept = page('/login', `${bomb(6)}; ${own}`).replace('Accept:', 'Connection: close\r\nAccept:')
  assert.match(await exchange(port, kept), /^HTTP\/1\.1 200 /)
})

test('of a head that is too long by its cookies the largest are dropped, at every path and domain, and the session stays', async (t) => {
  const { port } = await startBench(t, echoApp())
  const answer = await exchange(port, page('/login/x', `${own}; ${bomb(10)}`))
  assert.match(answer, /^HTTP\/1\.1 431 /)
  assert.match(answer, /content-type: text\/html/)
  assert.match(answer, /Lade die Seite neu/)
  const dropped = lines(answer, 'set-cookie')
  for (const line of dropped) assert.match(line, /^set-cookie: bomb\d=; Path=\/.*Max-Age=0/)
  for (const path of ['/', '/login', '/login/x'])
    assert.ok(
      dropped.some((line) => line.includes('bomb0=') && line.includes(`Path=${path};`)),
      path,
    )
  assert.ok(dropped.some((line) => line.includes('Domain=spawner.test')))
  assert.equal(new Set(dropped.map((line) => /bomb\d/.exec(line)?.[0])).size >= 7, true)
  assert.deepEqual(lines(answer, 'clear-site-data'), [])
})

test('a long address or another long header drops nobody’s cookies', async (t) => {
  const { port } = await startBench(t, echoApp())
  for (const head of [
    page(`/login?${'x'.repeat(33_000)}`, own),
    headOf('GET / HTTP/1.1', ...browserLines, `Cookie: ${own}`, `X-A: ${'x'.repeat(33_000)}`),
    `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'Cookie: a=b; '.repeat(3_000)}\r\n\r\n`,
  ]) {
    const answer = await exchange(port, head)
    assert.match(answer, /^HTTP\/1\.1 431 /)
    assert.deepEqual([...lines(answer, 'set-cookie'), ...lines(answer, 'clear-site-data')], [])
  }
})

test('with https cookies that were set as partitioned are dropped, too, and those that were not read all together', async (t) => {
  const { port } = await startBench(t, echoApp(), { settings: { scheme: 'https' } })
  const answer = await exchange(port, page('/', `${own}; ${bomb(10)}`))
  assert.ok(lines(answer, 'set-cookie').some((line) => /^set-cookie: bomb1=.*; Secure; Partitioned/.test(line)))
  const endless = page('/', `${own}; ${bomb(60)}`).slice(0, 60_000)
  assert.deepEqual(lines(await exchange(port, endless), 'clear-site-data'), ['clear-site-data: "cookies"'])
})
