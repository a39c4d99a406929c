import type { Absence, Activity, ControlPlane, Explanation, Gateway, Known } from '#/gateway/gateway.ts'
import type { Channel } from './channel.ts'
import { Link, LinkLost } from './link.ts'
import { limits, type ControlSide, type GatewaySide } from './wire.ts'

/** The API process is gone; another one will come. What was asked of it may have been done. */
export class ControlPlaneLost extends LinkLost {
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
  readonly #link: Link<ControlSide>
  readonly #report: (problem: string) => void
  #parts: Known[] = []

  constructor(channel: Channel, options: RemoteControlPlaneOptions) {
    this.#report = options.report
    this.#link = new Link(channel, this.#answers(options), {
      report: (problem) => this.report(problem),
      lostError: () => new ControlPlaneLost(),
    })
  }

  scopedToken(
    userId: number,
    prefix: string,
    acting: string | null,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    return this.#link.ask('scopedToken', [userId, prefix, acting], limits.scopedToken)
  }

  wake(prefix: string): Promise<Absence | undefined> {
    return this.#link.ask('wake', [prefix], limits.wake)
  }

  explain(prefix: string): Promise<Explanation> {
    return this.#link.ask('explain', [prefix], limits.explain)
  }

  /** Nothing is kept for a control plane that is gone: the next one looks at everything anyhow. */
  suspect(prefix: string): void {
    this.#link.tell('suspect', [prefix])
  }

  /** What was used while there was no control plane is not lost: `hold` knows when the last byte moved. */
  used(activity: readonly Activity[]): void {
    this.#link.tell('used', [activity])
  }

  report(problem: string): void {
    if (!this.#link.tell('report', [problem])) this.#report(problem)
  }

  start(): void {
    this.#link.tell('start', [])
  }

  /** @param isReplaced whether another API process takes its place */
  stop(isReplaced = false): void {
    this.#link.tell('stop', [isReplaced])
  }

  /** Resolves when the process answers. @param limit in ms @throws {LinkLost} @throws {CallOverdue} */
  async ping(limit: number): Promise<void> {
    await this.#link.ask('ping', [], limit)
  }

  #answers({ gateway, onLoaded, onReady }: RemoteControlPlaneOptions): GatewaySide {
    return {
      listen: (host, port) => gateway.listen(host, port),
      serve: (settings) => gateway.serve(settings, this),
      beginReplace: () => void (this.#parts = []),
      replacePart: (part) => void this.#parts.push(part),
      replace: () => gateway.replace(this.#takeParts()),
      apply: (changes) => gateway.apply(changes),
      hold: (prefix, quietFor) => gateway.hold(prefix, quietFor),
      counts: () => gateway.counts(),
      loaded: onLoaded,
      ready: onReady,
    }
  }

  #takeParts(): Known {
    const parts = this.#parts
    this.#parts = []
    return {
      people: parts.flatMap(({ people }) => people),
      places: parts.flatMap(({ places }) => places),
      revoked: parts.flatMap(({ revoked }) => revoked),
    }
  }
}
