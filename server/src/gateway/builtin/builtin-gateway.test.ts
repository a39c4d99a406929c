import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { ann, echoApp, get, httpApp, startBench, until } from '#test/support/gateway-bench.ts'

test('closing lets short answers finish and cuts streams and WebSockets', async (t) => {
  const atApp = new Set<string>()
  const app = httpApp((request, response) => {
    const name = request.url ?? ''
    atApp.add(name)
    response.on('close', () => atApp.delete(name))
    response.write('begun ')
    if (name === '/short') setTimeout(() => response.end('and finished'), 150)
  })
  new WebSocketServer({ server: app }).on('connection', (socket) => {
    atApp.add('socket')
    socket.on('close', () => atApp.delete('socket'))
  })
  const { port, gateway } = await startBench(t, app, { limits: { connect: 1_000, grace: 400 } })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
  const socketClosed = once(socket, 'close')
  const short = get(port, '/ann-dev/short', { headers: ann })
  const request = http
    .request({ host: '127.0.0.1', port, path: '/ann-dev/endless', headers: ann })
    .on('error', () => {})
    .end()
  const [endless] = (await once(request, 'response')) as [IncomingMessage]
  const cut = once(endless.resume(), 'error')
  await until('all three are open', () => atApp.size === 3)

  await gateway.close()

  assert.equal((await short).body, 'begun and finished')
  await Promise.all([socketClosed, cut])
  await until('the app has no connection left', () => atApp.size === 0)
})

test('a closed gateway answers 503 and asks to come back', async (t) => {
  const { port, gateway } = await startBench(t, echoApp())
  await gateway.close()
  const { status, headers, body } = await get(port, '/ann-dev/', { headers: ann })
  assert.equal(status, 503)
  assert.match(headers['retry-after'] ?? '', /^\d+$/)
  assert.match(JSON.parse(body).error, /restarting/)
})

test('a fault on our side becomes a plain 500 and is reported once, without the query', async (t) => {
  const broken = new Error('the store is gone')
  const { port, reports } = await startBench(t, echoApp(), { parts: { find: () => Promise.reject(broken) } })
  const { status, body } = await get(port, '/ann-dev/x?token=secret', { headers: ann })
  assert.equal(status, 500)
  assert.doesNotMatch(body, /store/)
  assert.deepEqual(
    reports.map(({ message, cause }) => [message, cause]),
    [['GET /ann-dev/x', broken]],
  )
})

test('a block or a new address counts from the next request on', async (t) => {
  const locations = [{ unavailable: 'stopped' } as const]
  const { port } = await startBench(t, echoApp(), {
    parts: { locate: async () => locations.shift() ?? { unavailable: 'missing' } },
  })
  assert.match((await get(port, '/ann-dev/', { headers: ann })).body, /is stopped/)
  assert.match((await get(port, '/ann-dev/', { headers: ann })).body, /does not exist/)
})
