import assert from 'node:assert/strict'
import http from 'node:http'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead, requestHead } from '#test/support/gateway/http-text.ts'
import { exchange, get, rawClient } from '#test/support/gateway/raw-client.ts'
import { answering, httpApp, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { responseWith, responseHeader } from '#test/support/gateway/response-of.ts'

const originWide = [
  'Clear-Site-Data',
  'Strict-Transport-Security',
  'Public-Key-Pins',
  'NEL',
  'Report-To',
  'Reporting-Endpoints',
  'Alt-Svc',
  'Cross-Origin-Opener-Policy',
  'Origin-Agent-Cluster',
  'Accept-CH',
  'Critical-CH',
  'Use-As-Dictionary',
  'Secure-Session-Registration',
  'Sec-Session-Registration',
  'Set-Login',
  'Expect-CT',
]

test('headers that speak for the whole host are taken out of an answer', async (t) => {
  const { lines } = await responseWith(t, [
    ...originWide.map((name) => [name.toUpperCase(), 'x'] as const),
    ...originWide.map((name) => [name, 'x'] as const),
    ['X-Own', '1'],
    ['ETag', '"2"'],
  ])
  const received = lines.map((line) => line.split(':')[0]?.toLowerCase() ?? '')
  assert.deepEqual(
    received.filter((name) => originWide.some((wide) => wide.toLowerCase() === name)),
    [],
  )
  assert.ok(received.includes('x-own') && received.includes('etag'))
})

/** nginx would answer an internal redirect to `/` with the front end's document, and a service worker could read it. */
test('an app gives no commands to a web server in front, in no kind of answer and whatever a template allows', async (t) => {
  const names = [
    'X-Accel-Redirect',
    'x-ACCEL-expires',
    'X-Accel-Limit-Rate',
    'X-Sendfile',
    'X-SendFile-Temporary',
    'X-LIGHTTPD-send-file',
    'X-Reproxy-URL',
    'X-Envoy-Immediate-Health-Check-Fail',
    'x-envoy-overloaded',
    'X-LiteSpeed-Location',
    'X-LSADC-Backend',
    'Fly-Replay',
    'fly-replay-cache',
    'Edge-Control',
    'Netlify-CDN-Cache-Control',
    'Netlify-Vary',
    'Surrogate-Control',
    'Surrogate-Key',
    'l5d-success-class',
    'Proxy-Authentication-Info',
  ]
  const lines = names.map((name) => `${name}: /\r\n`).join('')
  const ending = 'Transfer-Encoding: chunked\r\n\r\n0\r\n'
  const app = answering(
    `HTTP/1.1 103 Early Hints\r\n${lines}\r\nHTTP/1.1 200 OK\r\n${lines}X-Accelerated: 1\r\nX-Accel-Buffering: no\r\n${ending}${lines}\r\n`,
  )
  const { port } = await startGatewayHarness(t, app, {
    rules: { allowHeaders: names.map((name) => name.toLowerCase()) },
  })
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(answer, /^HTTP\/1\.1 103 [^]*HTTP\/1\.1 200 [^]*\r\n0\r\n\r\n$/)
  for (const name of names) assert.ok(!answer.toLowerCase().includes(name.toLowerCase()), answer)
  // Of no consequence beyond this answer, and event streams are held back without it.
  assert.match(answer, /X-Accelerated: 1\r\nX-Accel-Buffering: no\r\n/)
})

/** nginx with `proxy_cache` served an owner's container to other users. */
test('a cache in front stores nothing of an app with restricted access', async (t) => {
  const cacheControl = async (access: 'owner' | 'authenticated' | 'public', ...lines: readonly string[]) => {
    const sent = lines.map((line) => ['Cache-Control', line] as const)
    const { headers } = await responseWith(t, sent, { rules: { access } })
    return headers['cache-control']
  }
  for (const access of ['owner', 'authenticated'] as const) {
    assert.equal(await cacheControl(access), 'private')
    assert.equal(
      await cacheControl(access, 'public, max-age=60, s-maxage=600, immutable'),
      'max-age=60, immutable, private',
    )
    assert.equal(await cacheControl(access, 'S-MaxAge = "60" ,Public'), 'private')
    assert.equal(await cacheControl(access, 'max-age=5', 'public'), 'max-age=5, private')
  }
  assert.equal(await cacheControl('owner', 'private="X-A, private"'), 'private="X-A, private", private')
  assert.equal(await cacheControl('owner', 'x-public=1'), 'x-public=1, private')
  for (const own of ['private', 'no-store', 'max-age=0, Private , must-revalidate', 'no-cache, no-store'])
    assert.equal(await cacheControl('owner', own), own)
  assert.equal(await cacheControl('public'), undefined)
  assert.equal(await cacheControl('public', 'public, s-maxage=9'), 'public, s-maxage=9')
  const cdn = [
    'CDN-Cache-Control',
    'Cloudflare-CDN-Cache-Control',
    'Vercel-CDN-Cache-Control',
    'Akamai-Cache-Control',
    'CF-Edge-Cache',
  ]
  for (const [access, expected] of [
    ['owner', undefined],
    ['public', 'max-age=60'],
  ] as const) {
    const sent = cdn.map((name) => [name, 'max-age=60'] as const)
    const { headers } = await responseWith(t, sent, { rules: { access } })
    for (const name of cdn) assert.equal(headers[name.toLowerCase()], expected, name)
  }
})

test('a browser is not asked for a password at the host that all apps share', async (t) => {
  assert.equal(await responseHeader(t, 'WWW-Authenticate', 'Basic realm="x"'), undefined)
  assert.doesNotMatch(
    String(await responseHeader(t, 'WWW-Authenticate', 'Bearer realm="a", Basic realm="x"')),
    /basic/i,
  )
  for (const challenge of [
    'Digest realm="x", nonce="1", qop="auth"',
    'Negotiate',
    'NTLM',
    'Bearer realm="a, b", Digest realm="x"',
    'Bearer error="\\", Basic realm="x',
    'Bearer realm="a" Basic realm="x"',
    'Bearer, Negotiate YII=',
    'realm="x"',
    `Bearer ${'realm="x", '.repeat(200)}realm="x"`,
  ])
    assert.equal(await responseHeader(t, 'WWW-Authenticate', challenge), undefined, challenge)
  for (const challenge of ['Bearer', 'Bearer realm="https://a.test/t?x=\\"y\\"",service="r", error=invalid_token'])
    assert.equal(await responseHeader(t, 'WWW-Authenticate', challenge), challenge)
  const kept = await responseHeader(t, 'WWW-Authenticate', 'Basic realm="x"', {
    rules: { allowHeaders: ['www-authenticate'] },
  })
  assert.equal(kept, 'Basic realm="x"')
})

test('a template may let such headers pass, and only those it names', async (t) => {
  const changes = { rules: { allowHeaders: ['cross-origin-opener-policy', 'nel'] } }
  const { headers } = await responseWith(
    t,
    originWide.map((name) => [name, 'same-origin'] as const),
    changes,
  )
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
  assert.equal(headers.nel, 'same-origin')
  assert.equal(headers['clear-site-data'], undefined)
})

test('cookies and workers stay under the prefix whatever a template lets pass', async (t) => {
  const rules = { allowHeaders: ['set-cookie', 'service-worker-allowed'] }
  assert.equal(await responseHeader(t, 'Service-Worker-Allowed', '/', { rules }), '/ann-dev/')
  assert.equal(await responseHeader(t, 'Set-Cookie', 'spawner_token=evil; Path=/', { rules }), undefined)
})

test('headers meant for the gateway alone stop here, those named in Connection included', async (t) => {
  const { headers } = await responseWith(t, [
    ['Connection', 'X-Rhop'],
    ['X-Rhop', '1'],
    ['Keep-Alive', 'timeout=99'],
    ['Proxy-Authenticate', 'Basic'],
    ['Upgrade', 'h2c'],
  ])
  assert.deepEqual(
    [headers['x-rhop'], headers['proxy-authenticate'], headers.upgrade],
    [undefined, undefined, undefined],
  )
  assert.notEqual(headers['keep-alive'], 'timeout=99')
})

test('naming the length in Connection does not take it out of an answer', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nConnection: Content-Length, Set-Cookie\r\nContent-Length: 5\r\n\r\nhello'
  const { port } = await startGatewayHarness(t, answering(`${head}and more`))
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'hello')
})

test('a service worker is allowed no wider than its prefix', async (t) => {
  for (const wide of ['/', '/bob-dev/', '/ann-dev/../', '/ann-dev'])
    assert.equal(await responseHeader(t, 'Service-Worker-Allowed', wide), '/ann-dev/')
})

test("status, reason, repeated headers, their order, case and bytes are the app's own", async (t) => {
  const lines = ['X-Zeta', '1', 'x-alpha', 'caf\u00e9', 'X-Zeta', '2', 'Link', '<a>', 'Link', '<b>']
  const { port } = await startGatewayHarness(
    t,
    httpApp((_, response) => response.writeHead(418, 'Short and stout', lines).end()),
  )
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(
    answer,
    /^HTTP\/1\.1 418 Short and stout\r\nX-Zeta: 1\r\nx-alpha: caf\u00e9\r\nX-Zeta: 2\r\nLink: <a>\r\nLink: <b>\r\n/,
  )
})

test('a head of 30 KB in an answer passes', async (t) => {
  assert.equal(await responseHeader(t, 'X-Big', 'x'.repeat(15_000)), 'x'.repeat(15_000))
  const big = 'x'.repeat(30_000)
  const { port } = await startGatewayHarness(
    t,
    answering(`HTTP/1.1 200 OK\r\nX-Big: ${big}\r\nContent-Length: 2\r\n\r\nok`),
  )
  assert.match(await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1')), new RegExp(`X-Big: ${big}\r\n`))
})

test('early hints reach the client before the answer', async (t) => {
  const app = answering(
    'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\nSet-Cookie: spawner_token=evil\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  )
  const { port } = await startGatewayHarness(t, app)
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/', headers: ann, agent: false }).end()
  const said = [once(request, 'information'), once(request, 'response')] as const
  const [hints] = (await said[0]) as [http.InformationEvent]
  const [answer] = (await said[1]) as [http.IncomingMessage]
  assert.deepEqual([hints.statusCode, hints.headers.link], [103, '</ann-dev/style.css>'])
  assert.equal(hints.headers['set-cookie'], undefined)
  assert.equal(answer.statusCode, 200)
  answer.resume()
})

/** RFC 9112, 2.3: a program on the way speaks its own version. A client closes a connection whose answer is in HTTP/1.0. */
test("an app's HTTP/1.0 goes on as HTTP/1.1, on a connection that is kept", async (t) => {
  const { port } = await startGatewayHarness(
    t,
    answering('HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
  )
  const client = await rawClient(t, port)
  for (const answers of [1, 2, 3]) {
    client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await client.expect(new RegExp(`^(HTTP/1\\.1 200 OK\r\n((?!connection:)[^\r]+\r\n)+\r\nok){${answers}}$`, 'i'))
  }
})

test('an interim answer in HTTP/1.0 goes on as HTTP/1.1, and so does the answer behind it, bytes and all', async (t) => {
  const app = answering('HTTP/1.0 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.0 404 Not Found\r\n\r\nHTTP/1.0 200')
  const { port } = await startGatewayHarness(t, app, { rules: { access: 'public' } })
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(
    answer,
    /^HTTP\/1\.1 103 Early Hints\r\n[^]*\r\n\r\nHTTP\/1\.1 404 Not Found\r\n[^]*\r\n\r\nHTTP\/1\.0 200$/,
  )
})

test('an app that sends interim answers without end is cut off', async (t) => {
  const app = answering(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`)
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.ok((answer.match(/HTTP\/1\.1 102/g)?.length ?? 0) <= 10, answer)
})

/** WebDAV servers send one every few seconds while they work (RFC 2518, 10.1). */
test('an app may send an interim answer again and again while it works', async (t) => {
  const app = rawApp(async (socket) => {
    for (let each = 0; each < 9; each++) {
      socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      await sleep(150)
    }
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  })
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(answer, /^(HTTP\/1\.1 102 Processing\r\n\r\n){9}HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/)
})

test("an app's trailers reach the client, but not what only a head may say", async (t) => {
  const app = httpApp((_, response) => {
    response.writeHead(200, { trailer: 'X-Checksum' })
    response.write('x')
    response.addTrailers({ 'x-checksum': 'abc', 'set-cookie': 'spawner_token=evil', 'clear-site-data': '"cookies"' })
    response.end()
  })
  const { port } = await startGatewayHarness(t, app)
  const { trailers } = await get(port, '/ann-dev/', { headers: ann })
  assert.deepEqual({ ...trailers }, { 'x-checksum': 'abc' })
})

const nonsense: Record<string, string> = {
  'no HTTP at all': 'this is not http\r\n\r\n',
  'a length and a coding': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk',
  'the same length twice': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
  'an unknown coding': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'an unrequested change of protocol':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'a status below 100': 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n',
  'a bare line feed': 'HTTP/1.1 200 OK\r\nX-A: 1\nSet-Cookie: spawner_token=evil\r\nContent-Length: 0\r\n\r\n',
  'a folded line': 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n',
  'a NUL in a value': 'HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n',
  'another version': 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n',
  nothing: '',
}

for (const [what, answer] of Object.entries(nonsense))
  test(`a response that must not be forwarded becomes 502: ${what}`, async (t) => {
    const { port } = await startGatewayHarness(t, answering(answer))
    const { status, body } = await get(port, '/ann-dev/', { headers: ann })
    assert.equal(status, 502, body)
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  })

test('bytes that an app sends after its response answer no request', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
  const { port } = await startGatewayHarness(t, answering(answer))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let round = 0; round < 5; round++) {
    const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/', headers: ann, agent }).end()
    const [message] = (await once(request, 'response')) as [http.IncomingMessage]
    assert.equal(Buffer.concat(await message.toArray()).toString(), 'ok')
  }
})
