import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, headOf, keptHead, requestHead, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { exchange, get, isOver, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, listen, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bobToken, browser } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { timeLimit, waitLimit } from '#test/support/extent.ts'

test('one client connection serves requests to several containers, each by its own app', async (t) => {
  const named = (name: string) => httpApp((_, response) => response.end(name))
  const prod = routeTo('ann-prod', 1, await listen(t, named('prod')))
  const { port } = await startGatewayHarness(t, named('dev'), { places: [prod] })
  const paths = ['/ann-dev/', '/ann-prod/', '/ann-dev/', '/ann-prod/']
  const requests = paths.map((path, index) => (index === 3 ? requestHead : keptHead)(`GET ${path} HTTP/1.1`))
  const answer = await exchange(port, requests.join(''))
  assert.deepEqual(answer.match(/(dev|prod)(?=HTTP|$)/g), ['dev', 'prod', 'dev', 'prod'])
})

test('two users behind one connection of a proxy are distinguished', async (t) => {
  const bobs = routeTo('bob-dev', 2, await listen(t, echoApp()))
  const { port } = await startGatewayHarness(t, echoApp(), { places: [bobs] })
  const bobsHead = headOf('GET /bob-dev/ HTTP/1.1', 'Host: a', `Authorization: Bearer ${bobToken}`)
  const anonymous = headOf('GET /bob-dev/ HTTP/1.1', 'Host: a', 'Connection: close')
  const answer = await exchange(
    port,
    keptHead('GET /ann-dev/ HTTP/1.1') + bobsHead + keptHead('GET /bob-dev/ HTTP/1.1') + anonymous,
  )
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 401'])
  assert.deepEqual(
    [...answer.matchAll(/"x-berth-user":"([^"]*)"/g)].map(([, user]) => user),
    ['ann@example.org', 'bob@example.org'],
  )
})

test('an app that has gone is reported with a reason, as a page for browsers and as JSON for programs', async (t) => {
  const app = httpApp((_, response) => response.writeHead(200, { connection: 'close' }).end('ok'))
  const { port, calls, route } = await startGatewayHarness(t, app)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'ok')
  app.close()
  const [json, page] = await Promise.all([
    get(port, '/ann-dev/x?secret=1', { headers: ann }),
    get(port, '/ann-dev/x?secret=1', { headers: { ...browser, ...annCookie } }),
  ])
  assert.ok([502, 503, 504].includes(json.status), String(json.status))
  assert.deepEqual(Object.keys(JSON.parse(json.body)), ['error'])
  assert.ok([502, 503, 504].includes(page.status))
  assert.match(page.body, /<h1>[^<]+<\/h1>/)
  const listensAt = 'port' in route.where ? route.where.port : 0
  assert.match(
    page.body,
    new RegExp(`nothing in it takes connections on port ${listensAt}\\. [^<]* on 127\\.0\\.0\\.1 alone`),
  )
  assert.doesNotMatch(calls.reports.join(), /secret/)
  assert.ok(calls.suspects.includes('ann-dev'), 'the control plane is asked to look again')
})

test('an app that takes connections and closes them is not said to listen elsewhere', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.destroy()),
  )
  const { status, body } = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.equal(status, 502)
  assert.doesNotMatch(body, /127\.0\.0\.1/)
})

test('an app may take its time to answer', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((_, response) => void setTimeout(() => response.end('late'), 2_500)),
  )
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'late')
})

async function heldOpen(t: TestContext, port: number, bytes: string): Promise<{ closed: () => boolean }> {
  const client = await rawClient(t, port)
  client.write(bytes)
  return { closed: () => client.socket.readableEnded || client.socket.destroyed }
}

test('other connections do not wait for those that send slowly', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (let each = 0; each < 50; each++) await heldOpen(t, port, 'GET /ann-dev/ HTTP/1.1\r\nHost: a')
  const begun = Date.now()
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
  assert.ok(Date.now() - begun < timeLimit(1_000))
})

test('a connection that ends in the middle of a head, or before it, leaves nothing behind', async (t) => {
  const { port, calls } = await startGatewayHarness(t, echoApp())
  for (const bytes of [
    '',
    'GET',
    'GET /ann-dev/ HTTP/1.1\r\nHost: a\r\n',
    keptHead('POST /ann-dev/ HTTP/1.1', 'Content-Length: 5'),
  ]) {
    const client = await rawClient(t, port)
    if (bytes !== '') client.write(bytes)
    await sleep(20)
    client.socket.end()
    await until(
      `the gateway ends its side after ${JSON.stringify(bytes)}`,
      () => client.socket.readableEnded || client.socket.destroyed,
    )
  }
  assert.deepEqual(calls.reports, [])
})

test('a client that asks and asks without reading is not served without end', async (t) => {
  let served = 0
  const app = httpApp((_, response) => {
    served += 1
    response.end('x'.repeat(20_000))
  })
  const { port } = await startGatewayHarness(t, app)
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  socket.pause()
  socket.write(keptHead('GET /ann-dev/ HTTP/1.1').repeat(5_000), 'latin1')
  await until('the app is asked', () => served > 0)
  await observationTime(1_500)
  assert.ok(served < 1_500, `${served} answers of 20 KB were taken`)
})

test('a connection ends when its client asked for that, and stays otherwise', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  assert.match(await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1')), /\r\nconnection: close\r\n/i)
  const client = await rawClient(t, port)
  for (let round = 1; round <= 3; round++) {
    client.write(keptHead(`GET /ann-dev/${round} HTTP/1.1`))
    await client.expect(new RegExp(`"url":"/${round}"`))
  }
  assert.equal(bodyOf(client.text()).includes('connection: close'), false)
})

test('closing lets short answers finish and cuts what goes on for ever', async (t) => {
  const atApp = new Set<string>()
  const app = httpApp((request, response) => {
    const name = request.url ?? ''
    atApp.add(name)
    response.on('close', () => atApp.delete(name))
    response.write('begun ')
    if (name === '/short') setTimeout(() => response.end('and finished'), 150)
  })
  const { port, gateway } = await startGatewayHarness(t, app)
  const short = get(port, '/ann-dev/short', { headers: ann })
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/endless', headers: ann, agent: false }).end()
  request.on('error', () => {})
  const [endless] = (await once(request, 'response')) as [IncomingMessage]
  const cut = once(endless.resume(), 'error')
  await until('both are open', () => atApp.size === 2)
  const begun = Date.now()
  await gateway.close(500)
  assert.ok(Date.now() - begun < timeLimit(1_500))
  assert.equal((await short).body, 'begun and finished')
  await cut
  await until('the app has no connection left', () => atApp.size === 0)
})

test('closing sends the end of an answer that waits for a slow reader', async (t) => {
  const read = async (size: number, timeout: number) => {
    const { port, gateway } = await startGatewayHarness(
      t,
      httpApp((_, response) => response.end(Buffer.alloc(size))),
    )
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await sleep(1_500)
    const closed = gateway.close(timeout)
    if (timeout === 0) await closed
    client.resume()
    await once(client, 'close')
    return client.bytesRead
  }
  // What is cut before it is read is what the kernel takes; a little more is what waits in the gateway at the end.
  const taken = await read(30_000_000, 0)
  const sizes = Array.from({ length: 12 }, (_, n) => taken - 32_000 + n * 8_000)
  const got = await Promise.all(sizes.map((size) => read(size, 10_000)))
  for (const [index, size] of sizes.entries()) assert.ok((got[index] ?? 0) >= size, `${got[index]} of ${size} bytes`)
})

// An open dashboard, which holds an event stream, made Berth use its whole stop timeout of 15 s.
test('closing waits for no stream of events', async (t) => {
  const app = httpApp((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
    response.write('data: begun\n\n')
  })
  const { port, gateway } = await startGatewayHarness(t, app)
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/events', headers: ann, agent: false }).end()
  request.on('error', () => {})
  const [events] = (await once(request, 'response')) as [IncomingMessage]
  const cut = once(events.resume(), 'error')
  const begun = Date.now()
  await gateway.close(60_000)
  assert.ok(Date.now() - begun < waitLimit(20_000))
  await cut
})

test('while it drains it answers, says so to load balancers, and takes one more request on each connection', async (t) => {
  const app = httpApp((_, response) => response.end('served'))
  const { port, gateway } = await startGatewayHarness(t, app, {
    settings: { drainTime: 300, reservedSlugs: ['readyz'] },
  })
  const kept = await rawClient(t, port)
  kept.write(keptHead('GET /ann-dev/1 HTTP/1.1'))
  await kept.expect(/served/)
  assert.doesNotMatch(kept.text(), /connection: close/i)
  const drained = gateway.drain()
  kept.write(keptHead('GET /ann-dev/2 HTTP/1.1'))
  await kept.expect(/connection: close[^]*served/i)
  await until('its end', () => isOver(kept))
  assert.equal((await get(port, '/readyz')).status, 503)
  assert.equal((await get(port, '/ann-dev/3', { headers: ann })).status, 200)
  await drained
  assert.equal((await get(port, '/ann-dev/4', { headers: ann })).status, 200, 'it is the caller who closes it')
})

// Only answers of apps and of the API ended their connection: one that the gateway refused stayed until the end, which cut it.
test('while it drains its own answers end their connections, too', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, echoApp(), {
    settings: { drainTime: 300, reservedSlugs: ['readyz'] },
  })
  const asked = ['GET /readyz HTTP/1.1', 'GET /bob-dev/ HTTP/1.1'].map((line) => keptHead(line))
  const drained = gateway.drain()
  for (const head of [...asked, upgradeHead().replace('/ann-dev/', '/bob-dev/')]) {
    const client = await rawClient(t, port)
    client.write(head)
    await client.expect(/^HTTP\/1.1 [45]\d\d [^]*connection: close/i)
    await until('its end', () => isOver(client))
  }
  await drained
})

const closeFrame = (text: string) => text.endsWith('\x88\x02\x03\xf4')

test('clients of WebSockets are told that the service restarts, where the app is not in the middle of a frame', async (t) => {
  // A message of five bytes, and one of which a byte is missing.
  const [whole, begun] = [Buffer.from('\x81\x05hello', 'latin1'), Buffer.from('\x81\x05hell', 'latin1')]
  const app = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      socket.write(switching)
      socket.write(head.includes('/whole') ? whole : begun)
    })
  })
  const { port, gateway } = await startGatewayHarness(t, app)
  const clients = await Promise.all(
    ['whole', 'begun'].map(async (name) => {
      const client = await rawClient(t, port)
      client.write(upgradeHead().replace('/ann-dev/socket', `/ann-dev/${name}`))
      await client.expect(/hell/)
      return client
    }),
  )
  const closed = gateway.close(5_000)
  await until('both are over', () => clients.every(isOver))
  assert.deepEqual(
    clients.map((client) => closeFrame(client.text())),
    [true, false],
  )
  for (const { socket } of clients) socket.destroy()
  await closed
})

test('before it has a state the gateway answers 503 and asks to come back', async (t) => {
  const { createNetGateway } = await import('@berth/gateway/net-gateway.ts')
  const gateway = createNetGateway()
  t.after(() => gateway.close(0))
  const port = await gateway.listen('127.0.0.1', 0)
  for (const path of ['/', '/ann-dev/', '/api/x']) {
    const { status, headers } = await get(port, path, { headers: ann })
    assert.equal(status, 503, path)
    assert.match(headers['retry-after'] ?? '', /^\d+$/)
  }
  assert.equal(await gateway.listen('127.0.0.1', port), port, 'listening there already is no fault')
})
