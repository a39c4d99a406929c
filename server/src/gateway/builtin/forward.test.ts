import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  ann,
  annCookie,
  browser,
  echoApp,
  echoed,
  exchange,
  get,
  httpApp,
  rawApp,
  requestHead,
  startBench,
  until,
} from '#test/support/gateway-bench.ts'

const megabyte = randomBytes(1_048_576)
const hundredMegabytes = () => Readable.from(Array.from({ length: 100 }, () => megabyte))

async function digest(stream: Readable): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function open(port: number, options: http.RequestOptions = {}): http.ClientRequest {
  const request = http.request({ host: '127.0.0.1', port, path: '/ann-dev/', headers: ann, agent: false, ...options })
  return request.on('error', () => {})
}

test('100 MB arrive unharmed downwards', async (t) => {
  const { port } = await startBench(
    t,
    httpApp((_, response) => void hundredMegabytes().pipe(response)),
  )
  const [message] = (await once(open(port).end(), 'response')) as [IncomingMessage]
  assert.equal(await digest(message), await digest(hundredMegabytes()))
})

test('100 MB arrive unharmed upwards', async (t) => {
  const { port } = await startBench(
    t,
    httpApp(async (request, response) => void response.end(await digest(request))),
  )
  const request = open(port, { method: 'PUT' })
  hundredMegabytes().pipe(request)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(Buffer.concat(await message.toArray()).toString(), await digest(hundredMegabytes()))
})

test('a client that does not read holds the app back', async (t) => {
  let taken = 0
  const listener: http.RequestListener = (_, response) => {
    const write = () => {
      while (taken < 100 && !response.writableNeedDrain) {
        response.write(megabyte)
        taken += 1
      }
    }
    response.on('drain', write)
    write()
  }
  const { port } = await startBench(t, httpApp(listener))
  const request = open(port).end()
  await once(request, 'response')
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.ok(taken < 40, `${taken} MB were taken off the app`)
  request.destroy()
})

test('an app that does not read holds the client back', async (t) => {
  const { port } = await startBench(
    t,
    httpApp(() => {}),
  )
  const request = open(port, { method: 'PUT' })
  let sent = 0
  while (sent < 100 && !request.writableNeedDrain) {
    request.write(megabyte)
    sent += 1
    if (request.writableNeedDrain)
      await Promise.race([once(request, 'drain'), new Promise((resolve) => setTimeout(resolve, 300))])
  }
  assert.ok(sent < 40, `${sent} MB were taken off the client`)
  request.destroy()
})

test("an event stream's head and events arrive at once", async (t) => {
  let send: (text: string) => void = () => {}
  const listener: http.RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    send = (text) => response.write(text)
  }
  const { port } = await startBench(t, httpApp(listener))
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
  const { port } = await startBench(
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
  const { port } = await startBench(t, echoApp())
  const sized = await echoed(port, '/ann-dev/', { method: 'POST', body: 'hello', headers: { 'content-length': 5 } })
  assert.deepEqual(
    [sized.body, sized.headers['content-length'], sized.headers['transfer-encoding']],
    ['hello', '5', undefined],
  )
  for (const method of ['POST', 'GET', 'DELETE']) {
    const chunked = await echoed(port, '/ann-dev/', {
      method,
      body: 'hello',
      headers: { 'transfer-encoding': 'chunked' },
    })
    assert.deepEqual(
      [chunked.body, chunked.headers['content-length'], chunked.headers['transfer-encoding']],
      ['hello', undefined, 'chunked'],
    )
  }
  const empty = await exchange(port, requestHead('POST /ann-dev/ HTTP/1.1'))
  assert.match(empty, /"content-length":"0"/)
  const bare = await echoed(port, '/ann-dev/', { method: 'DELETE' })
  assert.deepEqual([bare.headers['content-length'], bare.headers['transfer-encoding']], [undefined, undefined])
})

test('HEAD has the head of the answer and no body', async (t) => {
  const { port } = await startBench(
    t,
    httpApp((_, response) => response.writeHead(200, { 'content-length': 5 }).end('hello')),
  )
  const { status, headers, body } = await get(port, '/ann-dev/', { method: 'HEAD', headers: ann })
  assert.deepEqual([status, headers['content-length'], body], [200, '5', ''])
})

test("status, reason, repeated headers and their case are the app's own", async (t) => {
  const lines = ['X-Zeta', '1', 'x-alpha', 'caf\u00e9', 'X-Zeta', '2', 'Link', '</a>', 'Link', '</b>']
  const { port } = await startBench(
    t,
    httpApp((_, response) => response.writeHead(418, 'Short and stout', lines).end()),
  )
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1'))
  assert.match(
    answer,
    /^HTTP\/1\.1 418 Short and stout\r\nX-Zeta: 1\r\nx-alpha: caf\u00e9\r\nX-Zeta: 2\r\nLink: <\/a>\r\nLink: <\/b>\r\n/,
  )
})

test('an HTTP/1.0 client gets no chunks', async (t) => {
  const listener: http.RequestListener = (_, response) => {
    response.write('one ')
    response.end('two')
  }
  const { port } = await startBench(t, httpApp(listener))
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.0'))
  assert.doesNotMatch(answer, /transfer-encoding/i)
  assert.match(answer, /\r\n\r\none two$/)
})

test('an answer that ends with the connection is whole', async (t) => {
  const { port } = await startBench(
    t,
    rawApp((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end')),
  )
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'until the end')
})

test("an app's trailers reach the client, but not what only a head may say", async (t) => {
  const listener: http.RequestListener = (_, response) => {
    response.write('x')
    response.addTrailers({ 'x-checksum': 'abc', 'set-cookie': 'spawner_token=evil', 'clear-site-data': '"cookies"' })
    response.end()
  }
  const { port } = await startBench(t, httpApp(listener))
  const { trailers } = await get(port, '/ann-dev/', { headers: ann })
  assert.deepEqual({ ...trailers }, { 'x-checksum': 'abc' })
})

test("a client's trailers reach the app, but not what only the gateway may say", async (t) => {
  const listener: http.RequestListener = async (request, response) => {
    await request.toArray()
    response.end(JSON.stringify(request.trailers))
  }
  const { port } = await startBench(t, httpApp(listener))
  const body = '5\r\nhello\r\n0\r\nX-Checksum: abc\r\nX-Berth-User: root\r\nCookie: spawner_token=x\r\n\r\n'
  const answer = await exchange(port, requestHead('POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked') + body)
  assert.match(answer, /\{"x-checksum":"abc"\}/)
})

test('a client that leaves ends the request in the app: before, during and after the upload', async (t) => {
  const left: string[] = []
  const listener: http.RequestListener = (request, response) => {
    response.on('close', () => left.push(request.url ?? ''))
    if (request.url === '/streaming') response.write('x')
  }
  const { port } = await startBench(t, httpApp(listener))
  const waiting = open(port, { path: '/ann-dev/waiting' }).end()
  const streaming = open(port, { path: '/ann-dev/streaming' }).end()
  const uploading = open(port, { path: '/ann-dev/uploading', method: 'PUT' })
  uploading.write('x')
  await once(streaming, 'response')
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const request of [waiting, streaming, uploading]) request.destroy()
  await until('the app sees three clients leave', () => left.length === 3)
})

test('a client that leaves is nothing to report', async (t) => {
  const { port, reports } = await startBench(
    t,
    httpApp((_, response) => response.write('x')),
  )
  const request = open(port).end()
  await once(request, 'response')
  request.destroy()
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(reports, [])
})

test('an app that dies in mid-answer leaves no answer that looks whole', async (t) => {
  for (const answer of ['Content-Length: 100\r\n\r\nhalf', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n']) {
    const { port, reports } = await startBench(
      t,
      rawApp((socket) => socket.write(`HTTP/1.1 200 OK\r\n${answer}`, () => setTimeout(() => socket.destroy(), 50))),
    )
    await assert.rejects(get(port, '/ann-dev/?secret', { headers: ann }), /aborted|socket hang up/)
    assert.deepEqual(
      reports.map((error) => error.message),
      ['GET /ann-dev/'],
    )
  }
})

test('an app that is not listening answers 502, as a page for people and as JSON for programs', async (t) => {
  const closed = net.createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: nobody } = closed.address() as net.AddressInfo
  closed.close()
  const { port, reports } = await startBench(t, echoApp(), {
    parts: { locate: async () => ({ host: '127.0.0.1', port: nobody }) },
  })
  const json = await get(port, '/ann-dev/x?secret=1', { headers: ann })
  assert.equal(json.status, 502)
  assert.match(JSON.parse(json.body).error, /does not answer/)
  const page = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.equal(page.status, 502)
  assert.match(page.body, /<h1>The app does not answer<\/h1>/)
  assert.equal(reports[0]?.message, 'GET /ann-dev/x')
  assert.match(String(reports[0]?.cause), /ECONNREFUSED/)
})

test('an app that never accepts the connection answers 502 in the end', async (t) => {
  const sleeper = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000), 50)
     })`,
    { eval: true },
  )
  t.after(() => sleeper.terminate())
  const [asleep] = (await once(sleeper, 'message')) as [number]
  await new Promise((resolve) => setTimeout(resolve, 150))
  // The kernel accepts as many as the backlog holds by itself; only then a handshake stays without an answer.
  const fillers = Array.from({ length: 4 }, () => net.connect(asleep, '127.0.0.1').on('error', () => {}))
  t.after(() => fillers.forEach((socket) => socket.destroy()))
  await new Promise((resolve) => setTimeout(resolve, 100))
  const { port, reports } = await startBench(t, echoApp(), {
    parts: { locate: async () => ({ host: '127.0.0.1', port: asleep }) },
    limits: { connect: 200, grace: 100 },
  })
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 502)
  assert.match(String(reports[0]?.cause), /no connection within 200 ms/)
})

test('an app may take longer to answer than to accept', async (t) => {
  const { port } = await startBench(
    t,
    httpApp((_, response) => void setTimeout(() => response.end('late'), 400)),
    {
      limits: { connect: 100, grace: 100 },
    },
  )
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'late')
})

test('an answer that is not HTTP, or can be read in two ways, becomes 502', async (t) => {
  for (const answer of [
    'this is not http\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n',
    '',
  ]) {
    const { port } = await startBench(
      t,
      rawApp((socket) => socket.end(answer)),
    )
    assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 502, answer)
  }
})

test('an early 413 reaches a client that is still sending', async (t) => {
  const { port } = await startBench(
    t,
    httpApp((_, response) => response.writeHead(413, { connection: 'close' }).end('too large')),
  )
  const statuses: (number | undefined)[] = []
  for (let round = 0; round < 20; round += 1) {
    const request = open(port, { method: 'PUT' })
    request.on('error', () => statuses.push(undefined))
    hundredMegabytes().pipe(request)
    const [message] = (await once(request, 'response')) as [IncomingMessage]
    statuses.push(message.statusCode)
    request.destroy()
  }
  assert.deepEqual(new Set(statuses), new Set([413]))
})

test('a refusal reaches a client that is still sending', async (t) => {
  const { port } = await startBench(t, echoApp())
  const request = open(port, { method: 'PUT', headers: {} })
  hundredMegabytes().pipe(request)
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  assert.equal(message.statusCode, 401)
  request.destroy()
})

test('after an early answer the same connection serves the next request', async (t) => {
  const listener: http.RequestListener = (request, response) =>
    request.url === '/big' ? response.writeHead(413, { connection: 'close' }).end('too large') : response.end('next')
  const { port } = await startBench(t, httpApp(listener))
  const upload = requestHead('PUT /ann-dev/big HTTP/1.1', `Content-Length: ${megabyte.length}`).replace(
    'close',
    'keep-alive',
  )
  const answers = await exchange(
    port,
    `${upload}${'x'.repeat(megabyte.length)}${requestHead('GET /ann-dev/ HTTP/1.1')}`,
  )
  assert.match(answers, /^HTTP\/1\.1 413 .*too large.*HTTP\/1\.1 200 .*next/s)
})

test('no connection to an app is used twice', async (t) => {
  const connections = new Set<number | undefined>()
  const { port } = await startBench(
    t,
    httpApp((request, response) => {
      connections.add(request.socket.remotePort)
      response.end()
    }),
  )
  for (let round = 0; round < 3; round += 1) await get(port, '/ann-dev/', { headers: ann })
  assert.equal(connections.size, 3)
})
