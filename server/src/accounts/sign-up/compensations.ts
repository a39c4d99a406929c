import type { Database, Db } from '#/store/database.ts'

/** Deletes what was stored; idempotent. */
export type Compensation = (tx: Db) => Promise<void>

/**
 * Compensation for a mail that was not accepted: deletes its link, because the mail may arrive all the same. If the
 * store fails, too, the link is void in memory at once, and the deletion is retried.
 */
export class Compensations {
  readonly #database: Database
  readonly #onPending: () => void
  /** By link; few, because no link is issued while the store fails. */
  readonly #pending = new Map<number, Compensation>()

  /** @param onPending called when a deletion failed: `retryPending` has to be called soon */
  constructor(database: Database, onPending: () => void) {
    this.#database = database
    this.#onPending = onPending
  }

  /** Whether a stored link is void. */
  has(linkId: number): boolean {
    return this.#pending.has(linkId)
  }

  /** The link is void from the call on; when this resolves its rows are deleted, or pending. Never throws. */
  async compensate(linkId: number, compensation: Compensation): Promise<void> {
    this.#pending.set(linkId, compensation)
    await this.#run(linkId, compensation).catch(() => this.#onPending())
  }

  /** Retries pending compensations. @returns their number @throws when the store still fails */
  async retryPending(): Promise<number> {
    const pending = [...this.#pending]
    for (const [linkId, compensation] of pending) await this.#run(linkId, compensation)
    return pending.length
  }

  async #run(linkId: number, compensation: Compensation): Promise<void> {
    await this.#database.transaction(compensation)
    this.#pending.delete(linkId)
  }
}
