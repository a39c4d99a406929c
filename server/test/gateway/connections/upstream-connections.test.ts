import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead } from '#test/support/gateway/http-text.ts'
import { get, isOver, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { httpApp, listen, rawApp, okResponse, renamedApp } from '#test/support/gateway/test-apps.ts'
import { ann, bobToken } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'

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
    else socket.write(head.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n' : okResponse('ok'))
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
    socket.write(okResponse('ok'))
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

test('a POST whose connection was closed is refused and not sent again', async (t) => {
  let posts = 0
  const app = manyTimesApp((socket, head) => {
    if (!head.startsWith('POST')) return void socket.write(okResponse('ok'))
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
    if (count === 1) return void socket.write(okResponse('ok'))
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
    socket.end(okResponse('ok'))
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
    socket.write(okResponse('ok'))
    setTimeout(() => socket.write(okResponse('evil')), 10)
  })
  const { port } = await startGatewayHarness(t, app)
  for (let round = 0; round < 5; round++) {
    assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'ok')
    await sleep(30)
  }
})

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

// The body came when the connection was in use for the next request, of another visitor, and was its answer.
test('what a faulty app sends behind its answer to a HEAD is no answer to the next request', async (t) => {
  const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'
  const app = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').startsWith('HEAD ')) return setTimeout(() => socket.end(okResponse('real')), 150)
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${forged.length}\r\n\r\n`)
      setTimeout(() => socket.write(forged), 50)
    })
  })
  const { port } = await startGatewayHarness(t, app)
  assert.equal((await get(port, '/ann-dev/', { method: 'HEAD', headers: ann })).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'real')
})

// A client that was told that its connection ends sends its next request again on another one: it was carried out twice.
test('a connection ends with an answer that says so, also when the upload has ended before that answer', async (t) => {
  let finish = () => undefined as void
  const app = net.createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab')
      finish = () => void socket.write('cd')
    })
  })
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(keptHead('PUT /ann-dev/ HTTP/1.1', 'Content-Length: 4'))
  await client.expect(/connection: close\r\n[^]*ab$/i)
  client.write('1234')
  await observationTime(100)
  finish()
  await client.expect(/abcd$/)
  await until('the connection ends', () => isOver(client))
})
