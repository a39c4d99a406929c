import type { Unavailable, GatewayChange, GatewayUser, RouteEntry } from '#/gateway/gateway-state.ts'
import type { ControlPlane, Gateway } from '#/gateway/gateway.ts'
import type { GatewaySettings } from '#/gateway/gateway-settings.ts'
import { Random } from '../fuzz/random.ts'
import { History } from './history.ts'
import { LabelledApp } from './labelled-app.ts'
import { Sharing } from './sharing.ts'

const typeNames = ['a', 'b', 'c', 'd', 'e'] as const
/** Containers of these types are for their owners only. */
export const ownersOnly = new Set<string>(['a', 'b', 'c'])

export interface Prefix {
  readonly name: string
  readonly ownerId: number
  readonly isOwnersOnly: boolean
  app: LabelledApp | undefined
  place: RouteEntry
}

/**
 * People, their containers and the addresses of a small engine, in which everything changes all the time: containers
 * start, move, die, are removed, and an address that becomes free goes to the next container at once, whosever it is.
 */
export class World {
  readonly history = new History()
  readonly sharing: Sharing
  readonly prefixes: readonly Prefix[]
  readonly people: readonly GatewayUser[]
  readonly apps: readonly LabelledApp[]
  /** Changes that have been told. */
  changes = 0
  readonly #free: LabelledApp[]
  readonly #random: Random
  readonly #gateway: Gateway
  readonly #dead: Prefix[] = []
  #generation = 0

  constructor(gateway: Gateway, peopleCount: number, seed: number) {
    this.#gateway = gateway
    this.#random = new Random(seed)
    const ids = Array.from({ length: peopleCount }, (_, index) => index + 1)
    this.people = ids.map((userId) => ({
      userId,
      slug: `u${userId}`,
      email: `u${userId}@example.org`,
      isBlocked: false,
      isAdmin: false,
      createdAt: 0,
    }))
    this.prefixes = ids.flatMap((ownerId) =>
      typeNames.map((type) => {
        const name = `u${ownerId}-${type}`
        const place: RouteEntry = { prefix: name, ownerId, type, isBlocked: false, where: crashed }
        return { name, ownerId, isOwnersOnly: ownersOnly.has(type), app: undefined, place }
      }),
    )
    const emails = this.people.map(({ email }) => email)
    this.sharing = new Sharing(this.history, new Random(seed ^ 0x5eed), emails)
    this.apps = this.prefixes.map((_, index) => new LabelledApp(`127.7.${1 + (index >> 7)}.${1 + (index & 127)}`))
    this.#free = [...this.apps]
  }

  /** Opens all addresses and gives most containers one. */
  async begin(settings: GatewaySettings): Promise<void> {
    for (const app of this.apps) await app.listen()
    await this.#gateway.serve(settings, this.#control())
    await this.#gateway.replace({ users: this.people, routes: this.prefixes.map(({ place }) => place), revoked: [] })
    for (const prefix of this.prefixes.slice(0, Math.ceil(this.prefixes.length * 0.8))) await this.#start(prefix)
  }

  async end(): Promise<void> {
    for (const app of this.apps) await app.kill()
  }

  /** One thing happens. Resolves when the gateway has taken it in. */
  async step(): Promise<void> {
    const dead = this.#dead.shift()
    if (dead) return this.#bury(dead)
    const prefix = this.#random.oneOf(this.prefixes)
    if (prefix.isOwnersOnly && this.#random.happens(0.2)) return this.#share(prefix)
    const kind = this.#random.below(100)
    if (!prefix.app) await this.#start(prefix)
    else if (kind < 45) await this.#move(prefix)
    else if (kind < 60) await this.#stop(prefix)
    else if (kind < 75) await this.#replaceInPlace(prefix)
    else if (kind < 85) await this.#swap(prefix, this.#random.oneOf(this.prefixes))
    else if (kind < 95) await this.#kill(prefix)
    else await this.#hold(prefix)
  }

  /** On the address that became free last: most often another app's. */
  async #start(prefix: Prefix): Promise<void> {
    const app = this.#free.pop()
    if (!app) return
    await this.#tell([[prefix, app]])
  }

  async #move(prefix: Prefix): Promise<void> {
    const [from, to] = [prefix.app, this.#free.pop()]
    if (!to || !from) return
    await this.#tell([[prefix, to]])
    await this.#release(from)
  }

  async #stop(prefix: Prefix): Promise<void> {
    const from = prefix.app
    await this.#tell([[prefix, undefined]])
    if (from) await this.#release(from)
  }

  /** The engine gives a new container the address of the one before, of the same person. */
  async #replaceInPlace(prefix: Prefix): Promise<void> {
    await this.#tell([[prefix, prefix.app]])
  }

  async #swap(one: Prefix, other: Prefix): Promise<void> {
    if (one === other || !other.app) return
    await this.#tell([
      [one, other.app],
      [other, one.app],
    ])
  }

  /** Dies by itself; the gateway hears of it at the next step. */
  async #kill(prefix: Prefix): Promise<void> {
    await prefix.app?.kill()
    this.#dead.push(prefix)
  }

  async #bury(prefix: Prefix): Promise<void> {
    const { app } = prefix
    await this.#tell([[prefix, undefined]])
    if (!app) return
    await app.listen()
    this.#free.push(app)
  }

  async #share({ name }: Prefix): Promise<void> {
    this.changes++
    await this.sharing.change(name, (change) => this.#gateway.apply([change]))
  }

  async #hold(prefix: Prefix): Promise<void> {
    this.changes++
    await this.#gateway.hold(prefix.name, 0)
    await this.#gateway.apply([{ kind: 'route', route: prefix.place }])
  }

  /** Half of the old containers end at once, half live on for a while with their connections open. */
  async #release(app: LabelledApp): Promise<void> {
    if (this.#random.happens(0.5)) {
      await app.kill()
      await app.listen()
    }
    this.#free.push(app)
  }

  /** Changes who lives where, and tells the gateway in one step. */
  async #tell(moves: readonly (readonly [Prefix, LabelledApp | undefined])[]): Promise<void> {
    const changes = moves.map(([prefix, app]): GatewayChange => {
      const label = app && `${prefix.name}:${++this.#generation}`
      if (app && label) app.label = label
      this.history.begin(prefix.name, label)
      prefix.app = app
      const where = app && { containerId: `c${this.#generation}`, host: app.host, port: app.port, isPaused: false }
      prefix.place = { ...prefix.place, where: where ?? crashed }
      return where || this.#random.happens(0.7)
        ? { kind: 'route', route: prefix.place }
        : { kind: 'route-gone', prefix: prefix.name }
    })
    this.changes += changes.length
    await this.#gateway.apply(changes)
    for (const [prefix] of moves) this.history.settle(prefix.name)
  }

  #control(): ControlPlane {
    return {
      scopedToken: async () => ({ token: 'scoped', expiresAt: Date.now() + 900_000 }),
      renewSession: async () => [],
      enterHost: async () => undefined,
      sessionEnd: async () => 0,
      confirmState: async () => undefined,
      reportSessionUses: () => {},
      wake: async (name) => {
        const prefix = this.prefixes.find((one) => one.name === name)
        if (prefix) await this.#gateway.apply([{ kind: 'route', route: prefix.place }])
        return prefix?.app ? undefined : crashed
      },
      explain: async () => ({ unavailable: crashed, lastLines: [], displayName: 'x' }),
      reportUnreachable: () => {},
      reportActivity: () => {},
      reportVisits: () => {},
      report: () => {},
    }
  }
}

const crashed: Unavailable = { reason: 'crashed', exitCode: 1 }
