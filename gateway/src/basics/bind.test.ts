import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { bind } from './bind.ts'

// As Node tells of a failed accept(2). Nothing listened for it, and the gateway process ended with all its connections.
test('connections that cannot be accepted are reported seldom, and cost no other one', async (t) => {
  const server = createServer((socket) => socket.end('served'))
  t.after(() => server.close())
  const reports: string[] = []
  await bind(server, '127.0.0.1', 0, (problem) => reports.push(problem))
  for (let attempt = 0; attempt < 3; attempt++)
    server.emit('error', Object.assign(new Error('accept ENOMEM'), { code: 'ENOMEM' }))
  assert.deepEqual(reports, ['connections cannot be accepted: ENOMEM'])
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  assert.equal(String((await once(client, 'data'))[0]), 'served')
})
