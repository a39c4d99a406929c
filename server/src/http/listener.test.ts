import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createListener, drain, listenOnSocket } from './listener.ts'
import { waitLimit } from '#test/support/extent.ts'

/** In ms: far less than an answer takes here. */
const bodyLimit = 50

/** Answers after ten times the limit, and reads nothing. */
const slowly: RequestListener = (_request, response) => void sleep(10 * bodyLimit).then(() => response.end('done'))

/** @returns all that is answered until the connection ends */
async function send(t: TestContext, request: string): Promise<string> {
  const server = createListener(slowly, bodyLimit).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close().closeAllConnections())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined).write(request)
  let text = ''
  socket.on('data', (data) => (text += String(data)))
  await once(socket, 'close')
  return text
}

const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'

test('an answer may take longer than a body may, whose bytes have all come although they are not read', async (t) => {
  assert.match(await send(t, `${head}Content-Length: 0\r\n\r\n`), /done$/)
  assert.match(await send(t, `${head}Content-Length: 2\r\n\r\n{}`), /done$/)
  assert.match(await send(t, `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`), /done$/)
})

test('whose body does not come is cut off', async (t) => {
  assert.equal(await send(t, `${head}Content-Length: 2\r\n\r\n{`), '')
})

test('a head as long as the gateway passes on is taken, with what the gateway adds', async (t) => {
  const cookie = `Cookie: a=${'x'.repeat(32 * 1024)}\r\nX-Forwarded-Host: ${'x'.repeat(300)}\r\n`
  assert.match(
    await send(t, `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${cookie}\r\n`),
    /^HTTP\/1\.1 200 [^]*done$/,
  )
})

test('a thousand who come in one moment are all let in', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-listener-'))
  const server = createListener(slowly)
  await listenOnSocket(server, path.join(folder, 'api.sock'), () => undefined)
  t.after(() => {
    server.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  // No connection is accepted before all have been opened.
  const sockets = Array.from({ length: 1_000 }, () => connect(path.join(folder, 'api.sock')))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.destroy()
})

// As Node tells of a failed accept(2). Nothing listened for it, and the API process ended with all its requests.
test('connections that cannot be accepted are reported seldom, and cost no other one', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-listener-'))
  const server = createListener((_request, response) => response.end('served'))
  const reports: string[] = []
  await listenOnSocket(server, path.join(folder, 'api.sock'), (problem) => reports.push(problem))
  t.after(() => {
    server.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  for (let attempt = 0; attempt < 3; attempt++)
    server.emit('error', Object.assign(new Error('accept ENOMEM'), { code: 'ENOMEM' }))
  assert.deepEqual(reports, ['connections cannot be accepted: ENOMEM'])
  const [answer] = await once(get({ socketPath: path.join(folder, 'api.sock'), agent: false }), 'response')
  assert.equal(answer.resume().statusCode, 200)
})

// Pages that stayed open kept a stopped API for its whole timeout of 15 s: their connections were kept for more
// requests.
test('a drained listener ends with its last request, although the connection was to be kept', async (t) => {
  const server = createListener(slowly).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const asked = get({ agent, port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  await once(server, 'request')
  const began = performance.now()
  const drained = drain(server, 30_000)
  const [answer] = await once(asked, 'response')
  answer.resume()
  await drained
  assert.ok(performance.now() - began < waitLimit(10_000))
})
