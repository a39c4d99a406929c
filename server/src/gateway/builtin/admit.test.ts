import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Location } from '#/gateway/gateway.ts'
import { ann, annCookie, httpApp, browser, echoApp, get, startBench } from '#test/support/gateway-bench.ts'

const bob = { authorization: 'Bearer bob-token' }
const max = { authorization: 'Bearer max-token' }
const appAnswers = () => httpApp((_, response) => response.end('the app'))

test('the owner reaches the app with the header or the cookie', async (t) => {
  const { port } = await startBench(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'the app')
  assert.equal((await get(port, '/ann-dev/', { headers: annCookie })).body, 'the app')
})

test('a program without a token gets the same 401 whether the address exists or not', async (t) => {
  const { port } = await startBench(t, appAnswers())
  const answers = await Promise.all(['/ann-dev/', '/ann', '/nobody-dev/', '/max-dev/'].map((path) => get(port, path)))
  for (const { status, headers, body } of answers) {
    assert.equal(status, 401)
    assert.equal(headers['www-authenticate'], 'Bearer')
    assert.equal(headers['cache-control'], 'no-store')
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
    assert.equal(body, answers[0]?.body)
  }
})

test('a browser without a token is led to the login page and knows the way back', async (t) => {
  const { port } = await startBench(t, appAnswers())
  for (const path of ['/ann-dev/a%2Fb?x=1&y=2', '/nobody-dev/?z']) {
    const { status, headers } = await get(port, path, { headers: browser })
    assert.equal(status, 302)
    assert.equal(headers.location, `http://spawner.test/login?next=${encodeURIComponent(path)}`)
  }
})

test('a script in a page gets 401 and no redirect', async (t) => {
  const { port } = await startBench(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: { ...browser, 'sec-fetch-mode': 'cors' } })).status, 401)
  assert.equal((await get(port, '/ann-dev/', { method: 'POST', headers: browser })).status, 401)
})

test('a browser that sends no Sec-Fetch headers is still led to the login page', async (t) => {
  const { port } = await startBench(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: { accept: 'text/html' } })).status, 302)
})

test("another user's token opens no container, and a blocked user's not even the own one", async (t) => {
  const { port } = await startBench(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 403)
  assert.equal((await get(port, '/ann', { headers: bob })).status, 403)
  assert.equal((await get(port, '/max-dev/', { headers: max })).status, 403)
})

test('a signed-in user gets 404 where there is nothing', async (t) => {
  const { port } = await startBench(t, appAnswers())
  assert.equal((await get(port, '/nobody-dev/', { headers: ann })).status, 404)
})

test('access "authenticated" lets every unblocked user in, and nobody else', async (t) => {
  const { port } = await startBench(t, appAnswers(), { route: { access: 'authenticated' } })
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: max })).status, 403)
  assert.equal((await get(port, '/ann-dev/')).status, 401)
})

test('access "public" lets everybody in, but no blocked user', async (t) => {
  const { port } = await startBench(t, appAnswers(), { route: { access: 'public' } })
  assert.equal((await get(port, '/ann-dev/')).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: max })).status, 403)
})

test('a blocked container says so, to its owner and to visitors', async (t) => {
  const { port } = await startBench(t, appAnswers(), { route: { isBlocked: true, access: 'public' } })
  const page = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.equal(page.status, 403)
  assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  assert.match(page.body, /This container is blocked/)
  const json = await get(port, '/ann-dev/')
  assert.equal(json.status, 403)
  assert.match(JSON.parse(json.body).error, /blocked/)
})

test('a refusal page runs nothing, loads nothing and is not stored', async (t) => {
  const { port } = await startBench(t, appAnswers(), { route: { isBlocked: true } })
  const { headers, body } = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(body, /color-scheme:light dark/)
  assert.doesNotMatch(body, /<script|src=/)
})

test('the owner of a home address is led to the first container, with path and query', async (t) => {
  const { port } = await startBench(t, appAnswers())
  for (const [path, to] of [
    ['/ann', '/ann-dev/'],
    ['/ann?x=1', '/ann-dev/?x=1'],
    ['/ann/', '/ann-dev/'],
    ['/ann//evil.example', '/ann-dev//evil.example'],
  ] as const) {
    const { status, headers } = await get(port, path, { headers: ann })
    assert.deepEqual([status, headers.location], [302, to])
  }
})

test('a browser at the bare prefix is led to the slash, with the query kept', async (t) => {
  const { port } = await startBench(t, appAnswers())
  const { status, headers } = await get(port, '/ann-dev?x=%2F', { headers: { ...browser, ...annCookie } })
  assert.deepEqual([status, headers.location], [308, '/ann-dev/?x=%2F'])
})

test('a service worker cannot be registered at the bare prefix', async (t) => {
  const { port } = await startBench(t, appAnswers())
  for (const sign of [{ 'service-worker': 'script' }, { 'sec-fetch-dest': 'serviceworker' }]) {
    assert.equal((await get(port, '/ann-dev', { headers: { ...annCookie, ...sign } })).status, 403)
    assert.equal((await get(port, '/ann-dev/sw.js', { headers: { ...annCookie, ...sign } })).status, 200)
  }
})

test('a container that is not there answers 503 and says why and where to start it', async (t) => {
  for (const [unavailable, says] of [
    ['missing', /does not exist yet, or was removed/],
    ['stopped', /is stopped/],
    ['unknown', /engine does not answer/],
  ] as const) {
    const { port } = await startBench(t, echoApp(), {
      parts: { locate: async (): Promise<Location> => ({ unavailable }) },
    })
    const page = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
    assert.equal(page.status, 503)
    assert.match(page.headers['retry-after'] ?? '', /^\d+$/)
    assert.match(page.body, says)
    assert.match(page.body, /href="http:\/\/spawner\.test\/dashboard\?a=1&amp;b=2"/)
    assert.match(JSON.parse((await get(port, '/ann-dev/', { headers: ann })).body).error, says)
  }
})
