import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, headOf, keptHead, requestHead, webSocketLines } from '#test/support/gateway/http-text.ts'
import { exchange, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { answering, echoApp, rawApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { annToken } from '#test/support/gateway/tokens.ts'

/** Faults that were reported to other proxies of this kind, each in the name of its test. */

const token = `Authorization: Bearer ${annToken}`
const seen = (answer: string) => JSON.parse(bodyOf(answer)) as Echo

test('http-party/node-http-proxy#1468: an app that resets a WebSocket handshake ends no other connection', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.resetAndDestroy()),
  )
  const handshake = headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test', token, ...webSocketLines)
  assert.match(await exchange(port, handshake), /^HTTP\/1\.1 50[23] /)
  assert.match(
    await exchange(port, headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test', token, 'Connection: close')),
    /^HTTP\/1\.1 50[23] /,
  )
})

test('a WebSocket handshake in absolute form is answered like another one', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(port, headOf('GET http://x/ HTTP/1.1', 'Host: x', token, ...webSocketLines))
  assert.match(answer, /^HTTP\/1\.1 4\d\d /)
})

test('jupyterhub/jupyter-server-proxy#510: an encoded slash reaches the app as it was sent', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(
    port,
    headOf('GET /ann-dev/a%2Fb%20c/%7Ed?x=%2F HTTP/1.1', 'Host: spawner.test', token, 'Connection: close'),
  )
  assert.equal(seen(answer).url, '/a%2Fb%20c/%7Ed?x=%2F')
})

test('jupyterhub/configurable-http-proxy#163: a prefix with encoded letters is no other prefix, and no app gets it', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  // The platform, which is away here.
  assert.match(await exchange(port, requestHead('GET /%61nn%2Ddev/x HTTP/1.1')), /^HTTP\/1\.1 503 /)
})

// Beside the paths of this report: addresses, hosts and persons that servers in front tell apps, each read by some framework.
test('traefik/traefik#7559: what only a server in front may say does not reach the app, however it is spelled', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const names = [
    'X-Forwarded-Prefix',
    'X-Replaced-Path',
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-Original-URI',
    'X-Forwarded-Uri',
    'X-Envoy-Original-Path',
    'X-Script-Name',
    'X-Original-Host',
    'X-Host',
    'X-Scheme',
    'X-Url-Scheme',
    'Front-End-Https',
    'True-Client-IP',
    'CF-Connecting-IP',
    'CF-Connecting-IPv6',
    'Client-IP',
    'Fastly-Client-IP',
    'X-Client-IP',
    'X-Real-IP',
    'X-Cluster-Client-IP',
    'X-ProxyUser-Ip',
    'X-Original-Forwarded-For',
    'X-Appengine-User-IP',
    'X-Azure-ClientIP',
    'Remote-User',
    'Remote-Email',
    'Remote-Groups',
    'X-Remote-User',
    'X-Webauth-User',
    'X-Auth-Request-User',
    'X-Auth-Request-Email',
    'X-Amzn-Oidc-Data',
    'X-Goog-Authenticated-User-Email',
    'X-Ms-Client-Principal-Name',
    'CF-Access-Authenticated-User-Email',
    'Tailscale-User-Login',
    'SSL-Client-S-DN',
    'X-Authentik-Username',
    'remote_user',
    'Remote.User',
    'CF_Connecting_IP',
    'true~client~ip',
    'X_Original_URL',
    'x.webauth.user',
    'front_end_https',
  ]
  const stays = [
    'X-HTTP-Method-Override',
    'Client',
    'Remote',
    'CF-Ray',
    'True',
    'SSL',
    'X-Hosts',
    'Front',
    'Referer',
    'X-Requested-With',
  ]
  const lines = [...names, ...stays].map((name) => `${name}: claim`)
  const received = seen(await exchange(port, requestHead('GET /ann-dev/x HTTP/1.1', ...lines))).lines
  assert.deepEqual(
    received.filter((line) => line.endsWith(': claim')),
    stays.map((name) => `${name}: claim`),
  )
})

test('traefik/traefik#8319: a client takes no header of the gateway away by naming it in Connection', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const named =
    'Connection: close, X-Berth-User, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Prefix, Cookie, Host, X-Forwarded-Proto'
  const { headers } = seen(await exchange(port, headOf('GET /ann-dev/x HTTP/1.1', 'Host: spawner.test', token, named)))
  for (const name of [
    'x-berth-user',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-prefix',
    'x-forwarded-proto',
    'host',
  ])
    assert.ok(headers[name], name)
})

for (const [name, status, lines] of [
  [
    'eclipse-vertx/vertx-http-proxy#116: a 304 that says to be chunked',
    '304 Not Modified',
    'Transfer-Encoding: chunked\r\n',
  ],
  ['DevExpress/testcafe-hammerhead#1602: a 304 with a length', '304 Not Modified', 'Content-Length: 5\r\n'],
  ['unbit/uwsgi#1051: a 304 without a length', '304 Not Modified', ''],
  ['cherokee/webserver#1143: a 204', '204 No Content', ''],
] as const)
  test(`${name} ends, and the next request is served on the same connection`, async (t) => {
    const answer = `HTTP/1.1 ${status}\r\n${lines}ETag: "a"\r\n\r\n`
    const app = rawApp((socket) => {
      socket.write(answer)
      socket.on('data', () => socket.write(answer))
    })
    const { port } = await startGatewayHarness(t, app)
    const client = await rawClient(t, port)
    client.socket.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await until('the first answer', () => client.text().includes('\r\n\r\n'))
    client.socket.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await until('the second answer', () => client.text().split('HTTP/1.1 ').length === 3)
  })

test('coder/coder#5274: a WebSocket handshake in HTTP/1.0, as nginx sends it by default, is an ordinary request', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(port, headOf('GET /ann-dev/ HTTP/1.0', 'Host: spawner.test', token, ...webSocketLines))
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(seen(answer).headers.upgrade, undefined)
})

test('jupyterhub/jupyterhub#1320: without the slash behind the prefix a browser is led there, with its query', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(
    port,
    requestHead('GET /ann-dev?a=b&c=%2F HTTP/1.1', 'Accept: text/html', 'Sec-Fetch-Mode: navigate'),
  )
  assert.match(answer, /^HTTP\/1\.1 30[1278] [^]*\r\nlocation: \/ann-dev\/\?a=b&c=%2F\r\n/i)
})

test('a 101 that was not asked for is no answer', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  )
  assert.match(
    await exchange(port, headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test', token, 'Connection: close')),
    /^HTTP\/1\.1 502 /,
  )
})
