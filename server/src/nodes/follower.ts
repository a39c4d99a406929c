import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { Gateway, GatewaySettings } from '@berth/gateway/port/gateway.ts'
import { RemoteControlPlane } from '@berth/gateway/rpc/remote-control-plane.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import { channelOver } from '@berth/gateway/rpc/rpc-connection.ts'
import type { Reading } from './reading.ts'
import { acknowledged, connectToNode, linkAddressOf, type LinkPurpose, type LinkTicket } from './node-link.ts'

/** Health check of the connection to the leader, in ms: interval and timeout. */
const ping = { every: 1_000, timeout: 3_000 } as const

/** Settings of a gateway that are its own node's, whatever the leader's are. */
export type OwnSettings = Pick<GatewaySettings, 'platformSocket' | 'trustedProxies' | 'accessLog' | 'tracing'>

export interface FollowerParts {
  /** `NODE_ADDRESS` of this node. */
  readonly node: string
  readonly key: Buffer
  readonly gateway: Gateway
  readonly own: OwnSettings
  /** Answers requests at this node; left out: the leader answers all. */
  readonly reading?: Reading
  readonly onJoined: (leader: string) => void
  readonly onLost: (leader: string) => void
  /** The leader cannot be reached now; it is tried again. */
  readonly onUnreached: (leader: string, error: Error) => void
  readonly report: (problem: string) => void
}

interface Leader {
  readonly node: string
  readonly epoch: number
}

/** A leader that is followed. */
interface FollowedLeader extends Leader {
  readonly session: LinkTicket
}

/**
 * A follower: its gateway is connected to the leader, which sends it settings, state and changes, and answers its
 * calls.
 */
export class Follower {
  readonly #parts: FollowerParts
  #leader: FollowedLeader | undefined
  #socket: TLSSocket | undefined
  #isJoined = false
  /** To the leader that is followed. */
  #isConnecting = false
  /** Whether the last attempt failed, which is reported once. */
  #isUnreached = false
  /** Connections of requests to the leader, which a leader that is frozen would keep waiting. */
  readonly #requests = new Set<TLSSocket>()

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  /** Whether the gateway has the state of the leader. */
  get isJoined(): boolean {
    return this.#isJoined
  }

  /**
   * Follows this leader; called again and again, it connects anew when the connection was lost. It does not wait for
   * the connection, because a leader that is frozen, or a machine that is gone, would keep this node from taking its
   * lease meanwhile.
   */
  follow(leader: Leader): void {
    const isFollowed = leader.node === this.#leader?.node && leader.epoch === this.#leader.epoch
    if (isFollowed && (this.#isConnecting || (this.#socket && !this.#socket.destroyed))) return
    this.stop()
    void this.#begin((this.#leader = { ...leader, session: {} }))
  }

  /**
   * A connection to a Unix socket of the leader, which serves it.
   * @throws {Error} when there is none, or the leader stops
   */
  async connect(purpose: 'api' | 'operator'): Promise<TLSSocket> {
    if (!this.#isJoined) throw new Error('no leader is followed')
    const socket = await this.#connect(purpose)
    if (!this.#isJoined) socket.destroy()
    this.#requests.add(socket)
    socket.once('close', () => this.#requests.delete(socket))
    await acknowledged(socket)
    return socket
  }

  /** Nothing that the leader sent later reaches the gateway, and requests to it end. */
  stop(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#leader = undefined
    this.#isConnecting = false
    this.#leave()
  }

  /** Never rejects. @param leader an object of this attempt alone */
  async #begin(leader: FollowedLeader): Promise<void> {
    this.#isConnecting = true
    const socket = await this.#connect('gateway').catch((error: unknown) => error as Error)
    if (this.#leader !== leader) return void (socket instanceof Error || socket.destroy())
    this.#isConnecting = false
    if (!(socket instanceof Error)) return this.#join((this.#socket = socket), leader)
    if (!this.#isUnreached) this.#parts.onUnreached(leader.node, socket)
    this.#isUnreached = true
  }

  #leave(): void {
    this.#isJoined = false
    for (const socket of this.#requests) socket.destroy()
  }

  async #connect(purpose: LinkPurpose): Promise<TLSSocket> {
    const { node, key } = this.#parts
    const leader = this.#leader
    if (!leader) throw new Error('no leader is known')
    const hello = { purpose, node, epoch: leader.epoch, protocol: protocolVersion }
    return connectToNode(linkAddressOf(leader.node), key, hello, leader.session)
  }

  #join(socket: TLSSocket, leader: Leader): void {
    const { gateway, own, reading, onJoined, onLost, report } = this.#parts
    const isCurrent = () => this.#socket === socket
    let serves = 0
    const control = new RemoteControlPlane(channelOver(socket), {
      gateway: {
        // It listens by the settings of its own node.
        listen: (host, port, tls) => gateway.listen(host, port, tls),
        serve: async (settings, leading) => {
          const { reading: _, ...forGateway } = settings
          const turn = ++serves
          const control = reading?.watch(leading) ?? leading
          const read = reading?.serve(settings, leading)
          // At once, with all requests to the leader: routes are sent behind the settings, and do not wait for the
          // database.
          await gateway.serve({ ...forGateway, ...own }, control)
          const reader = await read
          // Meanwhile another leader may serve this gateway, or this node itself: a control plane that is gone confirms
          // nothing.
          if (!isCurrent()) throw new Error('this leader is followed no more')
          // While the database was slow a reload may have sent newer settings.
          if (reader && turn === serves) await gateway.serve({ ...forGateway, ...own, reader }, control)
        },
        replace: (state) => {
          reading?.replace(state.revoked)
          return gateway.replace(state)
        },
        apply: (changes) => {
          reading?.apply(changes)
          return gateway.apply(changes)
        },
        hold: (...args) => gateway.hold(...args),
        counts: async () => ({ ...(await gateway.counts()), ...reading?.counts() }),
      },
      report,
      onLoaded: () => undefined,
      onReady: () => {
        if (!isCurrent()) return
        this.#isJoined = true
        this.#isUnreached = false
        onJoined(leader.node)
      },
    })
    socket.once('close', () => {
      if (!isCurrent()) return
      if (this.#isJoined) onLost(leader.node)
      this.#leave()
    })
    void this.#watch(control, socket)
  }

  /** A leader that is frozen, or a machine that is gone, closes no connection. */
  async #watch(control: RemoteControlPlane, socket: TLSSocket): Promise<void> {
    try {
      while (!socket.destroyed) {
        await sleep(ping.every)
        await control.ping(ping.timeout)
      }
    } catch {
      socket.destroy()
    }
  }
}
