import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until } from '#test/support/gateway/raw-client.ts'
import { observationTime } from '#test/support/observation-time.ts'

/** More than the buffers of the kernel take on both ways. */
const messageLength = 32 * 1024 ** 2

/** One binary message in a frame whose mask changes nothing: the numbers from 0 on, in four bytes each. */
function numbersMessage(): Buffer {
  const bytes = Buffer.alloc(14 + messageLength)
  bytes.set([0x82, 0xff])
  bytes.writeBigUInt64BE(BigInt(messageLength), 2)
  for (let at = 0; at < messageLength; at += 4) bytes.writeUInt32BE(at / 4, 14 + at)
  return bytes
}

/** Where the numbers of such a message stop being those that were sent; its length when they never do. */
function firstWrongByte(message: Buffer): number {
  for (let at = 14; at + 4 <= message.length; at += 4) if (message.readUInt32BE(at) !== (at - 14) / 4) return at
  return message.length
}

// What the client still sends was read, to be dropped, into the memory from which its bytes were on their way to the app.
test('an app that reads slowly gets no wrong bytes when the gateway ends its WebSocket', async (t) => {
  let atApp: net.Socket | undefined
  const app = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.pause()
      socket.write(switching)
      atApp = socket
    })
  })
  const { port, gateway } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await client.expect(/101/)
  client.socket.write(numbersMessage())
  // Until nothing moves any more.
  await observationTime(500)
  const closed = gateway.close(1_000)
  await observationTime(200)

  const received: Buffer[] = []
  atApp?.on('data', (bytes: Buffer) => received.push(bytes)).resume()
  await until('the app has all', () => atApp?.destroyed === true || atApp?.readableEnded === true)
  await closed
  const message = Buffer.concat(received)
  assert.ok(message.length > 100_000, `${message.length} bytes`)
  assert.equal(firstWrongByte(message), message.length)
  assert.ok(client.text().endsWith('\x88\x02\x03\xf4'), 'the client is told that the service restarts')
})
