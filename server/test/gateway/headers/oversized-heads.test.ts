import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { serializeResponse, refusalResponse } from '@berth/gateway/pages/gateway-response.ts'
import { dropLargestCookies, readOversizedHead } from '@berth/gateway/http1/request-head.ts'
import { gatewayRefusals } from '@berth/gateway/pages/gateway-refusals.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf } from '#test/support/gateway/http-text.ts'
import { exchange } from '#test/support/gateway/raw-client.ts'
import { echoApp } from '#test/support/gateway/test-apps.ts'
import { annToken } from '#test/support/gateway/tokens.ts'
import { timeLimit } from '#test/support/extent.ts'

/** A container's page can set cookies for the whole site that make every head too long, the one of the sign-out included. */
const bomb = (count: number) => Array.from({ length: count }, (_, at) => `bomb${at}=${'x'.repeat(4_000)}`).join('; ')
const own = `spawner_token=${annToken}; spawner_language=en`
const browserLines = ['Host: spawner.test', 'Accept: text/html', 'Sec-Fetch-Mode: navigate', 'Accept-Language: de']
const page = (path: string, cookie: string) => headOf(`GET ${path} HTTP/1.1`, ...browserLines, `Cookie: ${cookie}`)
const lines = (answer: string, name: string) =>
  (answer.split('\r\n\r\n', 1)[0] ?? '').split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`))

test('six large cookies are no reason to refuse anything', async (t) => {
  const platform = createServer({ maxHeaderSize: 65_536 }, (_, response) => response.end('login'))
  const { port } = await startGatewayHarness(t, echoApp(), { platform })
  const kept = page('/login', `${bomb(6)}; ${own}`).replace('Accept:', 'Connection: close\r\nAccept:')
  assert.match(await exchange(port, kept), /^HTTP\/1\.1 200 /)
})

test('of a head that is too long by its cookies the largest are dropped, at every path and domain, and the session stays', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
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
  assert.equal(new Set(dropped.map((line) => /bomb\d/.exec(line)?.[0])).size >= 5, true)
  assert.deepEqual(lines(answer, 'clear-site-data'), [])
})

/** What a browser still has after an answer's `Set-Cookie`, when each cookie was set for this path and without a domain. */
function left(cookies: readonly string[], path: string, dropped: readonly string[]): string[] {
  const isDropped = (name: string) =>
    dropped.some((line) => line.startsWith(`${name}=; Path=${path}; `) && !/domain|partitioned/i.test(line))
  return cookies.filter((cookie) => !isDropped(cookie.slice(0, cookie.indexOf('='))))
}

test('an answer drops a bounded number of cookies, and the requests after it the rest, whatever path they were set for', () => {
  const target = `/${Array.from({ length: 5 }, (_, at) => `${at}`.repeat(60)).join('/')}`
  const settings = { domain: 'spawner.test', isSecure: true }
  for (const path of ['/', target, `${target.slice(0, 61)}/`]) {
    let cookies = bomb(10).split('; ')
    let rounds = 0
    for (; cookies.join('; ').length > 32_000 && rounds < 1_000; rounds++) {
      const text = headOf(`GET ${target} HTTP/1.1`, 'Host: a.b.c.spawner.test', `Cookie: ${cookies.join('; ')}`)
      const dropped = dropLargestCookies(text, readOversizedHead(text) ?? assert.fail(), settings)['set-cookie'] ?? []
      assert.ok(dropped.length <= 60 && String(dropped).length <= 17_000, `${dropped.length} lines`)
      cookies = left(cookies, path, [dropped].flat())
    }
    assert.ok(rounds < 1_000, path.slice(0, 20))
  }
})

test('such an answer takes less than 2 ms, however many cookies and however long their names, paths and hosts', () => {
  const settings = { domain: 'spawner.test', isSecure: true }
  const target = `/${Array.from({ length: 5 }, () => 'x'.repeat(200)).join('/')}`
  const cookies = Array.from({ length: 220 }, (_, at) => `${'n'.repeat(240)}${at}=x`).join('; ')
  const text = headOf(`GET ${target} HTTP/1.1`, 'Host: a.b.c.spawner.test', `Cookie: ${cookies}`)
  const ways = { continueUrl: '/', dashboardUrl: '/' }
  const drop = () => {
    const head = readOversizedHead(text) ?? assert.fail()
    const refusal = gatewayRefusals.headTooLarge(32_768, dropLargestCookies(text, head, settings))
    return Buffer.from(serializeResponse(refusalResponse(head, refusal, ways), 'id', false, true))
  }
  for (let warm = 0; warm < 20; warm++) drop()
  const before = process.cpuUsage()
  for (let each = 0; each < 200; each++) drop()
  const { user, system } = process.cpuUsage(before)
  const took = (user + system) / 1_000 / 200
  assert.ok(took < timeLimit(2), `${took.toFixed(2)} ms`)
})

test('a long address or another long header drops no cookies', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
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
  const { port } = await startGatewayHarness(t, echoApp(), { settings: { scheme: 'https' } })
  const answer = await exchange(port, page('/', `${own}; ${bomb(10)}`))
  assert.ok(lines(answer, 'set-cookie').some((line) => /^set-cookie: bomb1=.*; Secure; Partitioned/.test(line)))
  const endless = page('/', `${own}; ${bomb(60)}`).slice(0, 60_000)
  assert.deepEqual(lines(await exchange(port, endless), 'clear-site-data'), ['clear-site-data: "cookies"'])
})
