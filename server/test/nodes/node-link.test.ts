import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { connectToNode, createLinkListener, linkAddressOf, listenForNodes, type Hello } from '#/nodes/link/node-link.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'

/** Connections between nodes. */

const key = randomBytes(32)
const hello: Hello = { purpose: 'gateway', node: '127.0.0.1:7070', epoch: 3, protocol: 1 }

async function startListener(t: TestContext) {
  const accepted: { hello: Hello; socket: TLSSocket }[] = []
  const server = createLinkListener(key, (first, socket) => accepted.push({ hello: first, socket }))
  const address = { host: '127.0.0.1', port: await freePort() }
  await listenForNodes(server, address)
  t.after(() => {
    for (const { socket } of accepted) socket.destroy()
    server.close()
  })
  return { accepted, address }
}

test('a node that knows the key is accepted with what it says first, and bytes that follow are not lost', async (t) => {
  const { accepted, address } = await startListener(t)
  const socket = await connectToNode(address, key, hello)
  t.after(() => socket.destroy())
  socket.write('what follows')
  await waitFor('the connection', () => accepted.length === 1)
  assert.deepEqual(accepted[0]!.hello, hello)
  assert.match(socket.getCipher().name, /^ECDHE-PSK-CHACHA20/)
  accepted[0]!.socket.resume()
  const [bytes] = (await once(accepted[0]!.socket, 'data')) as [Buffer]
  assert.equal(bytes.toString(), 'what follows')
})

test('without the key neither side speaks to the other', async (t) => {
  const { accepted, address } = await startListener(t)
  await assert.rejects(connectToNode(address, randomBytes(32), hello))
  const plain = connect(address.port, address.host)
  plain.on('error', () => {}).write(`${JSON.stringify(hello)}\n`)
  await once(plain, 'close')
  const socket = await connectToNode(address, key, { ...hello, purpose: 'root' as 'api' })
  await once(socket, 'close')
  assert.deepEqual(accepted, [])
})

test('addresses of nodes are names, IPv4 or IPv6 addresses with a port', () => {
  assert.deepEqual(linkAddressOf('[fd00::1]:7070'), { host: 'fd00::1', port: 7070 })
  assert.deepEqual(linkAddressOf('berth-0.berth:7070'), { host: 'berth-0.berth', port: 7070 })
})
