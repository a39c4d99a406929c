import type { Address, Activity, Place, TypeRules } from '../gateway.ts'
import type { AppConnection } from './app-connection.ts'
import { clock } from './clock.ts'
import { Streams } from './stream.ts'
import { TokenCache } from './token-cache.ts'

/**
 * How long a hold counts, in ms: longer than any pause or stop takes that it is for. Whoever holds a place ends that by
 * telling it anew; should that never come, nobody is to wait for it for ever.
 */
const maxHold = 60_000
/** Connections to one app that are kept for its next requests. */
const mostIdle = 64

/** Something that requests are sent to: a container's app, or the platform itself. */
export interface Upstream {
  /** For logs: never a secret. */
  readonly name: string
  /** Where it is reached now; undefined when it is not. */
  readonly address: AppAddress | undefined
  /** It has answered at this address: a refused connection means that it ended, not that it is still starting. */
  hasAnswered: boolean
  /** Requests and WebSockets under way. */
  readonly streams: Streams
  takeIdle(): AppConnection | undefined
  keepIdle(connection: AppConnection): void
  forgetIdle(connection: AppConnection): void
  /** Bytes moved. */
  touch(): void
}

export type AppAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** Idle connections to one upstream. The one used last is used first, so that the others may end. */
export class IdleConnections {
  readonly #stack: AppConnection[] = []
  readonly #inUse: Set<IdleConnections>

  /** @param inUse the list of those that have any, which this one enters by itself: looking at 10,000 routes takes 5 ms */
  constructor(inUse: Set<IdleConnections>) {
    this.#inUse = inUse
  }

  take(): AppConnection | undefined {
    return this.#stack.pop()
  }

  keep(connection: AppConnection): void {
    if (this.#stack.length >= mostIdle) return connection.destroy()
    if (this.#stack.push(connection) === 1) this.#inUse.add(this)
  }

  forget(connection: AppConnection): void {
    const index = this.#stack.indexOf(connection)
    if (index !== -1) this.#stack.splice(index, 1)
  }

  /** Ends those that nobody has used since then (ms since 1970). */
  endOlder(than: number): void {
    while (this.#stack[0] && this.#stack[0].idleSince < than) this.#stack.shift()?.destroy()
    if (this.#stack.length === 0) this.#inUse.delete(this)
  }

  endAll(): void {
    for (const connection of this.#stack.splice(0)) connection.destroy()
  }
}

/** Of 100,000 routes few have anything that time changes: these, so that nobody has to look at all. */
export interface RouteLists {
  readonly idle: Set<IdleConnections>
  /** Routes to which something is open; who reads it takes those out that are not any more. */
  readonly open: Set<Route>
  readonly tokens: Set<TokenCache>
}

/** One container's place, with everything that is open to it. Connections belong to one address of one container for ever. */
export class Route implements Upstream {
  #place: Place
  #address: Address | undefined
  /** Until when nobody may connect, by `clock.now`; 0: it is not held. */
  #heldUntil = 0
  /**
   * Where everything that is open leads. An engine that is silent says nothing about the containers: what is open to them
   * stays, and is cut when the engine is back and says that it was wrong.
   */
  #openedAt: Place['where']
  readonly rules: TypeRules
  readonly idle: IdleConnections
  readonly streams: Streams
  /** By user, and by who acts for them; see `scoped-tokens.ts`. */
  readonly scopedTokens: TokenCache
  /** Tokens that were asked for, likewise. */
  readonly askedTokens = new Map<string, Promise<string | undefined>>()
  hasAnswered = false
  /** By `clock.now`. */
  lastByteAt = clock.now
  /** Set while it waits in the list of routes that were used. */
  #isTouched = false
  readonly #touched: Route[]

  /**
   * @param touched the list that this route enters when bytes move, until `report` takes it out
   * @param lists what routes enter by themselves while they have something to be looked after
   */
  constructor(place: Place, rules: TypeRules, touched: Route[], lists: RouteLists) {
    this.idle = new IdleConnections(lists.idle)
    this.streams = new Streams(() => lists.open.add(this))
    this.scopedTokens = new TokenCache(lists.tokens)
    this.#place = place
    this.#address = openAddress(place)
    this.#openedAt = place.where
    this.rules = rules
    this.#touched = touched
  }

  get place(): Place {
    return this.#place
  }

  get name(): string {
    return `/${this.#place.prefix}`
  }

  /** Undefined while nobody may connect: absent, paused, or held for a pause or stop. */
  get address(): Address | undefined {
    if (this.#heldUntil > 0 && clock.now >= this.#heldUntil) this.#release()
    return this.#address
  }

  /** Takes over what is now true, and cuts what is not allowed or not there any more. */
  move(place: Place): void {
    const { ownerId } = this.#place
    this.#place = place
    this.#release()
    if (place.isBlocked || place.ownerId !== ownerId) this.cut()
    if ('absent' in place.where && place.where.absent === 'unknown') return this.idle.endAll()
    if (isSameAddress(this.#openedAt, place.where)) return
    this.hasAnswered = false
    this.idle.endAll()
    this.streams.cutBegun()
    this.#openedAt = place.where
  }

  /** Ends everything that is open to it. */
  cut(): void {
    this.idle.endAll()
    this.streams.cut()
  }

  /** See `Gateway.hold`. */
  hold(quietFor: number): boolean {
    if (clock.now - this.lastByteAt < quietFor) return false
    this.#address = undefined
    this.#heldUntil = clock.now + maxHold
    return true
  }

  #release(): void {
    this.#heldUntil = 0
    this.#address = openAddress(this.#place)
  }

  takeIdle(): AppConnection | undefined {
    return this.idle.take()
  }

  keepIdle(connection: AppConnection): void {
    this.idle.keep(connection)
  }

  forgetIdle(connection: AppConnection): void {
    this.idle.forget(connection)
  }

  touch(): void {
    this.lastByteAt = clock.now
    if (this.#isTouched) return
    this.#isTouched = true
    this.#touched.push(this)
  }

  /** What `touch` has noted since the last report. */
  report(): Activity {
    this.#isTouched = false
    return { prefix: this.#place.prefix, at: clock.wall - (clock.now - this.lastByteAt) }
  }
}

function openAddress({ where }: Place): Address | undefined {
  return 'absent' in where || where.isPaused ? undefined : where
}

/** The same container at the same address, whether or not it is paused. */
function isSameAddress(one: Place['where'], other: Place['where']): boolean {
  if ('absent' in one || 'absent' in other) return 'absent' in one && 'absent' in other
  return one.containerId === other.containerId && one.host === other.host && one.port === other.port
}

/** The API and the front end: one upstream on a Unix socket, which is away while they restart. */
export class Platform implements Upstream {
  readonly name = 'the API'
  readonly address: AppAddress
  readonly idle: IdleConnections
  readonly streams = new Streams()
  hasAnswered = true

  constructor(path: string, idle: Set<IdleConnections>) {
    this.idle = new IdleConnections(idle)
    this.address = { path }
  }

  takeIdle(): AppConnection | undefined {
    return this.idle.take()
  }

  keepIdle(connection: AppConnection): void {
    this.idle.keep(connection)
  }

  forgetIdle(connection: AppConnection): void {
    this.idle.forget(connection)
  }

  touch(): void {}
}
