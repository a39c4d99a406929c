import { elapsedSince, momentNow, type Moment } from '@berth/gateway/basics/clock.ts'
import { releaseLease, renewLease, type Leader } from '#/store/leader-lease.ts'
import { noteSeen } from '#/store/node-records.ts'
import type { NodeDb } from '#/store/node-tables.ts'
import { nodeTimes } from './node-times.ts'

/** In ms: how often it is checked whether the lease still counts, and how long it may take to renew one that does not. */
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
 * Leader election: the lead of this node while it lasts. It renews the lease, and says before each order whether it still
 * counts. It stops counting at two thirds of the lease, before another node may take it, so that two never lead at once
 * (split brain). Then no order is given, and a late renewal within a second shows that no other node has led meanwhile,
 * as after a pause of a busy machine; otherwise the lead is lost. Time runs by both clocks: a process that was frozen, or
 * a machine that was suspended, finds that its lease does not count.
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
