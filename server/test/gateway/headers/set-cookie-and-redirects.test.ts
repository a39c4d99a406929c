import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { echoed, get } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { responseWith, responseHeader } from '#test/support/gateway/response-of.ts'

async function setCookies(t: TestContext, cookies: readonly string[], changes: HarnessOptions = {}): Promise<string[]> {
  const lines = cookies.map((cookie) => ['Set-Cookie', cookie] as const)
  return (await responseWith(t, lines, changes)).headers['set-cookie'] ?? []
}

test("an app cannot set the platform's cookies", async (t) => {
  const cookies = [
    'spawner_token=evil; Path=/',
    ' spawner_token =evil',
    'SPAWNER_TOKEN=evil',
    'spawner_token_2=evil',
    'spawner_language=de; Path=/',
    '__Host-Http-x=1; Secure; Path=/',
    '__http-x=1',
    '=spawner_token=evil',
    'spawner_token',
  ]
  assert.deepEqual(await setCookies(t, cookies), [])
})

test("an app's cookies stay under its own prefix", async (t) => {
  const cookies = [
    'a=1',
    'b=2; Path=/; HttpOnly',
    'c=3; path=/x/y; Domain=spawner.test; SameSite=Lax',
    'd=4; Path=/bob-dev/; Path=/ann-dev/z',
    'e=5; Path=relative; Max-Age=5',
    'f=6; Domain=.test; Path=/ann-dev',
    'g=a=b; Path=/ann-development/',
  ]
  const allowed = (cookie: string) => /; ?Path=\/ann-dev\/[^;]*/i.test(cookie) && !/domain/i.test(cookie)
  const received = await setCookies(t, cookies)
  assert.equal(received.length, cookies.length)
  assert.deepEqual(
    received.filter((cookie) => !allowed(cookie)),
    [],
  )
  assert.match(received[1] ?? '', /^b=2;.*HttpOnly/)
  assert.match(received[2] ?? '', /Path=\/ann-dev\/x\/y/)
  assert.match(received[2] ?? '', /SameSite=Lax/)
  assert.match(received[4] ?? '', /Max-Age=5/)
})

test('a cookie cannot leave its prefix by dots or by an odd path', async (t) => {
  const cookies = [
    'a=1; Path=/ann-dev/../',
    'b=2; Path=/ann-dev/%2e%2e/bob-dev/',
    'c=3; Path=/ann-dev\t/',
    'd=4;Path =/;Domain =x',
  ]
  for (const cookie of await setCookies(t, cookies, { rules: { stripPrefix: false } })) {
    assert.match(cookie, /Path=\/ann-dev(\/|;|$)/i)
    assert.equal(cookie.match(/path/gi)?.length, 1, cookie)
    assert.doesNotMatch(cookie, /domain/i)
  }
})

test('the cookies of an app that keeps its prefix cannot leave it either', async (t) => {
  const cookies = ['a=1; Path=/', 'b=2; Path=/bob-dev/', 'c=3; Path=/ann-dev/x']
  const paths = (await setCookies(t, cookies, { rules: { stripPrefix: false } })).map(
    (cookie) => /path=([^;]*)/i.exec(cookie)?.[1],
  )
  // Without a slash: such an app answers at the bare prefix, too, and a cookie of `/ann-dev/` would not come along there.
  assert.deepEqual(paths, ['/ann-dev', '/ann-dev', '/ann-dev/x'])
})

test('each of several cookies and other repeated headers is kept', async (t) => {
  const { lines } = await responseWith(t, [
    ['Set-Cookie', 'a=1'],
    ['Link', '</a>'],
    ['Set-Cookie', 'b=2'],
    ['Link', '</b>'],
  ])
  assert.equal(lines.filter((line) => /^set-cookie/i.test(line)).length, 2)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('Link')),
    ['Link: </ann-dev/a>', 'Link: </ann-dev/b>'],
  )
})

test('a redirect within the app gets the prefix', async (t) => {
  for (const [to, expected] of [
    ['/x?y#z', '/ann-dev/x?y#z'],
    ['/', '/ann-dev/'],
    ['/ann-development/', '/ann-dev/ann-development/'],
    ['http://spawner.test:8080/x', 'http://spawner.test:8080/ann-dev/x'],
  ] as const)
    assert.equal(await responseHeader(t, 'Location', to), expected)
})

test('a redirect that needs no prefix stays as it is', async (t) => {
  for (const to of [
    'x',
    '../x',
    '?q',
    '//other.example/x',
    'https://other.example/x',
    'http://spawner.test:80801/x',
    '/ann-dev/x',
    '/ann-dev?x',
  ])
    assert.equal(await responseHeader(t, 'Location', to), to)
})

test('Refresh gets the prefix as Location does', async (t) => {
  for (const [to, expected] of [
    ['5; url=/x', '5; url=/ann-dev/x'],
    ['0;URL=/x', '0;URL=/ann-dev/x'],
    ['5', '5'],
    ['5; url=x', '5; url=x'],
    ['5; url=https://other.example/x', '5; url=https://other.example/x'],
    ['5; url=/ann-dev/x', '5; url=/ann-dev/x'],
  ] as const)
    assert.equal(await responseHeader(t, 'Refresh', to), expected)
})

test('an app that knows its prefix, or a template that says so, gets no second one', async (t) => {
  assert.equal(await responseHeader(t, 'Location', '/x', { rules: { rewriteLocation: false } }), '/x')
  assert.equal(await responseHeader(t, 'Refresh', '5; url=/x', { rules: { rewriteLocation: false } }), '5; url=/x')
  assert.equal(await responseHeader(t, 'Location', '/ann-dev/x', { rules: { stripPrefix: false } }), '/ann-dev/x')
  assert.equal(await responseHeader(t, 'Location', '/bob-dev/', { rules: { stripPrefix: false } }), '/bob-dev/')
})

/** An answer of an app that says where it listens itself. @param value with `PORT` in place of its port */
async function ownAddress(t: TestContext, name: string, value: string, changes: HarnessOptions = {}): Promise<unknown> {
  let listensOn = ''
  const app = httpApp((request, response) => {
    listensOn = String(request.socket.localPort)
    response.writeHead(200, [name, value.replace('PORT', listensOn)]).end('x')
  })
  const { port } = await startGatewayHarness(t, app, changes)
  const { headers } = await get(port, '/ann-dev/', { headers: { ...ann, host: 'Spawner.test:8080' } })
  return headers[name.toLowerCase()]?.toString().replace(listensOn, 'PORT')
}

const own = [
  // nginx in a container adds the port that it listens on, and knows nothing of https.
  ['http://spawner.test:PORT/x/', 'http://spawner.test:8080/ann-dev/x/'],
  ['http://SPAWNER.test/x', 'http://spawner.test:8080/ann-dev/x'],
  ['//spawner.test:8080/x', 'http://spawner.test:8080/ann-dev/x'],
  ['//spawner.test:PORT', 'http://spawner.test:8080/ann-dev/'],
  ['http://127.0.0.1:PORT/x?y#z', 'http://spawner.test:8080/ann-dev/x?y#z'],
  ['http://localhost:PORT/', 'http://spawner.test:8080/ann-dev/'],
  ['http://[::1]:PORT?q', 'http://spawner.test:8080/ann-dev/?q'],
  ['http://0.0.0.0:PORT/ann-dev/x', 'http://spawner.test:8080/ann-dev/x'],
] as const

/** Not the app's: another port may be another server of the machine, or a program of the person who asks. */
const others = [
  'http://localhost:1/callback',
  'http://localhost/x',
  'https://spawner.test:8443/realms',
  'https://spawner.test/x',
  'http://spawner.test:PORT@other.example/',
  'http://spawner.test.other.example:PORT/',
  'ftp://spawner.test/x',
  'http://spawner.test\\@other.example/',
]

test("an address of an app's own, however it writes it, becomes the one that people see", async (t) => {
  for (const [value, expected] of own) assert.equal(await ownAddress(t, 'Location', value), expected)
  for (const value of others) assert.equal(await ownAddress(t, 'Location', value), value)
  assert.equal(
    await ownAddress(t, 'Location', 'http://spawner.test:8080/x', { settings: { scheme: 'https' } }),
    'https://spawner.test:8080/ann-dev/x',
  )
})

test('Content-Location and Link get the prefix as Location does', async (t) => {
  for (const [value, expected] of [['/x', '/ann-dev/x'], ['x', 'x'], ...own])
    assert.equal(await ownAddress(t, 'Content-Location', value), expected)
  for (const [value, expected] of [
    [
      '</a.css>; rel=preload, </b>;rel="next"; title="</c>, \\"</d>"',
      '</ann-dev/a.css>; rel=preload, </ann-dev/b>;rel="next"; title="</c>, \\"</d>"',
    ],
    ['<http://spawner.test:PORT/items?page=2>; rel=next', '<http://spawner.test:8080/ann-dev/items?page=2>; rel=next'],
    ['<https://cdn.example/x>; rel=preconnect, <y>', '<https://cdn.example/x>; rel=preconnect, <y>'],
  ] as const)
    assert.equal(await ownAddress(t, 'Link', value), expected)
})

test('an app that keeps its prefix, or has a host of its own, names the right port as well', async (t) => {
  assert.equal(
    await ownAddress(t, 'Location', 'http://spawner.test:PORT/ann-dev/x', { rules: { stripPrefix: false } }),
    'http://spawner.test:8080/ann-dev/x',
  )
  assert.equal(await ownAddress(t, 'Location', '/x', { rules: { stripPrefix: false } }), '/x')
  const hasOwnHost = { hasOwnHost: true, rewriteLocation: false } as const
  assert.equal(
    await ownAddress(t, 'Location', 'http://spawner.test:PORT/x', { rules: hasOwnHost }),
    'http://spawner.test:8080/x',
  )
  assert.equal(await ownAddress(t, 'Location', '/x', { rules: hasOwnHost }), '/x')
  const asIs = { rewriteLocation: false } as const
  for (const [value] of own) assert.equal(await ownAddress(t, 'Location', value, { rules: asIs }), value)
})

/** Browsers take a name with `__Host-` for the path `/` alone, so under the prefix such a cookie was lost. */
test("an app's __Host- cookies stay under the prefix by another name, and come back by their own", async (t) => {
  const [sent] = await setCookies(t, ['__Host-sid=1; Secure; HttpOnly; Path=/; SameSite=Lax'])
  assert.equal(sent, '__Secure-Host-sid=1; Path=/ann-dev/; Secure; HttpOnly; SameSite=Lax')
  const [odd] = await setCookies(t, ['__HOST-sid=1; Secure; Path=/'], { rules: { stripPrefix: false } })
  assert.equal(odd, '__Secure-Host-sid=1; Path=/ann-dev; Secure')
  assert.deepEqual(await setCookies(t, ['__Host-Http-x=1; Secure; Path=/']), [])
  const cookie = 'a=__Secure-Host-b; __Secure-Host-sid=1; __Secure-x=2;__Secure-Host-y=3; __Host-z=4'
  const { port } = await startGatewayHarness(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/', { headers: { cookie } })
  assert.equal(headers.cookie, 'a=__Secure-Host-b; __Host-sid=1; __Secure-x=2;__Host-y=3; __Host-z=4')
  const reserved = '__Secure-Host-Http-bind=1; b=2'
  assert.equal((await echoed(port, '/ann-dev/', { headers: { cookie: reserved } })).headers.cookie, reserved)
  const ownHost = { rules: { hasOwnHost: true, rewriteLocation: false } } as const
  assert.deepEqual(await setCookies(t, ['__Host-sid=1; Secure; Path=/'], ownHost), ['__Host-sid=1; Secure; Path=/'])
})
