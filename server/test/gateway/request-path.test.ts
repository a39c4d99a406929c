import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf, requestHead } from '#test/support/gateway/http-text.ts'
import { echoed, exchange, get } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bob, browser } from '#test/support/gateway/tokens.ts'

test('what follows the prefix reaches the app byte for byte', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const rest of [
    '/a%2Fb?x=1',
    '/a%2fb/c%20d?x=%2F&y=a+b&x=2',
    "/a;b=1/~c'(x)|[y]?q={}&r=100%",
    '/x/../y/./z',
    '/x/%2e%2e/y',
    '//evil.example/x',
    '/@evil.example',
    '/%252e%252e/',
    '/a//b?',
  ]) {
    const { url } = await echoed(port, `/ann-dev${rest}`)
    assert.equal(url, rest)
  }
})

test('an app that keeps its prefix receives the whole path', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { stripPrefix: false } })
  assert.equal((await echoed(port, '/ann-dev/a%2Fb?x=1')).url, '/ann-dev/a%2Fb?x=1')
  assert.equal((await echoed(port, '/ann-dev/')).url, '/ann-dev/')
  assert.equal((await echoed(port, '/ann-dev?x=1')).url, '/ann-dev?x=1')
})

test('a program that asks for the bare prefix gets the root of the app', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  assert.equal((await echoed(port, '/ann-dev?x=1')).url, '/?x=1')
  assert.equal((await echoed(port, '/ann-dev')).url, '/')
})

test('the first segment is compared raw and whole', async (t) => {
  const platform = httpApp((_, response) => response.writeHead(404).end())
  const { port } = await startGatewayHarness(t, echoApp(), { platform })
  for (const path of [
    '/ann-development/',
    '/ann-de/',
    '/ann-dev;x/',
    '/ann-dev../',
    '/%61nn-dev/',
    '/ANN-DEV/',
    '/ann-dev%2f',
  ]) {
    const { status, body } = await get(port, path, { headers: ann })
    assert.ok(status === 404 || status === 400, `${path}: ${status} ${body}`)
  }
})

test('an address whose dots lead out of the container is refused', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const rest of [
    '/..',
    '/../bob-dev/',
    '/x/../../bob-dev/',
    '/%2e%2e/bob-dev/',
    '/.%2E/bob-dev/',
    '/..%2fbob-dev/',
    '/x%2F..%2F..%5cbob-dev/',
    '//../bob-dev/',
    '/..;/bob-dev/',
    '/..;x=1/bob-dev/',
  ]) {
    const { status, body } = await get(port, `/ann-dev${rest}`, { headers: ann })
    assert.equal(status, 400, rest)
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'], rest)
  }
})

test('a target that is no plain path is refused', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const target of [
    '//ann-dev/x',
    '//evil.example/ann-dev/',
    'http://spawner.test/ann-dev/',
    '*x',
    '/ann-dev\\x',
    '\\ann-dev/',
    '/ann-dev/#x',
    '/ann-dev/100%',
    '/ann-dev/%zz',
    '/ann-dev/%00',
    '/ann-dev/\x7f',
    'ann-dev/',
    '?x',
  ]) {
    const method = target === '*x' ? 'OPTIONS' : 'GET'
    const answer = await exchange(port, requestHead(`${method} ${target} HTTP/1.1`))
    assert.match(answer, /^HTTP\/1\.1 400 /, target)
  }
})

test('any method reaches the app, but TRACE and CONNECT', async (t) => {
  const app = httpApp((request, response) => response.end(request.method))
  const { port } = await startGatewayHarness(t, app)
  for (const method of ['PROPFIND', 'REPORT', 'MKCOL', 'QUERY'])
    assert.equal((await get(port, '/ann-dev/', { method, headers: ann })).body, method)
  for (const method of ['TRACE', 'CONNECT'])
    assert.match(await exchange(port, requestHead(`${method} /ann-dev/ HTTP/1.1`)), /^HTTP\/1\.1 405 /, method)
})

test('an unknown method is passed to the app', async (t) => {
  const app = rawApp((socket, head) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n${head.slice(0, 6)}`))
  const { port } = await startGatewayHarness(t, app)
  assert.match(await exchange(port, requestHead('FOOBAR /ann-dev/ HTTP/1.1')), /^HTTP\/1\.1 200 .*FOOBAR$/s)
})

test('the owner of a home address is led to the first container, with path and query', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const [path, to] of [
    ['/ann', '/ann-dev/'],
    ['/ann?x=1', '/ann-dev/?x=1'],
    ['/ann/', '/ann-dev/'],
    ['/ann/x?y', '/ann-dev/x?y'],
  ] as const) {
    const { status, headers } = await get(port, path, { headers: ann })
    assert.deepEqual([status, headers.location], [302, to])
  }
  assert.equal((await get(port, '/ann', { headers: bob })).status, 403)
})

test('a home address never leads to another host', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const { status, headers } = await get(port, '/ann//evil.example', { headers: ann })
  assert.ok(status === 400 || (headers.location ?? '').startsWith('/ann-dev/'), `${status} ${headers.location}`)
})

test('a browser at the bare prefix is led to the slash, with the query kept', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const { status, headers } = await get(port, '/ann-dev?x=%2F', { headers: { ...browser, ...annCookie } })
  assert.deepEqual([status, headers.location], [308, '/ann-dev/?x=%2F'])
})

test('an app that keeps its prefix answers a browser at the bare prefix itself', async (t) => {
  // Next.js and WeTTY redirect `/ann-dev/` to `/ann-dev`; a redirect back would never end.
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { stripPrefix: false } })
  const { status, body } = await get(port, '/ann-dev?x=%2F', { headers: { ...browser, ...annCookie } })
  assert.deepEqual([status, (JSON.parse(body) as { url: string }).url], [200, '/ann-dev?x=%2F'])
  const worker = { ...annCookie, 'service-worker': 'script' }
  assert.equal((await get(port, '/ann-dev', { headers: worker })).status, 403)
})

test('a service worker cannot be registered at the bare prefix', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const sign of [{ 'service-worker': 'script' }, { 'sec-fetch-dest': 'serviceworker' }]) {
    assert.equal((await get(port, '/ann-dev', { headers: { ...annCookie, ...sign } })).status, 403)
    assert.equal((await get(port, '/ann-dev?x', { headers: { ...annCookie, ...sign } })).status, 403)
    assert.equal((await get(port, '/ann-dev/sw.js', { headers: { ...annCookie, ...sign } })).status, 200)
  }
})

test('no worker script is served at a bare prefix, where its scope would cover the pages of all users', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const path of ['/nobody-dev', '/nobody-dev?x=/', '/ann-dev'])
    for (const headers of [{}, ann]) {
      const answer = await get(port, path, { headers: { ...headers, 'service-worker': 'script' } })
      assert.ok(answer.status >= 400, `${path}: ${answer.status}`)
      assert.doesNotMatch(answer.headers['content-type'] ?? '', /javascript/)
    }
})

test('a service worker that a gone app left behind takes itself away', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const headers of [{}, ann]) {
    const {
      status,
      headers: received,
      body,
    } = await get(port, '/nobody-dev/sw.js', {
      headers: { ...headers, 'service-worker': 'script' },
    })
    assert.equal(status, 200)
    assert.match(received['content-type'] ?? '', /javascript/)
    assert.match(body, /unregister\(\)/)
  }
})

/** HAProxy asks so, without a host, unless it is told another way (`option httpchk`). */
test('OPTIONS of the whole server is answered by the gateway, until it drains or closes', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, echoApp(), { settings: { drainTime: 0 } })
  const checks = ['OPTIONS / HTTP/1.0', 'OPTIONS * HTTP/1.0', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close']
  for (const check of checks)
    assert.match(
      await exchange(port, `${check}\r\n\r\n`),
      /^HTTP\/1\.1 200 OK\r\n[^]*\r\nallow: GET, HEAD, OPTIONS\r\n/i,
      check,
    )
  assert.match(await exchange(port, requestHead('GET * HTTP/1.1')), /^HTTP\/1\.1 400 /)
  assert.match(
    await exchange(port, requestHead('OPTIONS /ann-dev/ HTTP/1.1')),
    /^HTTP\/1\.1 200 [^]*"method":"OPTIONS"/,
  )
  await gateway.drain()
  for (const check of checks) assert.match(await exchange(port, `${check}\r\n\r\n`), /^HTTP\/1\.1 503 /, check)
})

test('OPTIONS of the whole server is not for the app at its own host; OPTIONS of its root is', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { routing: 'subdomain', rules: { access: 'public' } })
  const ask = (target: string) =>
    exchange(port, headOf(`OPTIONS ${target} HTTP/1.1`, 'Host: ann-dev.spawner.test', 'Connection: close'))
  assert.match(await ask('*'), /^HTTP\/1\.1 200 OK\r\n[^]*\r\nallow: /i)
  assert.match(await ask('/'), /"method":"OPTIONS"/)
})

/** curl and other programs send a path as it was typed. Browsers encode it in this way (RFC 3987, 3.1). */
test('an address beyond ASCII reaches app and platform encoded, byte by byte', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const typed = Buffer.from('/ä/%41?q=€&x').toString('latin1')
  const encoded = '/%C3%A4/%41?q=%E2%82%AC&x'
  assert.match(
    await exchange(port, requestHead(`GET /ann-dev${typed} HTTP/1.1`)),
    new RegExp(`"url":"${RegExp.escape(encoded)}"`),
  )
  assert.match(
    await exchange(port, requestHead(`GET /api${typed} HTTP/1.1`)),
    new RegExp(`"url":"/api${RegExp.escape(encoded)}"`),
  )
  const long = '\xff'.repeat(12_000)
  assert.match(await exchange(port, requestHead(`GET /ann-dev/${long} HTTP/1.1`)), /^HTTP\/1\.1 400 /)
})
