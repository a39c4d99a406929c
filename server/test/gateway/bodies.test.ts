import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { mostHeldDuring } from '#test/support/gateway/held-memory.ts'
import { keptHead, requestHead } from '#test/support/gateway/http-text.ts'
import { echoed, exchange, get, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { answering, echoApp, httpApp, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'

const megabyte = randomBytes(1_048_576)
const megabytes = (count: number) => Readable.from(Array.from({ length: count }, () => megabyte))

async function digest(stream: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function open(port: number, options: http.RequestOptions = {}): http.ClientRequest {
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/', headers: ann, agent: false, ...options })
  return request.on('error', () => {})
}

/** Of a body that is not kept, in MB: four times what may be held meanwhile. */
const size = 64
const head = `HTTP/1.1 200 OK\r\nContent-Length: ${size * megabyte.length}\r\n\r\n`

/** Writes as fast as it is taken, without collecting. */
function pour(socket: net.Socket, count: number): void {
  let left = count
  const write = () => {
    while (left > 0) {
      left -= 1
      if (!socket.write(megabyte)) return void socket.once('drain', write)
    }
  }
  write()
}

test('head and first piece of an answer leave in one write', async (t) => {
  const body = 'x'.repeat(20_000)
  const { port } = await startGatewayHarness(
    t,
    httpApp((_, response) => void response.end(body)),
  )
  const { socket } = await rawClient(t, port)
  const first = once(socket, 'data')
  socket.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  const [bytes] = (await first) as [Buffer]
  assert.match(bytes.toString('latin1'), /\r\n\r\nx{100}/)
})

test(`${size} MB arrive unharmed downwards and are not kept`, async (t) => {
  const app = rawApp((socket) => {
    socket.write(head)
    pour(socket, size)
  })
  const { port } = await startGatewayHarness(t, app)
  const grown = await mostHeldDuring(async () => {
    const [message] = (await once(open(port).end(), 'response')) as [IncomingMessage]
    assert.equal(await digest(message), await digest(megabytes(size)))
  })
  assert.ok(grown < 16_000_000, `held ${grown} bytes more`)
})

test(`${size} MB arrive unharmed upwards and are not kept`, async (t) => {
  const app = httpApp(async (request, response) => void response.end(await digest(request)))
  const { port } = await startGatewayHarness(t, app)
  const grown = await mostHeldDuring(async () => {
    const request = open(port, { method: 'PUT' })
    megabytes(size).pipe(request)
    const [message] = (await once(request, 'response')) as [IncomingMessage]
    assert.equal(Buffer.concat(await message.toArray()).toString(), await digest(megabytes(size)))
  })
  assert.ok(grown < 16_000_000, `held ${grown} bytes more`)
})

test('a client that does not read holds the app back', async (t) => {
  let app: net.Socket | undefined
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => {
      app = socket
      socket.write(head)
      pour(socket, size)
    }),
  )
  const request = open(port).end()
  await once(request, 'response')
  const taken = () => ((app?.bytesWritten ?? 0) - (app?.writableLength ?? 0)) / 1_048_576
  await until('the app sends', () => taken() > 0)
  await observationTime(400)
  assert.ok(taken() < 32, `${taken().toFixed(0)} MB were taken off the app`)
  request.destroy()
})

test('a client that reads slowly gets everything', async (t) => {
  const app = httpApp((_, response) => void megabytes(12).pipe(response))
  const { port } = await startGatewayHarness(t, app)
  const [message] = (await once(open(port).end(), 'response')) as [IncomingMessage]
  let received = 0
  for await (const chunk of message) {
    received += (chunk as Buffer).length
    if (received % 7 === 0) await sleep(1)
  }
  assert.equal(received, 12 * megabyte.length)
})

test('an app that does not read holds the client back', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    net.createServer((socket) => socket.pause()),
  )
  const request = open(port, { method: 'PUT' })
  let sent = 0
  while (sent < 100 && !request.writableNeedDrain) {
    request.write(megabyte)
    sent += 1
    if (request.writableNeedDrain) await Promise.race([once(request, 'drain'), sleep(300)])
  }
  assert.ok(sent < 40, `${sent} MB were taken off the client`)
  request.destroy()
})

test("an event stream's head and events arrive at once", async (t) => {
  let send: (text: string) => void = () => {}
  const app = httpApp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    send = (text) => response.write(text)
  })
  const { port } = await startGatewayHarness(t, app)
  const request = open(port).end()
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(message.headers['content-type'], 'text/event-stream')
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    send(event)
    const [chunk] = (await once(message, 'data')) as [Buffer]
    assert.equal(chunk.toString(), event)
  }
  request.destroy()
})

test('a conversation of chunks goes both ways within one request', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    httpApp((request, response) => void request.pipe(response)),
  )
  const request = open(port, { method: 'POST' })
  request.write('ping')
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  const [first] = (await once(message, 'data')) as [Buffer]
  request.end('pong')
  const rest = Buffer.concat(await message.toArray())
  assert.deepEqual([first.toString(), rest.toString()], ['ping', 'pong'])
})

test('bodies keep their framing: length, chunks, or none', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const sized = await echoed(port, '/ann-dev/', { method: 'POST', body: 'hello', headers: { 'content-length': 5 } })
  assert.deepEqual(
    [sized.body, sized.headers['content-length'], sized.headers['transfer-encoding']],
    ['hello', '5', undefined],
  )
  for (const method of ['POST', 'GET', 'DELETE']) {
    const headers = { 'transfer-encoding': 'chunked' }
    const { body, headers: received } = await echoed(port, '/ann-dev/', { method, body: 'hello', headers })
    assert.deepEqual([body, received['content-length'], received['transfer-encoding']], ['hello', undefined, 'chunked'])
  }
  const bare = await echoed(port, '/ann-dev/', { method: 'DELETE' })
  assert.deepEqual([bare.headers['content-length'], bare.headers['transfer-encoding']], [undefined, undefined])
})

test('HEAD has the head of the answer and no body, and the connection goes on', async (t) => {
  const app = httpApp((_, response) => response.writeHead(200, { 'content-length': 5 }).end('hello'))
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, keptHead('HEAD /ann-dev/ HTTP/1.1') + requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(
    answer,
    /^HTTP\/1\.1 200 OK\r\ncontent-length: 5\r\n(?:.+\r\n)*\r\nHTTP\/1\.1 200 OK\r\n(?:.+\r\n)*\r\nhello$/,
  )
})

test('answers without a body end with their head', async (t) => {
  const app = httpApp((request, response) =>
    response.writeHead(request.url === '/204' ? 204 : 304, { etag: '"1"' }).end(),
  )
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(
    port,
    keptHead('GET /ann-dev/204 HTTP/1.1') +
      keptHead('GET /ann-dev/304 HTTP/1.1') +
      requestHead('GET /ann-dev/204 HTTP/1.1'),
  )
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 204', 'HTTP/1.1 304', 'HTTP/1.1 204'])
})

test('a chunked body ends once, in whatever pieces it comes: nothing is left over for the next request', async (t) => {
  const body = '3\r\nabc\r\n0\r\n\r\n'
  let seen = ''
  const app = net.createServer((socket) => socket.on('data', (bytes) => (seen += bytes.toString('latin1'))))
  const { port } = await startGatewayHarness(t, app)
  for (let cut = 0; cut <= body.length; cut++) {
    seen = ''
    const client = await rawClient(t, port)
    client.write(keptHead('POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked') + body.slice(0, cut))
    if (cut < body.length) await sleep(10)
    client.write(body.slice(cut))
    await until('the whole body', () => seen.endsWith('0\r\n\r\n'))
    await observationTime(10)
    assert.equal(seen.slice(seen.indexOf('\r\n\r\n') + 4), body, `in two pieces, the first of ${cut} bytes`)
  }
})

test('an HTTP/1.0 client gets no chunks', async (t) => {
  const app = httpApp((_, response) => {
    response.write('one ')
    setTimeout(() => response.end('two'), 20)
  })
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.0'))
  assert.doesNotMatch(answer, /transfer-encoding/i)
  assert.match(answer, /\r\n\r\none two$/)
})

test('an answer that ends with the connection is whole, and large ones too', async (t) => {
  const { port } = await startGatewayHarness(t, answering('HTTP/1.1 200 OK\r\n\r\nuntil the end'))
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'until the end')
  const large = 'x'.repeat(3_000_000)
  const { port: other } = await startGatewayHarness(t, answering(`HTTP/1.0 200 OK\r\n\r\n${large}`))
  assert.equal((await get(other, '/ann-dev/', { headers: ann })).body, large)
})

test('a client that leaves ends the request in the app: before, during and after the upload', async (t) => {
  const [there, left]: [string[], string[]] = [[], []]
  const app = httpApp((request, response) => {
    there.push(request.url ?? '')
    response.on('close', () => left.push(request.url ?? ''))
    if (request.url === '/streaming') response.write('x')
  })
  const { port, calls } = await startGatewayHarness(t, app)
  const waiting = open(port, { path: '/ann-dev/waiting' }).end()
  const streaming = open(port, { path: '/ann-dev/streaming' }).end()
  const uploading = open(port, { path: '/ann-dev/uploading', method: 'PUT' })
  uploading.write('x')
  await once(streaming, 'response')
  await until('all three are there', () => there.length === 3)
  for (const request of [waiting, streaming, uploading]) request.destroy()
  await until('the app sees three clients leave', () => left.length === 3)
  assert.deepEqual(calls.reports, [])
})

test('a client that ends its side before the answer has left', async (t) => {
  let isThere = false
  const left: string[] = []
  const app = httpApp((request, response) => {
    isThere = true
    response.on('close', () => left.push(request.url ?? ''))
  })
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/half HTTP/1.1'))
  await until('it is there', () => isThere)
  client.socket.end()
  await until('the app sees the client leave', () => left.length === 1)
  await until('no half-open connection is left', () => client.socket.closed || client.socket.readableEnded)
})

for (const [framing, half] of [
  ['length', 'Content-Length: 100\r\n\r\nhalf'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
] as const)
  for (const way of ['destroy', 'end', 'resetAndDestroy'] as const)
    test(`an app that dies in mid-answer leaves no answer that looks whole: ${framing}, ${way}`, async (t) => {
      const app = rawApp((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n${half}`, () => setTimeout(() => socket[way](), 50)),
      )
      const { port, calls } = await startGatewayHarness(t, app)
      await assert.rejects(get(port, '/ann-dev/?secret', { headers: ann }), /aborted|socket hang up|ECONNRESET/)
      assert.doesNotMatch(calls.reports.join(), /secret/)
    })

test('a chunked answer with wrong chunks is cut, not repaired', async (t) => {
  const app = answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalfXX\r\n0\r\n\r\n')
  const { port } = await startGatewayHarness(t, app)
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.ok(answer.startsWith('HTTP/1.1 502 ') || !answer.endsWith('0\r\n\r\n'), answer)
})

test('an early 413 reaches a client that is still sending', async (t) => {
  const app = httpApp((_, response) => response.writeHead(413, { connection: 'close' }).end('too large'))
  const { port } = await startGatewayHarness(t, app)
  const statuses: (number | undefined)[] = []
  for (let round = 0; round < 20; round += 1) {
    const request = open(port, { method: 'PUT' })
    request.on('error', () => statuses.push(undefined))
    megabytes(30).pipe(request)
    const [message] = (await once(request, 'response')) as [IncomingMessage]
    statuses.push(message.statusCode)
    request.destroy()
  }
  assert.deepEqual(new Set(statuses), new Set([413]))
})

test('an early 413 of an app that hangs up at once is not lost', async (t) => {
  const app = rawApp((socket) => {
    socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig', () => socket.destroy())
  })
  const { port } = await startGatewayHarness(t, app)
  const request = open(port, { method: 'PUT', headers: { ...ann, 'content-length': 5_000_000 } })
  for (let each = 0; each < 4; each++) request.write(megabyte)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(message.statusCode, 413)
  request.destroy()
})

test('a refusal reaches a client that is still sending', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const request = open(port, { method: 'PUT', headers: {} })
  megabytes(30).pipe(request)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(message.statusCode, 401)
  request.destroy()
})

test('after a small refused upload the same connection serves the next request, or ends', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const refused =
    'PUT /ann-dev/ HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\n\r\nGET /ann-dev/smuggled HTTP/1.1\r\n\r\n'
  const answer = await exchange(port, refused + requestHead('GET /ann-dev/next HTTP/1.1'))
  assert.match(answer, /^HTTP\/1\.1 401 /)
  assert.doesNotMatch(answer, /smuggled/)
})

test('chunks of a byte arrive unchanged in both directions, however slowly they are read', async (t) => {
  const text = randomBytes(30_000).toString('base64')
  const inChunks = `${[...text].map((letter) => `1;a\r\n${letter}\r\n`).join('')}0\r\n\r\n`
  const app = httpApp(async (request, response) => {
    const received: Buffer[] = []
    for await (const piece of request) {
      received.push(piece as Buffer)
      if (received.length % 1_000 === 1) await sleep(1)
    }
    const isWhole = Buffer.concat(received).toString('latin1') === text
    response.socket?.end(`HTTP/1.1 ${isWhole ? 200 : 500} OK\r\nTransfer-Encoding: chunked\r\n\r\n${inChunks}`)
  })
  const { port } = await startGatewayHarness(t, app)
  for (const version of ['1.1', '1.0']) {
    const request = version === '1.1' ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${text.length}`]
    const socket = net.connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(requestHead(`POST /ann-dev/ HTTP/${version}`, ...request) + (version === '1.1' ? inChunks : text))
    let answer = ''
    for await (const piece of socket) {
      answer += (piece as Buffer).toString('latin1')
      if (answer.length < 100_000) await sleep(2)
    }
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.ok(answer.endsWith(version === '1.1' ? `\r\n\r\n${inChunks}` : `\r\n\r\n${text}`), version)
  }
})

test('a message whose chunks are mostly extensions is refused, or ended with a reason in the log', async (t) => {
  const extended = `1;${'a'.repeat(200)}\r\na\r\n`.repeat(1_000)
  const app = rawApp((socket) => socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${extended}`))
  const { port, calls } = await startGatewayHarness(t, app)
  const answer = await exchange(port, keptHead('GET /ann-dev/ HTTP/1.1'))
  assert.ok(answer.length < extended.length)
  assert.match(calls.reports.join('\n'), /ann-dev failed: its answer is not valid HTTP: .*more framing than data/)
  const refusal = await exchange(port, requestHead('POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked') + extended)
  assert.match(refusal, /^HTTP\/1\.1 400 /)
})
