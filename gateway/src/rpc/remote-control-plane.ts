import type {
  ControlPlane,
  Explanation,
  ListeningPort,
  Gateway,
  GatewayState,
  HostEntry,
  RouteActivity,
  SessionUse,
  Unavailable,
  Visit,
} from '#/port/gateway.ts'
import { ConnectionLost, RpcConnection, type Channel } from './rpc-connection.ts'
import { callTimeouts, type ControlPlaneRpc, type GatewayRpc } from './rpc-protocol.ts'

/** The API process is gone; another one will come. What was asked of it may have been done. */
export class ControlPlaneLost extends ConnectionLost {
  constructor() {
    super('the control plane is gone; another one is being started')
  }
}

export interface RemoteControlPlaneOptions {
  /** What the API process speaks to. */
  readonly gateway: Gateway
  readonly onLoaded: (version: number) => void
  readonly onReady: (words: string) => void
  /** Where problems go that the control plane's log cannot take. */
  readonly report: (problem: string) => void
}

/**
 * The control plane as the gateway process knows it: one API process, from its start to its end, over a channel.
 * When that process is gone every question rejects with `ControlPlaneLost`; the gateway goes on with what it knows.
 */
export class RemoteControlPlane implements ControlPlane {
  readonly #rpc: RpcConnection<ControlPlaneRpc>
  readonly #report: (problem: string) => void
  #parts: GatewayState[] = []

  constructor(channel: Channel, options: RemoteControlPlaneOptions) {
    this.#report = options.report
    this.#rpc = new RpcConnection(channel, this.#handlers(options), {
      report: (problem) => this.report(problem),
      lostError: () => new ControlPlaneLost(),
    })
  }

  scopedToken(
    userId: number,
    prefix: string,
    acting: string | null,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    return this.#rpc.call('scopedToken', [userId, prefix, acting], callTimeouts.scopedToken)
  }

  renewSession(sid: string, userId: number, host: string, prefix: string | null): Promise<readonly string[]> {
    return this.#rpc.call('renewSession', [sid, userId, host, prefix], callTimeouts.renewSession)
  }

  enterHost(code: string, prefix: string, browsers: readonly string[]): Promise<HostEntry | undefined> {
    return this.#rpc.call('enterHost', [code, prefix, browsers], callTimeouts.enterHost)
  }

  sessionEnd(sid: string): Promise<number> {
    return this.#rpc.call('sessionEnd', [sid], callTimeouts.sessionEnd)
  }

  confirmState(): Promise<void> {
    return this.#rpc.call('confirmState', [], callTimeouts.confirmState)
  }

  /** A use that no control plane hears of is reported again within a minute. */
  reportSessionUses(uses: readonly SessionUse[]): void {
    this.#rpc.notify('reportSessionUses', [uses])
  }

  wake(...args: Parameters<ControlPlane['wake']>): Promise<Unavailable | undefined> {
    return this.#rpc.call('wake', args, callTimeouts.wake)
  }

  explain(prefix: string): Promise<Explanation> {
    return this.#rpc.call('explain', [prefix], callTimeouts.explain)
  }

  listeningPorts(prefix: string): Promise<readonly ListeningPort[] | undefined> {
    return this.#rpc.call('listeningPorts', [prefix], callTimeouts.listeningPorts)
  }

  /** Nothing is kept for a control plane that is gone: the next one looks at everything anyhow. */
  reportUnreachable(prefix: string): void {
    this.#rpc.notify('reportUnreachable', [prefix])
  }

  /** What was used while there was no control plane is not lost: `hold` knows when the last byte moved. */
  reportActivity(activity: readonly RouteActivity[]): void {
    this.#rpc.notify('reportActivity', [activity])
  }

  /** A visit that goes on is reported again within seconds. */
  reportVisits(visits: readonly Visit[]): void {
    this.#rpc.notify('reportVisits', [visits])
  }

  report(problem: string, requestId?: string): void {
    if (!this.#rpc.notify('report', [problem, requestId])) this.#report(problem)
  }

  start(): void {
    this.#rpc.notify('start', [])
  }

  /** @param isReplaced whether another API process takes its place */
  stop(isReplaced = false): void {
    this.#rpc.notify('stop', [isReplaced])
  }

  /** Resolves when the process answers. @param timeout in ms @throws {ConnectionLost} @throws {CallTimeout} */
  async ping(timeout: number): Promise<void> {
    await this.#rpc.callBeyondLimit('ping', [], timeout)
  }

  #handlers({ gateway, onLoaded, onReady }: RemoteControlPlaneOptions): GatewayRpc {
    return {
      listen: (host, port, tls) => gateway.listen(host, port, tls),
      serve: (settings) => gateway.serve(settings, this),
      beginReplace: () => void (this.#parts = []),
      replacePart: (part) => void this.#parts.push(part),
      replace: () => gateway.replace(this.#takeParts()),
      apply: (changes) => gateway.apply(changes),
      hold: (...args) => gateway.hold(...args),
      counts: () => gateway.counts(),
      loaded: onLoaded,
      ready: onReady,
    }
  }

  #takeParts(): GatewayState {
    const parts = this.#parts
    this.#parts = []
    return {
      users: parts.flatMap(({ users }) => users),
      routes: parts.flatMap(({ routes }) => routes),
      revoked: parts.flatMap(({ revoked }) => revoked),
      shares: parts.flatMap(({ shares = [] }) => shares),
      shareGroups: parts.flatMap(({ shareGroups = [] }) => shareGroups),
    }
  }
}
