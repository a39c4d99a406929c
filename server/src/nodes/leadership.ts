import { elapsedSince, momentNow } from '#/elapsed-time.ts'
import { releaseLease, renewLease } from '#/store/nodes/leader-lease.ts'
import { noteSeen } from '#/store/nodes/node-records.ts'
import type { NodeDb } from '#/store/nodes/node-tables.ts'
import { nodeTimes } from './node-times.ts'

/** How often it is looked whether the lease still counts, in ms. */
const watchEvery = 100

export interface LeadershipParts {
  readonly db: NodeDb
  readonly address: string
  readonly epoch: number
  /** Called once, when this node may lead no more: what it has under way must end. */
  readonly onLost: (reason: string) => void
  readonly report: (error: unknown, what: string) => void
}

/**
 * The lead of this node while it lasts: renews the lease, and says before each order whether it still counts. It stops
 * counting at two thirds of the lease, before another node may take it. Time runs by both clocks: a process that was frozen, or
 * a machine that was suspended, finds that it is over.
 */
export class Leadership {
  readonly epoch: number
  readonly #parts: LeadershipParts
  readonly #watch: NodeJS.Timeout
  readonly #renewal: NodeJS.Timeout
  /** When the renewal that succeeded last was asked for. */
  #renewedAt = momentNow()
  #isOver = false
  #isRenewing = false

  /** @param takenAt before the lease was taken */
  constructor(parts: LeadershipParts, takenAt = momentNow()) {
    this.#parts = parts
    this.epoch = parts.epoch
    this.#renewedAt = takenAt
    this.#watch = setInterval(() => this.isValid, watchEvery)
    this.#renewal = setInterval(() => void this.#renew(), nodeTimes.renewEvery)
  }

  /** Whether this node may give orders now. When it may not, `onLost` has been called. */
  get isValid(): boolean {
    if (!this.#isOver && elapsedSince(this.#renewedAt) > nodeTimes.ordersUntil)
      this.#lose(`its lease was not renewed for ${nodeTimes.ordersUntil / 1000} s`)
    return !this.#isOver
  }

  /** Gives the lead up: another node takes it at once. Never throws: the lease ends by itself. */
  async release(): Promise<void> {
    this.#end()
    await releaseLease(this.#parts.db, this.epoch).catch(() => undefined)
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    const asked = momentNow()
    const { db, address, report } = this.#parts
    try {
      if (await renewLease(db, this.epoch)) this.#renewedAt = asked
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
