import type {
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayUser,
  RouteEntry,
  Unavailable,
} from '@berth/gateway/port/gateway.ts'
import { freePort } from '#test/support/free-port.ts'
import { Random } from '../fuzz/random.ts'
import { Absences } from './absences.ts'
import { History } from './history.ts'
import { LabelledApp } from './labelled-app.ts'
import { Sharing } from './sharing.ts'
import { Tunnels } from './tunnels.ts'

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

/** Who lives where from now on, and what the gateway is told beside it. */
interface Move {
  readonly prefix: Prefix
  /** undefined: nothing runs */
  readonly app: LabelledApp | undefined
  /** Left out: it is a new container. */
  readonly containerId?: string
  /** Left out: it crashed, or its record is gone. */
  readonly instead?: Unavailable
}

/** How often something happened that takes several steps. */
export interface WorldCounts {
  /** Containers that were removed and created anew, as for other parameters. */
  recreated: number
  /** Of these, those whose address went to another prefix before the gateway knew the new one. */
  taken: number
  /** Containers that were stopped while their homes were read or written, and started again. */
  stoppedForHome: number
  /** Containers that stayed paused while their homes were read. */
  pausedForHome: number
}

/** In steps of the world: the longest time that a container does not run until it is back. */
const maxAbsence = 30

/**
 * People, their containers and the addresses of a small engine, in which everything changes all the time: containers
 * start, move, die, are removed, are created anew with other parameters, do not run while their homes are read or
 * written, and an address that becomes free goes to the next container at once, whosever it is.
 */
export class World {
  readonly history = new History()
  readonly sharing: Sharing
  readonly prefixes: readonly Prefix[]
  readonly people: readonly GatewayUser[]
  readonly apps: readonly LabelledApp[]
  /** Changes that have been told. */
  changes = 0
  readonly tunnels: Tunnels
  readonly counts: WorldCounts = { recreated: 0, taken: 0, stoppedForHome: 0, pausedForHome: 0 }
  readonly #free: LabelledApp[]
  readonly #random: Random
  readonly #gateway: Gateway
  readonly #dead: Prefix[] = []
  readonly #absences = new Absences()
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
    this.tunnels = new Tunnels(
      (name, port) =>
        port === this.sharing.insidePort ? this.prefixes.find((one) => one.name === name)?.app : undefined,
      () => this.#random.below(20),
    )
    this.apps = this.prefixes.map((_, index) => new LabelledApp(`127.7.${1 + (index >> 7)}.${1 + (index & 127)}`))
    this.#free = [...this.apps]
  }

  /** Opens all addresses and gives most containers one. */
  async begin(settings: GatewaySettings): Promise<void> {
    // One number for all, which is free at the addresses of all.
    for (const app of this.apps) {
      app.furtherPort = this.sharing.furtherPort
      await app.listen()
      this.sharing.furtherPort = app.furtherPort
    }
    // Nothing listens there at the address of any app.
    const used = new Set(this.apps.flatMap(({ port, furtherPort }) => [port, furtherPort]))
    do this.sharing.insidePort = await freePort()
    while (used.has(this.sharing.insidePort))
    await this.#gateway.serve(settings, this.#control())
    await this.#gateway.replace({ users: this.people, routes: this.prefixes.map(({ place }) => place), revoked: [] })
    for (const prefix of this.prefixes.slice(0, Math.ceil(this.prefixes.length * 0.8))) await this.#start(prefix)
  }

  async end(): Promise<void> {
    await this.tunnels.close()
    for (const app of this.apps) await app.kill()
  }

  /** One thing happens. Resolves when the gateway has taken it in. */
  async step(): Promise<void> {
    const dead = this.#dead.shift()
    if (dead) return this.#bury(dead)
    if (await this.#absences.pass()) return
    const prefix = this.#random.oneOf(this.prefixes)
    if (prefix.isOwnersOnly && this.#random.happens(0.2)) return this.#share(prefix)
    if (this.#absences.has(prefix.name)) return
    const kind = this.#random.below(100)
    if (!prefix.app) await this.#start(prefix)
    else if (kind < 30) await this.#move(prefix)
    else if (kind < 40) await this.#stop(prefix)
    else if (kind < 50) await this.#replaceInPlace(prefix)
    else if (kind < 60) await this.#swap(prefix, this.#random.oneOf(this.prefixes))
    else if (kind < 70) await this.#kill(prefix)
    else if (kind < 75) await this.#hold(prefix)
    else if (kind < 87) await this.#recreate(prefix)
    else if (kind < 95) await this.#stopForHome(prefix)
    else await this.#pauseForHome(prefix)
  }

  /** On the address that became free last: most often another app's. */
  async #start(prefix: Prefix, containerId?: string): Promise<void> {
    const app = this.#free.pop()
    if (!app) return
    await this.#tell([{ prefix, app, ...(containerId && { containerId }) }])
  }

  async #move(prefix: Prefix): Promise<void> {
    const [from, to] = [prefix.app, this.#free.pop()]
    if (!to || !from) return
    await this.#tell([{ prefix, app: to }])
    await this.#release(from)
  }

  async #stop(prefix: Prefix): Promise<void> {
    const from = prefix.app
    await this.#tell([{ prefix, app: undefined }])
    if (from) await this.#release(from)
  }

  /** The engine gives a new container the address of the one before, of the same person. */
  async #replaceInPlace(prefix: Prefix): Promise<void> {
    await this.#tell([{ prefix, app: prefix.app }])
  }

  async #swap(one: Prefix, other: Prefix): Promise<void> {
    if (one === other || !other.app || this.#absences.has(other.name)) return
    await this.#tell([
      { prefix: one, app: other.app },
      { prefix: other, app: one.app },
    ])
  }

  /** Dies by itself; the gateway hears of it at the next step. */
  async #kill(prefix: Prefix): Promise<void> {
    await prefix.app?.kill()
    this.#dead.push(prefix)
  }

  async #bury(prefix: Prefix): Promise<void> {
    const { app } = prefix
    await this.#tell([{ prefix, app: undefined }])
    if (!app) return
    await app.listen()
    this.#free.push(app)
  }

  /**
   * A launch with other parameters: the container ends and is removed, and one with another id is created, while others get the
   * address. Now and then another one has it before the gateway hears of the end.
   */
  async #recreate(prefix: Prefix): Promise<void> {
    const { app: from } = prefix
    if (!from) return
    this.counts.recreated++
    this.#absences.begin(prefix.name, this.#absence(), async () => {
      if (!from.label.startsWith(`${prefix.name}:`)) this.counts.taken++
      await this.#start(prefix)
    })
    await this.#end(from)
    const taker = this.#random.oneOf(this.prefixes)
    if (this.#random.happens(0.3) && !this.#absences.has(taker.name)) await this.#move(taker)
    await this.#tell([{ prefix, app: undefined, instead: this.#random.happens(0.5) ? missing : asleep }])
  }

  /** A snapshot, or a restore: the container is stopped meanwhile. The same one starts after it, at any address. */
  async #stopForHome(prefix: Prefix): Promise<void> {
    const { app: from, place } = prefix
    const { where } = place
    if (!from || 'reason' in where || !(await this.#gateway.hold(prefix.name, 0))) return
    this.counts.stoppedForHome++
    const { containerId } = where
    this.#absences.begin(prefix.name, this.#absence(), () => this.#start(prefix, containerId))
    await this.#end(from)
    await this.#tell([{ prefix, app: undefined, instead: asleep }])
  }

  /** A snapshot of a container that is paused, and wakes after it: the same process at the same address. */
  async #pauseForHome(prefix: Prefix): Promise<void> {
    const { app, place, name } = prefix
    const { where } = place
    if (!app || 'reason' in where || !(await this.#gateway.hold(name, 0))) return
    this.counts.pausedForHome++
    this.#absences.begin(name, this.#absence(), () => this.#setPaused(prefix, app, false))
    await this.#setPaused(prefix, app, true)
  }

  async #setPaused(prefix: Prefix, app: LabelledApp, isPaused: boolean): Promise<void> {
    const { name, place } = prefix
    if ('reason' in place.where) return
    this.changes++
    this.history.begin(name, isPaused ? undefined : app.label)
    app.setPaused(isPaused)
    prefix.place = { ...place, where: { ...place.where, isPaused } }
    await this.#gateway.apply([{ kind: 'route', route: prefix.place }])
    this.history.settle(name)
  }

  #absence(): number {
    return 1 + this.#random.below(maxAbsence)
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
    if (this.#random.happens(0.5)) await this.#end(app)
    else this.#free.push(app)
  }

  /** Its address is free at once. Until it is another's it answers with the label of the app that is gone. */
  async #end(app: LabelledApp): Promise<void> {
    await app.kill()
    await app.listen()
    this.#free.push(app)
  }

  /** Changes who lives where, and tells the gateway in one step. */
  async #tell(moves: readonly Move[]): Promise<void> {
    const changes = moves.map((move) => this.#changeOf(move))
    this.changes += changes.length
    await this.#gateway.apply(changes)
    for (const { prefix } of moves) this.history.settle(prefix.name)
  }

  #changeOf({ prefix, app, containerId = `c${this.#generation + 1}`, instead }: Move): GatewayChange {
    const label = app && `${prefix.name}:${++this.#generation}`
    if (app && label) app.label = label
    this.history.begin(prefix.name, label)
    prefix.app = app
    const where = app && { containerId, host: app.host, port: app.port, isPaused: false }
    prefix.place = { ...prefix.place, where: where ?? instead ?? crashed }
    return where || instead || this.#random.happens(0.7)
      ? { kind: 'route', route: prefix.place }
      : { kind: 'route-gone', prefix: prefix.name }
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
        await this.#absences.settled(name)
        if (prefix) await this.#gateway.apply([{ kind: 'route', route: prefix.place }])
        return prefix?.app ? undefined : crashed
      },
      listeningPorts: async () => undefined,
      explain: async () => ({ unavailable: crashed, lastLines: [], displayName: 'x' }),
      reportUnreachable: () => {},
      reportActivity: () => {},
      reportVisits: () => {},
      report: () => {},
    }
  }
}

const crashed: Unavailable = { reason: 'crashed', exitCode: 1 }
const missing: Unavailable = { reason: 'missing', exitCode: null }
const asleep: Unavailable = { reason: 'asleep', exitCode: null }
