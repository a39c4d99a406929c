import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import {
  bodyOf,
  exchange,
  get,
  headOf,
  keptHead,
  rawClient,
  requestHead,
  until,
} from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, listen, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bobToken, browser } from '#test/support/gateway/tokens.ts'

const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** An app that speaks TCP: called for every head of every connection, with how many heads that connection has had. */
function manyTimesApp(onHead: (socket: net.Socket, head: string, count: number) => void): net.Server {
  return net.createServer((socket) => {
    let count = 0
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      if (/^[A-Z]+ \//.test(text)) onHead(socket, text, ++count)
    })
  })
}

test('an idle connection to an app is used again', async (t) => {
  const connections = new Set<number | undefined>()
  const app = httpApp((request, response) => {
    connections.add(request.socket.remotePort)
    response.end('ok')
  })
  const { port } = await startGatewayHarness(t, app)
  for (let round = 0; round < 5; round++) await get(port, '/ann-dev/', { headers: ann })
  assert.ok(connections.size < 5, `${connections.size} connections`)
})

test('a connection that went stale is noticed: GET and HEAD are asked again', async (t) => {
  let asked = 0
  const app = manyTimesApp((socket, head, count) => {
    asked += 1
    if (count > 1) socket.destroy()
    else socket.write(head.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n' : ok('ok'))
  })
  const { port } = await startGatewayHarness(t, app)
  for (const method of ['GET', 'HEAD', 'GET', 'GET', 'HEAD'])
    assert.equal((await get(port, '/ann-dev/', { method, headers: ann })).status, 200, method)
  assert.ok(asked <= 9, `${asked} times asked`)
})

test('an app that dies at every request is not asked for ever', async (t) => {
  let asked = 0
  const app = manyTimesApp((socket) => {
    asked += 1
    socket.destroy()
  })
  const { port } = await startGatewayHarness(t, app)
  const { status } = await get(port, '/ann-dev/', { headers: ann })
  assert.equal(status, 502)
  assert.ok(asked <= 3, `${asked} times asked`)
})

test('a POST is never sent twice, and is not lost on a stale connection', async (t) => {
  const seen: string[] = []
  const app = manyTimesApp((socket, head) => {
    seen.push(/\?(\S*)/.exec(head)?.[1] ?? '')
    socket.write(ok('ok'))
    // As servers do whose keep-alive time is over: some at once, some just when the next request comes.
    setTimeout(() => socket.destroy(), seen.length % 4)
  })
  const { port } = await startGatewayHarness(t, app)
  const failed: string[] = []
  for (let round = 0; round < 100; round++) {
    const answer = await get(port, `/ann-dev/?${round}`, { method: 'POST', headers: ann, body: 'x' }).catch(
      () => undefined,
    )
    if (answer?.status !== 200) failed.push(`${round}: ${answer?.status}`)
    await sleep(round % 4)
  }
  assert.deepEqual(failed, [])
  assert.equal(seen.length, new Set(seen).size, 'sent twice')
})

test('a POST whose connection died under it is told so and not sent again', async (t) => {
  let posts = 0
  const app = manyTimesApp((socket, head) => {
    if (!head.startsWith('POST')) return void socket.write(ok('ok'))
    posts += 1
    socket.destroy()
  })
  const { port } = await startGatewayHarness(t, app)
  await get(port, '/ann-dev/', { headers: ann })
  const { status } = await get(port, '/ann-dev/', { method: 'POST', headers: ann, body: 'x' })
  assert.equal(status, 502)
  assert.equal(posts, 1)
})

test('a GET whose answer has begun is not asked again', async (t) => {
  let asked = 0
  const app = manyTimesApp((socket, _, count) => {
    asked += 1
    if (count === 1) return void socket.write(ok('ok'))
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () => setTimeout(() => socket.destroy(), 20))
  })
  const { port } = await startGatewayHarness(t, app)
  await get(port, '/ann-dev/', { headers: ann })
  await assert.rejects(get(port, '/ann-dev/', { headers: ann }))
  assert.equal(asked, 2)
})

test('an app that closes idle connections fails no request', async (t) => {
  const app = http.createServer({ keepAliveTimeout: 1 }, (_, response) => response.end('ok'))
  const { port } = await startGatewayHarness(t, app)
  const statuses = new Set<number>()
  for (let round = 0; round < 100; round++) {
    statuses.add((await get(port, '/ann-dev/', { headers: ann })).status)
    await sleep(round % 5)
  }
  assert.deepEqual([...statuses], [200])
})

test('a connection whose answer was not read to its end is not used again', async (t) => {
  let connections = 0
  const app = rawApp((socket, head) => {
    connections += 1
    if (head.includes('/endless'))
      return void socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n')
    socket.end(ok('ok'))
  })
  const { port } = await startGatewayHarness(t, app)
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/endless', headers: ann, agent: false }).end()
  request.on('error', () => {})
  await once(request, 'response')
  request.destroy()
  await sleep(50)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'ok')
  assert.equal(connections, 2)
})

test('a connection on which an app has spoken unasked is not used again', async (t) => {
  const app = manyTimesApp((socket) => {
    socket.write(ok('ok'))
    setTimeout(() => socket.write(ok('evil')), 10)
  })
  const { port } = await startGatewayHarness(t, app)
  for (let round = 0; round < 5; round++) {
    assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'ok')
    await sleep(30)
  }
})

/** An app whose every connection answers with what the app was called when the connection was opened. */
function renamedApp(): { readonly app: net.Server; rename(name: string): void } {
  let name = 'first'
  const app = net.createServer((socket) => {
    const mine = name
    socket.on('data', () => void socket.write(ok(mine)))
  })
  return { app, rename: (next) => void (name = next) }
}

test('a new container at an old address gets none of the connections to the old one', async (t) => {
  const { app, rename } = renamedApp()
  const { port, gateway, route } = await startGatewayHarness(t, app)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'first')
  rename('second')
  assert.ok('host' in route.where)
  await gateway.apply([{ kind: 'route', route: { ...route, where: { ...route.where, containerId: 'other' } } }])
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'second')
})

test('an address that goes to another person takes no connection along', async (t) => {
  const { app, rename } = renamedApp()
  const { port, gateway, route } = await startGatewayHarness(t, app)
  for (let each = 0; each < 5; each++) await get(port, '/ann-dev/', { headers: ann })
  await gateway.apply([{ kind: 'route-gone', prefix: 'ann-dev' }])
  rename('second')
  await gateway.apply([{ kind: 'route', route: { ...route, prefix: 'bob-dev', ownerId: 2 } }])
  for (let each = 0; each < 5; each++)
    assert.equal((await get(port, '/bob-dev/', { headers: { authorization: `Bearer ${bobToken}` } })).body, 'second')
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 503)
})

test("two people's containers that swap addresses in one step are not confused", async (t) => {
  const [one, other] = [renamedApp(), renamedApp()]
  one.rename('one')
  other.rename('other')
  const otherPort = await listen(t, other.app)
  const bobs = routeTo('bob-dev', 2, otherPort)
  const { port, gateway, route } = await startGatewayHarness(t, one.app, { places: [bobs] })
  const asked = async () => [
    (await get(port, '/ann-dev/', { headers: ann })).body,
    (await get(port, '/bob-dev/', { headers: { authorization: `Bearer ${bobToken}` } })).body,
  ]
  assert.deepEqual(await asked(), ['one', 'other'])
  one.rename('new one')
  other.rename('new other')
  await gateway.apply([
    { kind: 'route', route: { ...route, where: { ...bobs.where, containerId: 'a2' } as never } },
    { kind: 'route', route: { ...bobs, where: { ...route.where, containerId: 'b2' } as never } },
  ])
  assert.deepEqual(await asked(), ['new other', 'new one'])
})

test('one client connection serves requests to several containers, each by its own app', async (t) => {
  const named = (name: string) => httpApp((_, response) => response.end(name))
  const prod = routeTo('ann-prod', 1, await listen(t, named('prod')))
  const { port } = await startGatewayHarness(t, named('dev'), { places: [prod] })
  const paths = ['/ann-dev/', '/ann-prod/', '/ann-dev/', '/ann-prod/']
  const requests = paths.map((path, index) => (index === 3 ? requestHead : keptHead)(`GET ${path} HTTP/1.1`))
  const answer = await exchange(port, requests.join(''))
  assert.deepEqual(answer.match(/(dev|prod)(?=HTTP|$)/g), ['dev', 'prod', 'dev', 'prod'])
})

test('two people behind one connection of a proxy are told apart', async (t) => {
  const bobs = routeTo('bob-dev', 2, await listen(t, echoApp()))
  const { port } = await startGatewayHarness(t, echoApp(), { places: [bobs] })
  const bobsHead = headOf('GET /bob-dev/ HTTP/1.1', 'Host: a', `Authorization: Bearer ${bobToken}`)
  const nobody = headOf('GET /bob-dev/ HTTP/1.1', 'Host: a', 'Connection: close')
  const answer = await exchange(
    port,
    keptHead('GET /ann-dev/ HTTP/1.1') + bobsHead + keptHead('GET /bob-dev/ HTTP/1.1') + nobody,
  )
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 401'])
  assert.deepEqual(
    [...answer.matchAll(/"x-berth-user":"([^"]*)"/g)].map(([, user]) => user),
    ['ann@example.org', 'bob@example.org'],
  )
})

test('an app that has gone is told with a reason, as a page for people and as JSON for programs', async (t) => {
  const app = httpApp((_, response) => response.writeHead(200, { connection: 'close' }).end('ok'))
  const { port, calls } = await startGatewayHarness(t, app)
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
  assert.doesNotMatch(calls.reports.join(), /secret/)
  assert.ok(calls.suspects.includes('ann-dev'), 'the control plane is asked to look again')
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
  assert.ok(Date.now() - begun < 1_000)
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
      3_000,
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
  await sleep(1_500)
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
  assert.ok(Date.now() - begun < 1_500)
  assert.equal((await short).body, 'begun and finished')
  await cut
  await until('the app has no connection left', () => atApp.size === 0)
})

// As long as somebody looked at a dashboard, which listens for events, Berth took its whole patience of 15 s to stop.
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
  assert.ok(Date.now() - begun < 20_000)
  await cut
})

test('before it is told anything the gateway answers 503 and asks to come back', async (t) => {
  const { createNetGateway } = await import('#/gateway/net-gateway.ts')
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
