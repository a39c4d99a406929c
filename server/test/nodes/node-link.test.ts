import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { Follower } from '#/nodes/follower.ts'
import { LeaderRelay, acceptAsLeader, type LeaderListenerParts } from '#/nodes/leader-relay.ts'
import {
  acknowledged,
  connectToNode,
  createLinkListener,
  linkAddressOf,
  listenForNodes,
  type Hello,
} from '#/nodes/node-link.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'

/** Connections between nodes. */

const key = randomBytes(32)
const hello: Hello = { purpose: 'gateway', node: '127.0.0.1:7070', epoch: 3, protocol: 1 }

async function startListener(t: TestContext) {
  const accepted: { hello: Hello; socket: TLSSocket }[] = []
  const server = createLinkListener(key, (first, socket) => accepted.push({ hello: first, socket }))
  const address = { host: '127.0.0.1', port: await freePort() }
  await listenForNodes(server, address, () => undefined)
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

test('a node resumes its session with the same leader, and begins anew with another process', async (t) => {
  const [{ accepted, address }, other] = [await startListener(t), await startListener(t)]
  const session = {}
  const isResumedAt = async (to: typeof address) => {
    const socket = await connectToNode(to, key, hello, session)
    t.after(() => socket.destroy())
    return socket.isSessionReused()
  }
  assert.deepEqual([await isResumedAt(address), await isResumedAt(address)], [false, true])
  await waitFor('both connections', () => accepted.length === 2)
  assert.equal(await isResumedAt(other.address), false)
  assert.equal(await isResumedAt(other.address), true)
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

async function startRelay(t: TestContext, leader: () => Promise<Duplex>, timeout?: number) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'berth-relay-')), 'api.sock')
  t.after(() => rm(path.dirname(file), { recursive: true }))
  const relay = new LeaderRelay(leader, timeout)
  await relay.listen(file, () => undefined)
  t.after(() => relay.close())
  return { relay, file }
}

test('a request that comes while no node leads waits, and the next leader serves it once', async (t) => {
  const seen: string[] = []
  const server = createServer((socket) => {
    t.after(() => socket.destroy())
    socket.on('data', (bytes) => seen.push(String(bytes)) && socket.end('answer'))
  })
  let leads = false
  const { file, relay } = await startRelay(t, async () => {
    if (!leads) throw new Error('no node leads')
    return connect(leaderFile)
  })
  const leaderFile = `${file}.leader`
  const [early, late] = [connect(file), connect(file)]
  for (const socket of [early, late]) socket.write('request')
  await sleep(150)
  assert.deepEqual(seen, [])
  await once(server.listen(leaderFile), 'listening')
  t.after(() => server.close())
  relay.close()
  leads = true
  for (const socket of [early, late]) assert.equal(String((await once(socket, 'data'))[0]), 'answer')
  assert.deepEqual(seen, ['request', 'request'])
})

// It was passed on to a leader that stopped, whose socket was closed already, and was answered with 503.
test('a request that a stopping leader does not begin is served by the next one', async (t) => {
  const seen: string[] = []
  const app = createServer((socket) => {
    t.after(() => socket.destroy())
    socket.on('data', (bytes) => seen.push(String(bytes)) && socket.end('answer'))
  })
  const startLeader = async (api: string, isServing: () => boolean) => {
    const leadership = { epoch: 3, isValid: true }
    const parts = { leadership, sockets: { api, operator: api }, isServing } as unknown as LeaderListenerParts
    const server = createLinkListener(key, (first, socket) => {
      t.after(() => socket.destroy())
      acceptAsLeader(parts, first, socket)
    })
    const address = { host: '127.0.0.1', port: await freePort() }
    await listenForNodes(server, address, () => undefined)
    t.after(() => server.close())
    return address
  }
  const asked: number[] = []
  let leader = { host: '', port: 0 }
  const { file } = await startRelay(t, async () => {
    asked.push(leader.port)
    const socket = await connectToNode(leader, key, { ...hello, purpose: 'api', protocol: protocolVersion })
    await acknowledged(socket)
    return socket
  })
  await once(app.listen(`${file}.app`), 'listening')
  t.after(() => app.close())
  const closed = await startLeader(`${file}.closed`, () => true)
  const stopping = await startLeader(`${file}.app`, () => false)
  const next = await startLeader(`${file}.app`, () => true)
  leader = closed
  const client = connect(file)
  client.write('request')
  for (const each of [closed, stopping]) {
    leader = each
    await waitFor('an attempt', () => asked.includes(each.port))
  }
  leader = next
  assert.equal(String((await once(client, 'data'))[0]), 'answer')
  assert.deepEqual(seen, ['request'])
})

test('a request that waits for a leader in vain is ended', async (t) => {
  const { file } = await startRelay(t, () => Promise.reject(new Error('no node leads')), 200)
  const socket = connect(file)
  socket.write('request')
  await once(socket.resume(), 'close')
})

// A check of a follower waited 3 s for the connection, and took a lease that had ended meanwhile that much later.
test('a follower of a leader that is frozen follows the next one at once, and reports one that refuses once', async (t) => {
  const { accepted, address } = await startListener(t)
  const frozen = createServer((socket) => void t.after(() => socket.destroy())).listen(0, '127.0.0.1')
  await once(frozen, 'listening')
  t.after(() => frozen.close())
  const unreached: string[] = []
  const follower = new Follower({
    node: 'a:1',
    key,
    gateway: {} as Gateway,
    own: { platformSocket: '', trustedProxies: [] },
    onJoined: () => undefined,
    onLost: () => undefined,
    onUnreached: (node) => void unreached.push(node),
    report: () => undefined,
  })
  t.after(() => follower.stop())
  follower.follow({ node: `127.0.0.1:${(frozen.address() as AddressInfo).port}`, epoch: 1 })
  await once(frozen, 'connection')
  follower.follow({ node: `127.0.0.1:${address.port}`, epoch: 2 })
  await waitFor('the connection to the next leader', () => accepted.length === 1, 20_000)
  assert.equal(accepted[0]?.hello.epoch, 2)
  const refusing = { node: `127.0.0.1:${await freePort()}`, epoch: 3 }
  const follow = () => follower.follow(refusing)
  await waitFor('the refusal', () => (follow(), unreached.length > 0), 20_000)
  for (let attempt = 0; attempt < 4; attempt++, await sleep(50)) follow()
  assert.deepEqual(unreached, [refusing.node])
})

test('addresses of nodes are names, IPv4 or IPv6 addresses with a port', () => {
  assert.deepEqual(linkAddressOf('[fd00::1]:7070'), { host: 'fd00::1', port: 7070 })
  assert.deepEqual(linkAddressOf('berth-0.berth:7070'), { host: 'berth-0.berth', port: 7070 })
})
