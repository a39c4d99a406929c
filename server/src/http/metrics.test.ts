import assert from 'node:assert/strict'
import { Server, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { MetricsListener, type Metrics } from './metrics.ts'

// A failed accept(2) was taken for a failed start: the listener was bound once more, which Node refuses by ending the
// process.
test('a connection that cannot be accepted leaves the listener of metrics as it is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const listens = t.mock.method(Server.prototype, 'listen')
  const errors: unknown[] = []
  const log = { info: () => undefined, error: (...words: unknown[]) => void errors.push(words.at(-1)) }
  const address = { host: '127.0.0.1', port: 0, text: '127.0.0.1:0' }
  const listener = new MetricsListener(address, null, log)
  await listener.start({ contentType: 'text/plain', text: async () => 'up 1' } as Metrics)
  t.after(() => listener.stop())
  const server = listens.mock.calls.at(-1)?.this as Server
  for (let attempt = 0; attempt < 3; attempt++)
    server.emit('error', Object.assign(new Error('accept ENOMEM'), { code: 'ENOMEM' }))
  t.mock.timers.tick(60_000)
  assert.deepEqual(errors, ['METRICS_LISTEN=127.0.0.1:0: connections cannot be accepted: ENOMEM'])
  assert.deepEqual(listener.warnings(), [])
  const { port } = server.address() as AddressInfo
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), 'up 1')
})
