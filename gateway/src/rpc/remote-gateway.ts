import type {
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  TlsSettings,
  UseKind,
} from '#/port/gateway.ts'
import { ConnectionLost, RpcConnection, type Channel } from './rpc-connection.ts'
import {
  callTimeouts,
  maxItemsPerMessage,
  protocolVersion,
  type ControlPlaneRpc,
  type GatewayRpc,
} from './rpc-protocol.ts'

export interface RemoteGatewayOptions {
  /** The gateway process wants this one to finish what is under way and to end; whether another one takes its place. */
  readonly stop: (isReplaced: boolean) => void
  /** Receives bugs in messages and handlers. */
  readonly report: (problem: string) => void
}

/**
 * The gateway as the API process knows it: the port, over a channel. When a call rejects, the gateway may have acted on
 * it or not, and the whole state must be sent again (`replace`); when the gateway process is gone, every call rejects.
 */
export class RemoteGateway implements Gateway {
  readonly #rpc: RpcConnection<GatewayRpc>
  readonly #started = Promise.withResolvers<void>()
  #control: ControlPlane | undefined
  /** Resolves when the gateway process is gone. */
  readonly lost: Promise<void>

  constructor(channel: Channel, { stop, report }: RemoteGatewayOptions) {
    this.#rpc = new RpcConnection(channel, this.#handlers(stop), {
      report,
      lostError: () => new ConnectionLost('the gateway process is gone'),
    })
    this.lost = this.#rpc.lost
  }

  /** Notifies that this process is loaded and its settings are valid. Resolves when store and engine are its to use. */
  async awaitStart(): Promise<void> {
    this.#rpc.notify('loaded', [protocolVersion])
    await this.#started.promise
  }

  /** Readiness: notifies that requests are served. @param words printed when it is the first time since `npm start` */
  ready(words: string): void {
    this.#rpc.notify('ready', [words])
  }

  listen(host: string, port: number, tls: TlsSettings | null = null): Promise<number> {
    return this.#rpc.call('listen', [host, port, tls], callTimeouts.listen)
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    this.#control = control
    await this.#rpc.call('serve', [settings], callTimeouts.serve)
  }

  async replace(known: GatewayState): Promise<void> {
    // All in this turn: no other call comes between, and where a part finds no room, neither does the call that counts.
    this.#rpc.notify('beginReplace', [])
    for (const part of partsOf(known)) this.#rpc.notify('replacePart', [part])
    await this.#rpc.call('replace', [], callTimeouts.replace)
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    await Promise.all(slices(changes).map((slice) => this.#rpc.call('apply', [slice], callTimeouts.apply)))
  }

  hold(prefix: string, minIdle: number, by?: UseKind): Promise<boolean> {
    return this.#rpc.call('hold', by ? [prefix, minIdle, by] : [prefix, minIdle], callTimeouts.hold)
  }

  counts(): Promise<Readonly<Record<string, number>>> {
    return this.#rpc.call('counts', [], callTimeouts.counts)
  }

  #handlers(stop: RemoteGatewayOptions['stop']): ControlPlaneRpc {
    const control = () => {
      if (!this.#control) throw new Error('the control plane has not begun to serve')
      return this.#control
    }
    return {
      scopedToken: async (userId, prefix, acting) => control().scopedToken(userId, prefix, acting),
      renewSession: async (sid, userId, host, prefix) => control().renewSession(sid, userId, host, prefix),
      enterHost: async (code, prefix, browsers) => control().enterHost(code, prefix, browsers),
      sessionEnd: async (sid) => control().sessionEnd(sid),
      confirmState: async () => control().confirmState(),
      reportSessionUses: (uses) => control().reportSessionUses(uses),
      // A gateway process that is older than request ids, or than rights, sends none.
      wake: async (...args) => control().wake(...args),
      explain: async (prefix) => control().explain(prefix),
      listeningPorts: async (prefix) => control().listeningPorts(prefix),
      reportUnreachable: (prefix) => control().reportUnreachable(prefix),
      reportActivity: (activity) => control().reportActivity(activity),
      reportVisits: (visits) => control().reportVisits(visits),
      report: (problem, requestId) => control().report(problem, requestId),
      start: () => this.#started.resolve(),
      stop: (isReplaced = false) => stop(isReplaced),
      ping: () => Promise.resolve(),
    }
  }
}

function* partsOf({ users, routes, revoked, shares = [], shareGroups = [] }: GatewayState): Generator<GatewayState> {
  for (const part of slices(users)) yield { users: part, routes: [], revoked: [] }
  for (const part of slices(routes)) yield { users: [], routes: part, revoked: [] }
  for (const part of slices(revoked)) yield { users: [], routes: [], revoked: part }
  for (const part of slices(shares)) yield { users: [], routes: [], revoked: [], shares: part }
  for (const part of slices(shareGroups)) yield { users: [], routes: [], revoked: [], shareGroups: part }
}

function slices<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / maxItemsPerMessage) }, (_, at) =>
    all.slice(at * maxItemsPerMessage, (at + 1) * maxItemsPerMessage),
  )
}
