import { once } from 'node:events'
import { chmod, rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { acceptErrors } from '@berth/gateway/basics/bind.ts'
import { RemoteGateway } from '@berth/gateway/rpc/remote-gateway.ts'
import { channelOver } from '@berth/gateway/rpc/rpc-connection.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import type { GatewayGroup } from './gateway-group.ts'
import type { Leadership } from './leadership.ts'
import { acknowledge, type Hello } from './node-link.ts'

/** Length of the queue, which the API's own listener has, too: with a short one a crowd is refused. */
const backlog = 4_096

/** In ms: how long a connection waits for a leader, which a takeover takes, and the interval of attempts. */
const [connectTimeout, retryEvery] = [10_000, 100]

/**
 * In the place of a follower's API: passes each connection to one of its Unix sockets on to the same socket of the
 * leader. While no leader is followed, connections wait: nothing of them has been read, so that the next leader serves
 * them, this node or another. After 10 s they are closed, and the gateway answers that Berth restarts. An application
 * of this node replaces the path when it listens; until then connections are accepted here.
 */
export class LeaderRelay {
  readonly #server: Server
  /** Ends the pause of each connection that waits. */
  readonly #waiting = new Set<() => void>()
  readonly #connect: () => Promise<Duplex>

  readonly #timeout: number

  /** @param connect a connection to the leader's socket; rejects when there is none @param timeout for tests, in ms */
  constructor(connect: () => Promise<Duplex>, timeout = connectTimeout) {
    this.#connect = connect
    this.#timeout = timeout
    this.#server = createServer((near) => void this.#pass(near))
  }

  /** @param report as of `acceptErrors` @throws {Error} when the socket cannot be made */
  async listen(socketPath: string, report: (problem: string) => void): Promise<void> {
    // Closing removes the path that was bound, which would be the application's by then: so it is bound by another
    // name, as long.
    const bound = socketPath.replace(/\.sock$/, '.wait')
    await rm(bound, { force: true })
    this.#server.listen({ path: bound, backlog })
    await once(this.#server, 'listening')
    this.#server.on('error', acceptErrors(report))
    await chmod(bound, 0o600)
    await rename(bound, socketPath)
  }

  /** Accepts no more; what waits, and what a leader serves, goes on. The path is left to its next listener. */
  close(): void {
    this.#server.close()
  }

  /** To be called when a leader serves requests: what waits for one finds it at once, and not at its next attempt. */
  retry(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Never rejects. */
  async #pass(near: Socket): Promise<void> {
    near.on('error', () => {}).pause()
    for (const until = performance.now() + this.#timeout; !near.destroyed; await this.#pause()) {
      const far = await this.#connect().catch(() => undefined)
      if (far) return joinSockets(near, far)
      if (performance.now() > until) near.destroy()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, retryEvery)
      this.#waiting.add(wake)
    })
  }
}

/**
 * In ms: how long a gateway that has the state may take to ask whether it counts, and the interval at which that is
 * checked.
 */
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

/** Bytes both ways, until either side is gone. */
function joinSockets(near: Duplex, far: Duplex): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => {})
    one.once('close', () => other.destroy())
    one.pipe(other)
  }
}
