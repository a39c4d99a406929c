import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { connected } from '#test/support/gateway/echo-web-sockets.ts'
import { asleep, routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, headOf, keptHead, requestHead, webSocketLines } from '#test/support/gateway/http-text.ts'
import { exchange, get, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { answering, echoApp, httpApp, listen, rawApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annToken, tokenFor } from '#test/support/gateway/tokens.ts'

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

for (const [name, body] of [
  ['traefik/traefik#1805: trailers that the head did not announce', '5\r\nhello\r\n'],
  ['traefik/traefik#4181: such trailers behind an empty body', ''],
] as const)
  test(`${name} reach the client, and the next request is served`, async (t) => {
    const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\nGrpc-Status: 0\r\n\r\n`
    const app = rawApp((socket) => {
      socket.write(answer)
      socket.on('data', () => socket.write(answer))
    })
    const { port } = await startGatewayHarness(t, app)
    const client = await rawClient(t, port)
    for (const count of [1, 2]) {
      client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
      await until('the trailers', () => client.text().split('0\r\nGrpc-Status: 0\r\n\r\n').length === count + 1)
    }
  })

test('traefik/traefik#6705 and #1858: a handshake opens whatever the case of its names, and beside keep-alive', async (t) => {
  const heads: string[] = []
  const app = rawApp((socket, head) => {
    heads.push(head)
    const accepted = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo='
    socket.write(headOf('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'UPGRADE: WebSocket', accepted))
  })
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  const lines = ['cOnnection: keep-alive, Upgrade', 'uPGRADE: WebSocket', 'SEC-WEBSOCKET-VERSION: 13']
  const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='
  // What the application needs of a handshake besides (traefik/traefik#198).
  const others = ['Sec-WebSocket-Protocol: graphql-ws, chat', 'User-Agent: Firefox', 'Cookie: app=1', 'X-Room: 7']
  client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...lines, key, ...others))
  await client.expect(/^HTTP\/1\.1 101 /)
  for (const line of [...others.slice(0, 2), 'app=1', 'X-Room: 7']) assert.ok(heads[0]?.includes(line), line)
})

test('apache/shenyu#4835: code and reason with which an app closes a WebSocket reach the client', async (t) => {
  const app = httpApp(() => undefined)
  new WebSocketServer({ server: app }).on('connection', (socket) => socket.close(4_400, 'the notebook is gone: \u00e4'))
  const { port } = await startGatewayHarness(t, app)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  assert.deepEqual([code, reason.toString()], [4_400, 'the notebook is gone: \u00e4'])
})

test('traefik/traefik#3538 and openanalytics/shinyproxy#222: fragments of a message stay, cut through a letter or not', async (t) => {
  const app = httpApp(() => undefined)
  const server = new WebSocketServer({ server: app, handleProtocols: () => 'chat' })
  server.on('connection', (socket) => {
    socket.send('hello')
    socket.on('message', (text: Buffer) => socket.send(text.toString()))
  })
  const { port } = await startGatewayHarness(t, app)
  const { socket } = await connected(t, port, ann)
  const text = 'gr\u00fc\u00df \u{1f4c8} '.repeat(30_000)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 4_093)
    socket.send(bytes.subarray(at, at + 4_093), { binary: false, fin: at + 4_093 >= bytes.length })
  const [echo] = (await once(socket, 'message')) as [Buffer]
  assert.equal(echo.toString(), text)
})

test('openanalytics/shinyproxy#533: bytes beyond ASCII in headers pass in both directions as they are', async (t) => {
  const name = Buffer.from('\u0164\u011b\u0161\u0165\u016f\u0161').toString('latin1')
  const app = rawApp((socket, head) => {
    const answer = `HTTP/1.1 200 OK\r\nX-Name: ${name}\r\nContent-Length: ${head.length}\r\n\r\n${head}`
    socket.write(answer, 'latin1')
  })
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1', `X-Name: ${name}`))
  assert.equal(answer.split(`X-Name: ${name}\r\n`).length, 3)
})

test('coder/coder#9109 and #19930: an expired cookie beside a good one, in any order, leads in and not in circles', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const [expired, good] = [await tokenFor(1, { expiresIn: -60 }), annToken]
  for (const cookie of [
    `spawner_token=${expired}; spawner_token=${good}`,
    `spawner_token=${good}; spawner_token=${expired}`,
    `spawner_token=; spawner_token=${good}; spawner_token=${expired}; spawner_token=x`,
  ]) {
    const lines = ['Host: spawner.test', `Cookie: ${cookie}`, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']
    const answer = await exchange(port, headOf('GET /ann-dev/ HTTP/1.1', ...lines, 'Connection: close'))
    assert.match(answer, /^HTTP\/1\.1 200 /, cookie)
    assert.doesNotMatch(seen(answer).lines.join('\n'), new RegExp(expired.slice(-20)))
  }
})

test('sablierapp/sablier-traefik-plugin#43: a redirect that is the first answer of a container that was woken is passed on', async (t) => {
  const app = await listen(
    t,
    httpApp((_, response) => response.writeHead(302, { location: '/login' }).end()),
  )
  const harness = await startGatewayHarness(t, echoApp(), {
    place: { where: asleep },
    control: {
      wake: async () => {
        await harness.gateway.apply([{ kind: 'route', route: routeTo('ann-dev', 1, app) }])
        return undefined
      },
    },
  })
  const { status, headers } = await get(harness.port, '/ann-dev/', { headers: ann })
  assert.deepEqual([status, headers.location], [302, '/ann-dev/login'])
})

test('jupyterhub/configurable-http-proxy#311: a body that comes slowly is cut by no limit on the whole request', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { options: { timeouts: { head: 300, stalled: 600 } } })
  const client = await rawClient(t, port)
  const parts = 12
  client.write(requestHead('PUT /ann-dev/notebook HTTP/1.1', `Content-Length: ${parts * 100}`))
  const begun = performance.now()
  for (let part = 0; part < parts; part++) {
    client.write('x'.repeat(100))
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
  assert.ok(performance.now() - begun > 1_200)
  assert.equal((JSON.parse(bodyOf(await client.expect(/\}$/))) as Echo).body.length, parts * 100)
})
