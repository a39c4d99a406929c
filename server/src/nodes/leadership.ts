import { elapsedSince, momentNow, type Moment } from '@berth/gateway/basics/clock.ts'
import type { ImageBuilds } from '#/engines/image-builds.ts'
import type { ImageStore } from '#/engines/image-store.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { releaseLease, renewLease, type Leader } from '#/store/leader-lease.ts'
import { noteSeen, type NodeDb } from '#/store/node-records.ts'

/**
 * In ms: how often it is checked whether the lease still counts, and how long it may take to renew one that does not.
 */
const [watchEvery, lateRenewal] = [100, 1_000]

export interface LeadershipParts {
  readonly db: NodeDb
  readonly address: string
  readonly epoch: number
  /** Called once, when this node may lead no more: what it has under way must end. */
  readonly onLost: (reason: string) => void
  readonly report: (error: unknown, what: string) => void
}

/**
 * Keeps the lead of this node while it lasts; `takeLease` of the store takes it. It renews the lease, and says before each order whether it
 * still counts. It stops counting at two thirds of the lease, before another node may take it, so that two never lead
 * at once (split brain). Then no order is given, and a late renewal within a second shows that no other node has led
 * meanwhile, as after a pause of a busy machine; otherwise the lead is lost. Time runs by both clocks: a process that
 * was frozen, or a machine that was suspended, finds that its lease does not count.
 */
export class Leadership {
  readonly epoch: number
  readonly #parts: LeadershipParts
  readonly #leader: Leader
  readonly #watch: NodeJS.Timeout
  readonly #renewal: NodeJS.Timeout
  /** When the renewal that succeeded last was asked for. */
  #renewedAt = momentNow()
  /** Since when it does not count; undefined while it does. */
  #lapsedAt: Moment | undefined
  #isOver = false
  #isRenewing = false

  /** @param takenAt before the lease was taken */
  constructor(parts: LeadershipParts, takenAt = momentNow()) {
    this.#parts = parts
    this.epoch = parts.epoch
    this.#leader = { node: parts.address, epoch: parts.epoch }
    this.#renewedAt = takenAt
    this.#watch = setInterval(() => this.#checkLease(), watchEvery)
    this.#renewal = setInterval(() => void this.#renew(), nodeTimes.renewEvery)
  }

  /** Whether this node may give orders now. */
  get isValid(): boolean {
    return !this.#isOver && elapsedSince(this.#renewedAt) <= nodeTimes.ordersUntil
  }

  /** Gives the lead up: another node takes it at once. Never throws: the lease ends by itself. */
  async release(): Promise<void> {
    this.#end()
    await releaseLease(this.#parts.db, this.#leader).catch(() => undefined)
  }

  #checkLease(): void {
    if (this.isValid) return void (this.#lapsedAt = undefined)
    this.#lapsedAt ??= momentNow()
    if (elapsedSince(this.#lapsedAt) <= lateRenewal) return void this.#renew()
    // After a pause of this process an answer of the database may have arrived, and is read first.
    setImmediate(() => {
      if (!this.isValid) this.#lose(`its lease was not renewed for ${nodeTimes.ordersUntil / 1000} s`)
    })
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    const asked = momentNow()
    const { db, address, report } = this.#parts
    try {
      if (await renewLease(db, this.#leader)) this.#renewedAt = asked
      else this.#lose('another node leads by now')
      await noteSeen(db, address)
    } catch (error) {
      report(error, 'renewing the lease of the leader')
    } finally {
      this.#isRenewing = false
    }
  }

  #lose(reason: string): void {
    if (this.#isOver) return
    this.#end()
    this.#parts.onLost(reason)
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#watch)
    clearInterval(this.#renewal)
  }
}

/** Verbs that change something. */
const orders: ReadonlySet<string> = new Set<keyof Runtime>([
  'prepare',
  'fetchImage',
  'create',
  'start',
  'pause',
  'stop',
  'remove',
  'removeStopped',
  'removeHome',
])

/** Orders to images, by the method of the runtime that gives them out. */
const imageOrders = new Map<string, ReadonlySet<string>>([
  ['imageBuilds', new Set<keyof ImageBuilds>(['build', 'sweep'])],
  ['imageStore', new Set<keyof ImageStore>(['remove'])],
])

/** Those after which the engine may give an address of before to another container. */
const addressOrders: ReadonlySet<string> = new Set<keyof Runtime>(['create', 'start'])

export interface OrderFence {
  readonly mayOrder: () => boolean
  /** Resolves when no gateway may serve by a state of before any more, and the host has its rules. */
  readonly settled: () => Promise<void>
}

/**
 * A runtime that takes orders of the leader alone: an engine cannot compare epochs, so the lease is checked in the
 * moment in which an order is sent. Reads pass, and so do files: they are put between a creation and a start.
 */
export function fencedRuntime(runtime: Runtime, { mayOrder, settled }: OrderFence): Runtime {
  const fenced =
    (verb: string, order: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      if (addressOrders.has(verb)) await settled()
      if (!mayOrder()) throw new RuntimeError('unreachable', `${verb}: this node does not lead any more`)
      return order(...args)
    }
  const fence = <T extends object>(port: T, verbs: ReadonlySet<string>): T =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function' || typeof name !== 'string') return value
        if (verbs.has(name)) return fenced(name, value.bind(target) as (...args: unknown[]) => Promise<unknown>)
        const further = imageOrders.get(name)
        return further ? () => fencedPart((value as () => object | undefined).call(target), further) : value
      },
    })
  const fencedPart = (part: object | undefined, verbs: ReadonlySet<string>) => part && fence(part, verbs)
  return fence(runtime, orders)
}

/** Times of nodes and their leader, in ms; see docs/explanation/decisions/068. */
export const nodeTimes = {
  /** Without a renewal for so long, another node may lead. */
  lease: 5_000,
  /** Two thirds of it: without a renewal for so long, the leader gives no more orders. */
  ordersUntil: 3_300,
  renewEvery: 1_000,
  /** Interval at which a follower checks who leads. */
  pollEvery: 500,
  /** Without a confirmation of the leader for so long, a gateway refuses containers. */
  maxStateAge: 10_000,
  /** What two machines' clocks may differ by in that time. */
  clockTolerance: 500,
  /**
   * Heartbeat within which a node counts as alive. Longer than a gateway may serve after it: the leader confirms for as
   * long as its own lease counts, although no heartbeat reaches the database any more, and a confirmation lasts
   * `maxStateAge`.
   */
  alive: 20_000,
} as const
