import type { Database, Db } from '#/store/database.ts'

/** Deletes what was stored; it may be repeated. */
export type Withdrawal = (tx: Db) => Promise<void>

/**
 * Takes links back whose mail was not accepted: the mail may arrive all the same, when the server only failed to say so.
 * Should the store fail at that moment, too, the link is void here and now, and what is stored goes once that works again.
 */
export class Withdrawals {
  readonly #database: Database
  readonly #onOwed: () => void
  /** By link; few, because no link is issued while the store fails. */
  readonly #owed = new Map<number, Withdrawal>()

  /** @param onOwed called when something could not be deleted: `settle` is to be called soon */
  constructor(database: Database, onOwed: () => void) {
    this.#database = database
    this.#onOwed = onOwed
  }

  /** Whether a link that is stored was taken back. */
  has(linkId: number): boolean {
    return this.#owed.has(linkId)
  }

  /** The link is void when this is called; what belongs to it is gone when this resolves, or owed. Never throws. */
  async withdraw(linkId: number, withdrawal: Withdrawal): Promise<void> {
    this.#owed.set(linkId, withdrawal)
    await this.#settle(linkId, withdrawal).catch(() => this.#onOwed())
  }

  /** Does what is owed. @returns how many @throws when the store still fails */
  async settle(): Promise<number> {
    const owed = [...this.#owed]
    for (const [linkId, withdrawal] of owed) await this.#settle(linkId, withdrawal)
    return owed.length
  }

  async #settle(linkId: number, withdrawal: Withdrawal): Promise<void> {
    await this.#database.transaction(withdrawal)
    this.#owed.delete(linkId)
  }
}
