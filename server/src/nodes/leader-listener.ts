import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { RemoteGateway } from '@berth/gateway/link/remote-gateway.ts'
import { protocolVersion } from '@berth/gateway/link/rpc-protocol.ts'
import { channelOver } from '@berth/gateway/link/rpc-connection.ts'
import type { GatewayGroup } from './gateway-group.ts'
import type { Leadership } from './leadership.ts'
import { acknowledge, type Hello } from './node-link.ts'
import { joinSockets } from './socket-pipe.ts'

/** In ms: how long a gateway that has the state may take to ask whether it counts, and the interval at which that is checked. */
const [servingTimeout, pollEvery] = [5_000, 25]

export interface LeaderListenerParts {
  readonly leadership: Pick<Leadership, 'epoch' | 'isValid'>
  readonly group: GatewayGroup
  /** Unix sockets of this process. */
  readonly sockets: Readonly<Record<'api' | 'operator', string>>
  /** Whether the application listens there and does not stop: otherwise no request of another node is begun. */
  readonly isServing: (socket: 'api' | 'operator') => boolean
  readonly report: (problem: string) => void
}

/** What the leader does with a connection of another node: its gateway joins, its requests are answered here. */
export function acceptAsLeader(parts: LeaderListenerParts, hello: Hello, socket: TLSSocket): void {
  const { leadership, sockets, report } = parts
  if (hello.protocol !== protocolVersion) {
    report(
      `node ${hello.node} is refused: it speaks version ${hello.protocol} of the protocol, this one ${protocolVersion}`,
    )
    return void socket.destroy()
  }
  if (hello.epoch !== leadership.epoch || !leadership.isValid) return void socket.destroy()
  if (hello.purpose === 'gateway') return void joinGateway(parts, hello.node, socket)
  if (!parts.isServing(hello.purpose)) return void socket.destroy()
  serveRequests(socket, sockets[hello.purpose])
}

/** Without an acknowledgement the other node repeats its request at the next leader. */
function serveRequests(socket: TLSSocket, path: string): void {
  const near = connect(path)
  near.once('error', () => socket.destroy())
  socket.once('close', () => near.destroy())
  near.once('connect', () => {
    acknowledge(socket)
    joinSockets(socket, near)
  })
}

async function joinGateway({ group, report }: LeaderListenerParts, node: string, socket: TLSSocket): Promise<void> {
  const gateway = new RemoteGateway(channelOver(socket), {
    stop: () => undefined,
    report: (problem) => report(`between the nodes: ${problem}`),
  })
  socket.resume()
  void gateway.lost.then(() => group.lose(node, gateway))
  try {
    await group.join(node, gateway, () => socket.destroy())
    await untilServing(group, node)
    gateway.ready('')
  } catch {
    // It comes again; what it did not take, the group has reported.
    socket.destroy()
  }
}

/** A node is ready when its gateway lets requests pass. @throws {Error} when it does not within 5 s */
async function untilServing(group: GatewayGroup, node: string): Promise<void> {
  for (const until = performance.now() + servingTimeout; !group.current.includes(node); await sleep(pollEvery))
    if (performance.now() > until) throw new Error(`the gateway of node ${node} does not ask whether its state counts`)
}
