import { setImmediate as turn } from 'node:timers/promises'
import type { Db } from '#/store/database.ts'
import { sumRunningTimes, type UsageQuery } from '#/store/usage-sums.ts'

/** How long an order is used, in ms: sums are written as often. */
const maxAge = 300_000
/** Orders that are kept at most. */
const maxOrders = 16
/** Subjects of one query: SQLite answers in this process, and other requests go on in between. */
const pageSize = 2_000

/** What is ranked: users or groups in some periods, of one type or of all. */
export type RankingQuery = Pick<UsageQuery, 'unit' | 'from' | 'until' | 'kind' | 'type'>

interface Order {
  readonly at: number
  readonly ids: Promise<readonly number[]>
}

/**
 * Users or groups by the time that their containers ran, the longest first. To find the first of 100,000 users all are
 * read; so they are read in pages, and the order is kept for some minutes, for the pages that follow. Nothing is kept
 * unless an administrator asks.
 */
export class UsageRanking {
  readonly #db: Db
  readonly #orders = new Map<string, Order>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Ids of all subjects in their order, as of some minutes ago at most. @throws {StoreFailure} */
  async idsOf({ unit, from, until, kind, type }: RankingQuery): Promise<readonly number[]> {
    const key = JSON.stringify([unit, from, until, kind, type])
    const known = this.#orders.get(key)
    if (known && performance.now() - known.at < maxAge) return known.ids
    const order = { at: performance.now(), ids: this.#read({ unit, from, until, kind, type }) }
    this.#keep(key, order)
    return order.ids.catch((error: unknown) => {
      if (this.#orders.get(key) === order) this.#orders.delete(key)
      throw error
    })
  }

  #keep(key: string, order: Order): void {
    this.#orders.delete(key)
    this.#orders.set(key, order)
    const [oldest] = this.#orders.keys()
    if (this.#orders.size > maxOrders && oldest !== undefined) this.#orders.delete(oldest)
  }

  async #read(query: RankingQuery): Promise<readonly number[]> {
    const all: { readonly id: number; readonly seconds: number }[] = []
    for (let page = await this.#page(query, 0); page.length > 0; page = await this.#page(query, all.at(-1)?.id ?? 0)) {
      all.push(...page)
      if (page.length < pageSize) break
      await turn()
    }
    all.sort((one, other) => other.seconds - one.seconds || one.id - other.id)
    return all.map(({ id }) => id)
  }

  #page(query: RankingQuery, afterId: number) {
    return sumRunningTimes(this.#db, query, { limit: pageSize, afterId })
  }
}
