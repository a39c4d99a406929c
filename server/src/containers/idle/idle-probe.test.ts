import assert from 'node:assert/strict'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import { test, type TestContext } from 'node:test'
import { selfSigned } from '#test/support/gateway/tls-proxy.ts'
import type { IdleProbe } from '#/templates/template.ts'
import { askIdleProbe } from './idle-probe.ts'
import { ProbeConnection } from './probe-connection.ts'

const last: IdleProbe = { path: 'state?all=1', active: '/last' }

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}

const ask = (port: number, idleProbe: IdleProbe = last, stripPrefix = true, hasOwnHost = false) =>
  askIdleProbe({ idleProbe, stripPrefix, scheme: 'http' }, { host: '127.0.0.1', port, prefix: 'ann-dev' }, hasOwnHost)

/** @returns what the probe understands of this answer of an application */
async function understood(t: TestContext, body: string, idleProbe?: IdleProbe): Promise<number | undefined> {
  const port = await listen(
    t,
    createHttpServer((_, response) => void response.end(body)),
  )
  return (await ask(port, idleProbe))?.usedAt
}

test('times are of RFC 3339, or seconds or milliseconds since 1970; counts, lists and truth values are now or never', async (t) => {
  const time = Date.parse('2026-02-03T04:05:06Z')
  const isNow = async (body: string) => Math.abs(Number(await understood(t, body)) - Date.now()) < 5_000
  for (const text of [
    '"2026-02-03T04:05:06Z"',
    '"2026-02-03T05:05:06+01:00"',
    '"2026-02-03T04:05:06"',
    String(time),
    String(time / 1_000),
  ])
    assert.equal(await understood(t, `{"last": ${text}}`), time, text)
  for (const text of ['3', 'true', '["kernel"]', '{"a": 1}']) assert.ok(await isNow(`{"last": ${text}}`), text)
  for (const text of ['0', 'false', '[]', '{}', 'null']) assert.equal(await understood(t, `{"last": ${text}}`), 0, text)
  // A clock that is ahead, or a lie, is no use in the future.
  assert.ok(await isNow('{"last": "2999-01-01T00:00:00Z"}'))
})

test('an answer that says nothing is none', async (t) => {
  for (const body of [
    '{}',
    '{"last": "yesterday"}',
    '{"last": -1}',
    'no JSON',
    '',
    '[1]',
    '{"__proto__": {"last": 1}}',
  ])
    assert.equal(await understood(t, body), undefined, body)
  assert.equal(await understood(t, '{"kernels": []}', 'jupyter'), undefined)
  assert.equal(await understood(t, '{"status": "fine", "lastHeartbeat": 1}', 'code-server'), undefined)
})

test('a pointer leads to keys with slashes and tildes, into lists, and to the whole answer', async (t) => {
  assert.equal(await understood(t, '{"a/b": [{"~": 0}]}', { path: '', active: '/a~1b/0/~0' }), 0)
  assert.equal(await understood(t, '0', { path: '', active: '' }), 0)
})

test('it is asked below its prefix where it keeps that, unless it has a host of its own; nothing else is sent along', async (t) => {
  const seen: string[] = []
  const note: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url} ${Object.keys(request.headers).sort().join()}`)
    response.end('{"last": 1}')
  }
  const port = await listen(t, createHttpServer(note))
  for (const [strip, own] of [
    [true, false],
    [false, false],
    [false, true],
  ] as const)
    await ask(port, last, strip, own)
  assert.deepEqual(seen, [
    'GET /state?all=1 accept,connection,host',
    'GET /ann-dev/state?all=1 accept,connection,host',
    'GET /state?all=1 accept,connection,host',
  ])
})

test('Jupyter without terminals answers by its kernels, and by terminals where it has them', async (t) => {
  const kernels = JSON.stringify([{ execution_state: 'idle', last_activity: '2026-01-01T00:00:00Z' }])
  const answers: Record<string, string> = { '/api/kernels': kernels }
  const port = await listen(
    t,
    createHttpServer(({ url = '' }, response) => {
      const body = answers[url.split('?')[0] ?? '']
      response.writeHead(body === undefined ? 404 : 200).end(body)
    }),
  )
  assert.equal((await ask(port, 'jupyter'))?.usedAt, Date.parse('2026-01-01T00:00:00Z'))
  answers['/api/terminals'] = '[{"name": "1", "last_activity": "2026-01-02T00:00:00Z"}]'
  assert.equal((await ask(port, 'jupyter'))?.usedAt, Date.parse('2026-01-02T00:00:00Z'))
})

const raw = (answer: (socket: Socket) => void): Server =>
  createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  })

const json = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

test('chunked answers and those that end with their connection are read', async (t) => {
  const heads = [
    `${json}transfer-encoding: chunked\r\n\r\n5\r\n{"las\r\n6\r\nt": 0}\r\n0\r\n\r\n`,
    `${json}\r\n{"last": 0}`,
  ]
  for (const head of heads)
    assert.deepEqual(
      await ask(
        await listen(
          t,
          raw((socket) => socket.end(head)),
        ),
      ),
      { usedAt: 0 },
      head,
    )
})

test('what a container answers cannot hold Berth up: endless, huge, cut, deep or redirected answers are none', async (t) => {
  const other = { asked: 0 }
  const elsewhere = await listen(
    t,
    raw((socket) => {
      other.asked += 1
      socket.end(`${json}\r\n{"last": 1}`)
    }),
  )
  const hostile: Record<string, (socket: Socket) => void> = {
    'a huge body': (socket) => socket.end(`${json}\r\n{"last": 1, "x": "${'x'.repeat(1_000_000)}"}`),
    'an endless head': (socket) => {
      socket.write(json)
      const more = setInterval(() => socket.write('x-more: and more\r\n'.repeat(1_000)), 5)
      socket.on('close', () => clearInterval(more))
    },
    'a cut body': (socket) => socket.end(`${json}content-length: 100\r\n\r\n{"last": 1}`),
    'a redirect': (socket) => socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${elsewhere}/\r\n\r\n`),
    'two lengths': (socket) => socket.end(`${json}content-length: 11\r\ncontent-length: 9\r\n\r\n{"last": 1}`),
    'deep JSON': (socket) => socket.end(`${json}\r\n${'['.repeat(200_000)}`),
    'no HTTP': (socket) => socket.end('hello\r\n\r\n'),
    nothing: (socket) => socket.destroy(),
  }
  for (const [name, answer] of Object.entries(hostile))
    assert.equal(await ask(await listen(t, raw(answer))), undefined, name)
  assert.equal(other.asked, 0)
})

test('a server that ends each connection after one answer is asked for the rest on another one', async (t) => {
  const port = await listen(
    t,
    raw((socket) => socket.end(`${json.replace('1.1', '1.0')}\r\n[]`)),
  )
  assert.deepEqual(await ask(port, 'jupyter'), { usedAt: 0 })
})

const kernelsAndTerminals: RequestListener = ({ url = '' }, response) =>
  void response.end(url.includes('kernels') ? '[]' : '[{"last_activity": "2026-01-02T00:00:00Z"}]')

test('Jupyter is asked on one connection for as long as it is open, and on another one after that', async (t) => {
  const server = createHttpServer(kernelsAndTerminals)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const port = await listen(t, server)
  const kept = new ProbeConnection()
  t.after(() => kept.close())
  const again = (idleProbe: IdleProbe, to = port) =>
    askIdleProbe(
      { idleProbe, stripPrefix: true, scheme: 'http' },
      { host: '127.0.0.1', port: to, prefix: 'x' },
      false,
      kept,
    )
  for (const _ of [1, 2, 3]) assert.deepEqual(await again('jupyter'), { usedAt: Date.parse('2026-01-02T00:00:00Z') })
  assert.equal(sockets.length, 1)
  const ended = new Promise((resolve) => sockets[0]?.once('close', resolve))
  sockets[0]?.destroy()
  await ended
  assert.ok(await again('jupyter'))
  assert.equal(sockets.length, 2)
  // What comes unasked is no answer to the next question.
  sockets[1]?.write(`${json}content-length: 2\r\n\r\n[]`)
  assert.ok(await again('jupyter'))
  const other = await listen(t, createHttpServer(kernelsAndTerminals))
  assert.ok(await again('jupyter', other))
})

// With each byte of a head all those before it were copied and searched again.
test('a head that comes in single bytes is given up', async (t) => {
  let sent = 0
  const closed = Promise.withResolvers<void>()
  const port = await listen(
    t,
    raw((socket) => {
      socket.setNoDelay(true).write(json)
      socket.on('close', () => closed.resolve())
      const step = () => {
        if (socket.destroyed) return
        sent++
        socket.write('x', () => setImmediate(step))
      }
      step()
    }),
  )
  assert.equal(await ask(port), undefined)
  await closed.promise
  assert.ok(sent < 10_000, `${sent} bytes`)
})

/** No other program listens there. */
const editorHost = '127.39.0.1'

async function listenAsEditor(t: TestContext, port: number, body: string): Promise<[number, Promise<unknown>]> {
  const server = createHttpServer((_, response) => void response.end(body))
  const closed = new Promise((resolve) => server.once('connection', (socket: Socket) => socket.once('close', resolve)))
  await new Promise<void>((resolve) => server.listen(port, editorHost, resolve))
  t.after(() => void server.close())
  return [(server.address() as AddressInfo).port, closed]
}

test('code-server is asked by its heartbeat, and keeps no connection, which it would count; its extension knows better', async (t) => {
  const heartbeat = '{"status": "alive", "lastHeartbeat": 1790000000000}'
  const [port, closed] = await listenAsEditor(t, 0, heartbeat)
  const kept = new ProbeConnection()
  const app = { host: editorHost, port, prefix: 'x' }
  const again = () => askIdleProbe({ idleProbe: 'code-server', stripPrefix: true, scheme: 'http' }, app, false, kept)
  assert.deepEqual(await again(), { usedAt: 1_790_000_000_000 })
  await closed
  const [, closedByIt] = await listenAsEditor(t, 8479, '{"usedAt": 1780000000000}')
  assert.deepEqual(await again(), { usedAt: 1_780_000_000_000 })
  await closedByIt
})

test('an application that speaks TLS is asked, whatever its certificate is', async (t) => {
  const port = await listen(t, createTlsServer(await selfSigned('elsewhere'), kernelsAndTerminals))
  const app = { host: '127.0.0.1', port, prefix: 'x' }
  const kept = new ProbeConnection()
  t.after(() => kept.close())
  for (const connection of [undefined, kept, kept]) {
    const answer = await askIdleProbe(
      { idleProbe: 'jupyter', stripPrefix: true, scheme: 'https' },
      app,
      false,
      connection,
    )
    assert.deepEqual(answer, { usedAt: Date.parse('2026-01-02T00:00:00Z') })
  }
})

test('an answer that drips is given up after five seconds', async (t) => {
  let isCut = false
  const port = await listen(
    t,
    raw((socket) => {
      socket.write(`${json}\r\n{"last": 1`)
      const drip = setInterval(() => socket.write(' '), 100)
      socket.on('close', () => {
        clearInterval(drip)
        isCut = true
      })
    }),
  )
  assert.equal(await ask(port), undefined)
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(isCut, true)
})
