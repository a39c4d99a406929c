import type { Change, ControlPlane, Gateway, GatewaySettings, Known } from '#/gateway/gateway.ts'
import type { Channel } from './channel.ts'
import { Link, LinkLost } from './link.ts'
import { limits, partSize, wireVersion, type ControlSide, type GatewaySide } from './wire.ts'

export interface RemoteGatewayOptions {
  /** The gateway process wants this one to finish what is under way and to end; whether another one takes its place. */
  readonly stop: (isReplaced: boolean) => void
  /** Told of bugs in what crosses. */
  readonly report: (problem: string) => void
}

/**
 * The gateway as the API process knows it: the port, over a channel. When a call rejects, the gateway may have acted on
 * it or not, and everything has to be told anew (`replace`); when the gateway process is gone, every call rejects.
 */
export class RemoteGateway implements Gateway {
  readonly #link: Link<GatewaySide>
  readonly #started = Promise.withResolvers<void>()
  #control: ControlPlane | undefined
  /** Resolves when the gateway process is gone. */
  readonly lost: Promise<void>

  constructor(channel: Channel, { stop, report }: RemoteGatewayOptions) {
    this.#link = new Link(channel, this.#answers(stop), {
      report,
      lostError: () => new LinkLost('the gateway process is gone'),
    })
    this.lost = this.#link.lost
  }

  /** Says that this process is loaded and its settings are right. Resolves when store and engine are its to use. */
  async awaitStart(): Promise<void> {
    this.#link.tell('loaded', [wireVersion])
    await this.#started.promise
  }

  /** Says that requests are answered. @param words printed when it is the first time since `npm start` */
  ready(words: string): void {
    this.#link.tell('ready', [words])
  }

  listen(host: string, port: number): Promise<number> {
    return this.#link.ask('listen', [host, port], limits.listen)
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    this.#control = control
    await this.#link.ask('serve', [settings], limits.serve)
  }

  async replace(known: Known): Promise<void> {
    // All in this turn: no other call comes between, and where a part finds no room, neither does the call that counts.
    this.#link.tell('beginReplace', [])
    for (const part of partsOf(known)) this.#link.tell('replacePart', [part])
    await this.#link.ask('replace', [], limits.replace)
  }

  async apply(changes: readonly Change[]): Promise<void> {
    await Promise.all(slices(changes).map((slice) => this.#link.ask('apply', [slice], limits.apply)))
  }

  hold(prefix: string, quietFor: number): Promise<boolean> {
    return this.#link.ask('hold', [prefix, quietFor], limits.hold)
  }

  counts(): Promise<Readonly<Record<string, number>>> {
    return this.#link.ask('counts', [], limits.counts)
  }

  #answers(stop: RemoteGatewayOptions['stop']): ControlSide {
    const control = () => {
      if (!this.#control) throw new Error('the control plane has not begun to serve')
      return this.#control
    }
    return {
      scopedToken: async (userId, prefix, acting) => control().scopedToken(userId, prefix, acting),
      wake: async (prefix) => control().wake(prefix),
      explain: async (prefix) => control().explain(prefix),
      suspect: (prefix) => control().suspect(prefix),
      used: (activity) => control().used(activity),
      report: (problem) => control().report(problem),
      start: () => this.#started.resolve(),
      stop: (isReplaced = false) => stop(isReplaced),
      ping: () => Promise.resolve(),
    }
  }
}

function* partsOf({ people, places, revoked }: Known): Generator<Known> {
  for (const part of slices(people)) yield { people: part, places: [], revoked: [] }
  for (const part of slices(places)) yield { people: [], places: part, revoked: [] }
  for (const part of slices(revoked)) yield { people: [], places: [], revoked: part }
}

function slices<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / partSize) }, (_, at) =>
    all.slice(at * partSize, (at + 1) * partSize),
  )
}
