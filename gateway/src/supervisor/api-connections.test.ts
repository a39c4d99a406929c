import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  RecordingControlPlane,
  RecordingGateway,
  someSettings,
} from '@berth/server/test/support/gateway/recording-gateway.ts'
import { RemoteGateway } from '#/rpc/remote-gateway.ts'
import { channelOver } from '#/rpc/rpc-connection.ts'
import { ApiConnections } from './api-connections.ts'
import { waitLimit } from '@berth/server/test/support/extent.ts'

/** The gateway as a service, to which API processes connect. */
async function scene(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-connections-'))
  const file = path.join(folder, 'gateway.sock')
  const gateway = new RecordingGateway()
  const lines: string[] = []
  const connections = new ApiConnections({
    gateway,
    announce: (words) => lines.push(words),
    logLine: (_level, line) => lines.push(line),
  })
  await connections.listen(file)
  t.after(() => {
    connections.close()
    rmSync(folder, { recursive: true })
  })
  const opened = async (): Promise<Socket> => {
    const socket = connect(file)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  /** An API process that is loaded; it serves when it is its turn. */
  const loaded = async (words: string) => {
    const socket = await opened()
    const remote = new RemoteGateway(channelOver(socket), { stop: () => undefined, report: () => undefined })
    const serve = async () => {
      await remote.awaitStart()
      await remote.serve(someSettings, new RecordingControlPlane())
      remote.ready(words)
    }
    void serve()
    return socket
  }
  const until = async (what: string, isSo: () => boolean) => {
    for (const limit = performance.now() + waitLimit(20_000); !isSo(); await sleep(5))
      assert.ok(performance.now() < limit, `not within 20 s: ${what}; said: ${lines.join(' | ')}`)
  }
  return { lines, opened, loaded, until }
}

// As Node tells of a failed accept(2). Only the first one was caught, and the next ended the gateway with all connections.
test('connections that cannot be accepted are reported seldom, and cost no API process', async (t) => {
  const listens = t.mock.method(Server.prototype, 'listen')
  const { lines, loaded, until } = await scene(t)
  const server = listens.mock.calls.at(-1)?.this as Server
  for (let attempt = 0; attempt < 3; attempt++)
    server.emit('error', Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS' }))
  assert.deepEqual(lines, ['connections cannot be accepted: ENOBUFS'])
  await loaded('first')
  await until('the API', () => lines.includes('first'))
})

// A second gateway asks by a connection whether one lives here, and took the place of the API process that waited.
test('a connection that ends without a word leaves an API process that waits in its place', async (t) => {
  const { lines, opened, loaded, until } = await scene(t)
  const first = await loaded('first')
  await until('the first API', () => lines.includes('first'))
  const second = await loaded('second')
  await sleep(50)
  const stranger = await opened()
  stranger.end()
  await once(stranger.resume(), 'close')
  assert.ok(!second.destroyed)
  first.destroy()
  await until('the second API', () => lines.includes('the API is back'))
})
