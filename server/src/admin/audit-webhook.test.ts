import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendWebhook } from './audit-webhook.ts'

/**
 * A receiver that answered so ended the API process, 15 s later: its timeout was thrown where nothing could catch it.
 */
test('an answer whose body cannot be decoded is like any other, also after the timeout', async (t) => {
  const sockets = new Set<Socket>()
  const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip, gzip, br, br, br\r\ntransfer-encoding: chunked\r\n\r\n'
  const chunk = `10000\r\n${'z'.repeat(0x10000)}\r\n`
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(head + chunk)
      const timer = setInterval(() => void (socket.destroyed || socket.write(chunk)), 5)
      socket.once('close', () => clearInterval(timer))
    })
  }).listen(0, '127.0.0.1')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const target = { url, secrets: [Buffer.alloc(32)], timeout: 1_500 }
  const stop = new AbortController()
  await sendWebhook(target, { id: 'audit_1', body: '{}' }, stop.signal)
  await sendWebhook({ ...target, timeout: 60_000 }, { id: 'audit_2', body: '{}' }, stop.signal)
  // An uncaught error until the timeout is over fails the test.
  await sleep(1_600)
  assert.equal([...sockets].filter((socket) => !socket.destroyed).length, 0, 'no connection is left')
  stop.abort()
  // An uncaught error within this time fails the test.
  await sleep(100)
})
