import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { createListener, listenOnSocket } from '#/http/listener.ts'
import { BerthNode, prepareStore, type LeadParts } from '#/nodes/node.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { releaseLease, takeLease } from '#/store/leader-lease.ts'
import { openNodeTables } from '#/store/node-records.ts'
import { startBerth } from '../support/berth.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** What clients of a node's sockets see while its application starts. */

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

/** Starts a node, which leads. @param lead starts its application */
async function startNode(
  t: TestContext,
  sockets: Sockets,
  lead: (parts: LeadParts) => Promise<{ close(): Promise<void> }>,
) {
  const port = await freePort()
  const node = await BerthNode.start({
    address: { host: '127.0.0.1', port, text: `127.0.0.1:${port}` },
    secret: null,
    databaseUrl: postgres.url,
    dataDir: path.dirname(sockets.api),
    version: '1.0.0',
    gateway: {} as Gateway,
    own: { platformSocket: sockets.api, trustedProxies: [] },
    sockets,
    lead,
    warmUp: async () => undefined,
    onReady: () => undefined,
    onLost: (reason) => assert.fail(reason),
    hasGatewayEnded: () => true,
    log: pino({ level: 'silent' }),
  })
  t.after(() => node.close())
}

interface Sockets {
  readonly api: string
  readonly operator: string
}

function socketsIn(t: TestContext): Sockets {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-lead-'))
  t.after(() => rm(folder, { recursive: true }))
  return { api: path.join(folder, 'api.sock'), operator: path.join(folder, 'operator.sock') }
}

// The socket was away until the application listened, for 0.7 to 1.7 s: clients were refused, or asked again up to 250 ms later.
test('a request that comes while the application of a new leader starts is accepted, and answered when it listens', async (t) => {
  const sockets = socketsIn(t)
  const begun = Promise.withResolvers<void>()
  const prepared = Promise.withResolvers<void>()
  const server = createListener((request, answer) => void answer.end(`answer to ${request.url}`))
  t.after(() => server.close())
  const starting = startNode(t, sockets, async ({ onListening }) => {
    begun.resolve()
    await prepared.promise
    await listenOnSocket(server, sockets.api, () => undefined)
    onListening('api')
    return { close: async () => void server.closeAllConnections() }
  })
  await begun.promise
  const early = await ask(sockets.api, '/early')
  prepared.resolve()
  assert.match(await answerOf(early), /answer to \/early$/)
  await starting
  assert.match(await answerOf(await ask(sockets.api, '/late')), /answer to \/late$/)
})

// Three calls to the engine, each with seconds of time on a busy machine, came before the first answer of a new leader.
test('a node that takes over answers before the engine does', async (t) => {
  const answers = Promise.withResolvers<void>()
  const prepared = Promise.withResolvers<string>()
  const asked: string[] = []
  const wrapRuntime = (engine: Runtime): Runtime => ({
    ...noCreateRuntime(engine),
    host: () => {
      asked.push('host')
      return answers.promise.then(() => engine.host())
    },
    prepare: () => answers.promise,
  })
  const node = {
    onListening: (socket: 'api' | 'operator') => socket === 'api' && assert.deepEqual(asked, []),
    onPrepared: () => prepared.resolve('prepared'),
  }
  const berth = await startBerth(t, { node, wrapRuntime })
  assert.equal((await berth.call('GET', '/api/user/me')).status, 401)
  assert.equal(await Promise.race([prepared.promise, sleep(100, 'not yet')]), 'not yet')
  answers.resolve()
  assert.equal(await prepared.promise, 'prepared')
})

test('a node that takes over starts no container until the host is prepared', async (t) => {
  const db = await openNodeTables(postgres.url)
  t.after(() => db.destroy())
  await prepareStore(db, postgres.url, 'x:1', { version: '1.0.0', protocol: protocolVersion })
  const before = { node: 'x:1', epoch: (await takeLease(db, 'x:1', 0)) ?? 0 }
  const leads = Promise.withResolvers<LeadParts>()
  await startNode(t, socketsIn(t), async (parts) => {
    leads.resolve(parts)
    return { close: async () => undefined }
  })
  await releaseLease(db, before)
  const { fence, onPrepared } = await leads.promise
  const started = fence({ start: async () => 'started' } as unknown as Runtime).start('x') as unknown as Promise<string>
  assert.equal(await Promise.race([started, sleep(200, 'held')]), 'held')
  onPrepared?.()
  assert.equal(await started, 'started')
})

/** @throws when it is refused */
async function ask(socketPath: string, target: string): Promise<Socket> {
  const socket = connect(socketPath)
  await once(socket, 'connect')
  socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  return socket
}

async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) text += String(chunk)
  return text.replace(/\r\n0\r\n\r\n$/, '')
}
