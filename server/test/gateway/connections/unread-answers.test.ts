import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite, test, type TestContext } from 'node:test'
import { startGatewayHarness, type HarnessGateway } from '#test/support/gateway/gateway-harness.ts'
import { headOf } from '#test/support/gateway/http-text.ts'
import { clientFrom, get, until } from '#test/support/gateway/raw-client.ts'
import { httpApp, plainApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { pollUntil } from '#test/support/control-plane.ts'

/** Connections of one network that reads nothing. */
const silentNetwork = '127.0.0.3'
/**
 * Bytes of all clients together. One connection holds up to 256 KiB, so that a client which reads, in a network of its
 * own, never holds more than the silent network.
 */
const limit = 600_000
/** Each holds 64 KB at least, so that seven have to be closed. */
const silentClients = 17

/** More than the kernel takes for a client on the loopback that reads nothing. */
const page = Buffer.alloc(16_000_000, 'x')
const largePages = () => httpApp((_request, response) => void response.end(page))

const anonymous = (target: string) => headOf(`GET ${target} HTTP/1.1`, 'Host: spawner.test')
const byAnn = (target: string) =>
  headOf(`GET ${target} HTTP/1.1`, 'Host: spawner.test', `Authorization: ${ann.authorization}`)

/** A client that asks, and reads nothing before it is resumed. */
async function silentClient(t: TestContext, port: number, address: string, text: string): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: address }).on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Resolves when connections were closed to make room, at least so many. */
function untilClosed(gateway: HarnessGateway, count: number): Promise<void> {
  return pollUntil(
    async () => ((await gateway.counts())['berth_gateway_connections_evicted_total'] ?? 0) >= count,
    () => `${count} are not closed`,
  )
}

/** Resolves when it has read a whole page. */
function untilRead(client: net.Socket): Promise<void> {
  return pollUntil(
    () => client.bytesRead > page.length,
    () => `only ${client.bytesRead} bytes`,
  )
}

/**
 * Resolves when a count that this process makes rises no more. Many short waits: after one long wait in which the
 * process did not run, it would be as before although more is to come.
 */
async function untilQuiet(count: () => number): Promise<void> {
  for (let [before, same] = [-1, 0]; same < 50; await sleep(10)) {
    same = count() === before ? same + 1 : 0
    before = count()
  }
}

/** Clients that read nothing of their answers: what waits for them takes memory of the gateway. */
suite('answers that are not read', () => {
  // Eight readers of the description of the API from two addresses kept all others out for two minutes, again and again.
  test('clients that read nothing of a page do not keep others out', async (t) => {
    const options = { limits: { connections: 8 } }
    const platform = largePages()
    let asked = 0
    platform.on('request', () => void asked++)
    const { port, gateway } = await startGatewayHarness(t, plainApp(), { platform, options })
    for (let each = 0; each < 8; each++)
      await silentClient(t, port, `127.0.0.${each % 2 === 0 ? 2 : 3}`, anonymous('/api/openapi.json'))
    await until('all have asked', () => asked === 8)
    const isServed = () =>
      get(port, '/ann-dev/', { headers: ann }).then(
        ({ status }) => status === 200,
        () => false,
      )
    await pollUntil(isServed, () => 'a new client is not served')
    assert.ok(((await gateway.counts())['berth_gateway_connections_evicted_total'] ?? 0) > 0)
  })

  // 260 KB each, for up to 10,000 connections of one address.
  test('pages that wait for their clients are bounded in all: those that read nothing for the longest time are closed', async (t) => {
    const options = { limits: { unreadAnswers: limit } }
    const { port, gateway } = await startGatewayHarness(t, plainApp(), { platform: largePages(), options })
    for (let each = 0; each < silentClients; each++)
      await silentClient(t, port, silentNetwork, anonymous('/api/openapi.json'))
    await untilClosed(gateway, 7)
    const last = await silentClient(t, port, '127.0.0.2', anonymous('/api/openapi.json'))
    last.resume()
    await untilRead(last)
  })

  test('answers of a public app that wait for clients without an account are bounded with them', async (t) => {
    const options = { limits: { unreadAnswers: 300_000 } }
    const app = httpApp((_request, response) => void response.end(Buffer.alloc(50_000)))
    const { port, gateway } = await startGatewayHarness(t, app, { rules: { access: 'public' }, options })
    for (let each = 0; each < 11; each++)
      await silentClient(t, port, `127.0.1.${each}`, anonymous('/ann-dev/').repeat(300))
    await untilClosed(gateway, 1)
  })

  // They were counted when the app had sent all, which one with a large file never does.
  test('so are answers that a public app is still sending', async (t) => {
    const options = { limits: { unreadAppAnswers: limit } }
    const { port, gateway } = await startGatewayHarness(t, largePages(), { rules: { access: 'public' }, options })
    for (let each = 0; each < silentClients; each++) await silentClient(t, port, silentNetwork, anonymous('/ann-dev/'))
    await untilClosed(gateway, 7)
    const last = await silentClient(t, port, '127.0.0.2', anonymous('/ann-dev/'))
    last.resume()
    await untilRead(last)
  })

  test('one network has no answer of another one closed, not even an older one', async (t) => {
    const options = { limits: { unreadAnswers: limit } }
    const platform = largePages()
    let asked = 0
    platform.on('request', () => void asked++)
    const { port, gateway } = await startGatewayHarness(t, plainApp(), { platform, options })
    const slow = await silentClient(t, port, '127.0.0.2', anonymous('/api/openapi.json'))
    await until('it has asked', () => asked === 1)
    await untilQuiet(() => slow.bytesRead)
    for (let each = 0; each < silentClients; each++)
      await silentClient(t, port, silentNetwork, anonymous('/api/openapi.json'))
    await untilClosed(gateway, 7)
    slow.resume()
    await untilRead(slow)
  })

  // The end of an answer waited for its client without being counted, on as many connections as there may be. Not those of a network
  // without an account, which may be a school on a slow line: they are bounded in bytes.
  test('a request of a user to an app counts until its answer is read', async (t) => {
    let served = 0
    const app = httpApp((_request, response) => {
      served++
      response.end(Buffer.alloc(50_000))
    })
    const options = { limits: { requestsPerPerson: 3 } }
    const { port } = await startGatewayHarness(t, app, { rules: { access: 'public' }, options })
    const statusOf = async (text: string) => {
      const client = await clientFrom(t, port, '127.0.0.2')
      client.write(text)
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await client.expect(/^HTTP\/1\.1 \d+/)) ?? []
      client.socket.destroy()
      return status
    }
    const silent: net.Socket[] = []
    for (let each = 0; each < 3; each++)
      silent.push(await silentClient(t, port, '127.0.0.2', byAnn('/ann-dev/').repeat(300)))
    await untilQuiet(() => served)
    assert.ok(served < 900, 'the kernel takes all of it')
    assert.equal(await statusOf(byAnn('/ann-dev/')), '429')
    for (let each = 0; each < 4; each++)
      silent.push(await silentClient(t, port, '127.0.0.2', anonymous('/ann-dev/').repeat(300)))
    await untilQuiet(() => served)
    assert.equal(await statusOf(anonymous('/ann-dev/')), '200')
    for (const client of silent) client.resume()
    await pollUntil(
      async () => (await statusOf(byAnn('/ann-dev/'))) === '200',
      () => 'they are read, and count still',
    )
  })
})
