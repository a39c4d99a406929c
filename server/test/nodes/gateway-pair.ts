import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import { Follower } from '#/nodes/follower.ts'
import { GatewayGroup } from '#/nodes/gateway-group.ts'
import { acceptAsLeader } from '#/nodes/leader-relay.ts'
import { createLinkListener, listenForNodes } from '#/nodes/node-link.ts'
import type { Lifetime } from '../support/berth.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'

/** In ms: as `maxStateAge` of nodes, shorter, so that a cut costs less time; between two cuts; between attempts to connect. */
const [maxStateAge, cutEvery, followEvery] = [2_500, 8_000, 100]

export interface GatewayPair {
  /** Both, as the leader has them. */
  readonly gateway: Gateway
  /** The second one follows from now on, and loses its connection now and then. @returns its port */
  join(): Promise<number>
  /** How often it has lost it. */
  readonly cuts: number
}

/** The gateways of two nodes, as they are in two machines: with the RPC of nodes over TLS in between. */
export async function pairGateways(lifetime: Lifetime): Promise<GatewayPair> {
  const [near, far] = [createNetGateway(), createNetGateway()]
  const key = randomBytes(32)
  const address = { host: '127.0.0.1', port: await freePort() }
  const leader = { node: `${address.host}:${address.port}`, epoch: 1 }
  const report = () => undefined
  const group = new GatewayGroup({
    node: leader.node,
    local: near,
    others: [],
    mayOrder: () => true,
    report,
    hasLeft: async () => false,
    maxStateAge,
  })
  const over = new AbortController()
  const links = new Set<TLSSocket>()
  const sockets = { api: '/nowhere/api.sock', operator: '/nowhere/operator.sock' }
  const listener = createLinkListener(key, (hello, socket) => {
    links.add(socket)
    socket.once('close', () => links.delete(socket))
    acceptAsLeader(
      { leadership: { epoch: 1, isValid: true }, group, sockets, isServing: () => true, report },
      hello,
      socket,
    )
  })
  await listenForNodes(listener, address, () => undefined)
  const follower = new Follower({
    node: 'the other one',
    key,
    gateway: far,
    own: { platformSocket: '/nowhere/platform.sock', trustedProxies: [] },
    onJoined: report,
    onLost: report,
    onUnreached: report,
    report,
  })
  const pair = { gateway: group, cuts: 0, join: async () => 0 }
  const cut = () => {
    pair.cuts++
    for (const link of links) link.destroy()
  }
  const follow = async () => {
    for (; !over.signal.aborted; await sleep(followEvery)) follower.follow(leader)
  }
  pair.join = async () => {
    const port = await far.listen('127.0.0.1', 0)
    void follow()
    await waitFor('the other gateway', () => follower.isJoined)
    const timer = setInterval(cut, cutEvery)
    lifetime.after(async () => clearInterval(timer))
    return port
  }
  lifetime.after(async () => {
    over.abort()
    follower.stop()
    const closed = once(listener, 'close')
    listener.close()
    for (const link of links) link.destroy()
    await closed
    await Promise.all([near.close(0), far.close(0)])
  })
  return pair
}
