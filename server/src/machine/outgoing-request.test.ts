import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { askServer } from './outgoing-request.ts'

/** A server that sends this to each request. */
async function serve(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const ask = (url: string, ms: number) =>
  askServer(url, { method: 'POST', headers: {}, body: 'x', signal: AbortSignal.timeout(ms) })

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

test('an answer is read to its end, and a redirect is an answer', async (t) => {
  const url = await serve(t, (socket) => socket.end('HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\n\r\nwords'))
  const { status, rawHeaders, body } = await ask(url, 5_000)
  assert.deepEqual([status, rawHeaders, await textOf(body)], [307, ['location', 'http://127.0.0.1:1/'], 'words'])
})

/** `fetch` threw the timeout where nothing could catch it, seconds later: the API process ended. */
test('no answer makes a later abort an error that nothing catches', async (t) => {
  const chunk = `10000\r\n${'z'.repeat(0x10000)}\r\n`
  // In ms; the head comes within it on a busy machine, too.
  const timeout = 1_500
  const attempt = async (coding: string) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n`
    const url = await serve(t, (socket) => void socket.write(head + chunk))
    const left = await ask(url, timeout)
    left.discard()
    const { body } = await ask(url, timeout)
    await assert.rejects(textOf(body), { name: 'TimeoutError' })
    for await (const part of (await ask(url, timeout)).body) if (part.length > 0) break
  }
  await Promise.all(['identity', 'gzip', 'gzip, gzip, gzip, br, br, br', 'br'].map(attempt))
  // An uncaught error within this time fails the test.
  await sleep(timeout + 100)
})

test('what is no answer, or none in time, rejects with what it is', async (t) => {
  const cases: [string, (socket: Socket) => void, object | RegExp][] = [
    ['nothing', () => undefined, { name: 'TimeoutError' }],
    ['an end', (socket) => socket.end(), { code: 'ECONNRESET' }],
    ['rubbish', (socket) => socket.write('\u001B[31mHTTP/9\r\n\r\n'), { code: 'HPE_INVALID_CONSTANT' }],
    ['a head without end', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(200)}`), { code: 'HPE_HEADER_OVERFLOW' }],
    ['early answers without end', (socket) => socket.write('HTTP/1.1 102 x\r\n\r\n'.repeat(100)), { name: 'TimeoutError' }],
    ['another protocol', (socket) => socket.write('HTTP/1.1 101 x\r\nupgrade: y\r\nconnection: upgrade\r\n\r\n'), /./],
  ] // prettier-ignore
  for (const [name, answer, expected] of cases) {
    const isLate = 'name' in expected && expected.name === 'TimeoutError'
    await assert.rejects(ask(await serve(t, answer), isLate ? 300 : 10_000), expected, name)
  }
})
