import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createRedirectListener } from './redirect-listener.ts'
import { waitLimit } from '@berth/server/test/support/extent.ts'

// A thousand connections without a request closed port 80 to all clients, from one address and at no cost.
test('a client that opens connections and sends nothing keeps no other client from the redirect', async (t) => {
  const server = createRedirectListener(() => 443, 20).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const from = (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    t.after(() => socket.destroy())
    return socket
  }
  const silent = Array.from({ length: 40 }, () => from('127.0.0.2'))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  for (const address of ['127.0.0.3', '127.0.0.2']) {
    const client = from(address)
    client.write('GET /login HTTP/1.1\r\nHost: a.example\r\n\r\n')
    const [answer] = await once(client, 'data', { signal: AbortSignal.timeout(waitLimit(4_000)) })
    assert.match(String(answer), /^HTTP\/1\.1 308 [^]*location: https:\/\/a\.example\/login/i, address)
  }
})
