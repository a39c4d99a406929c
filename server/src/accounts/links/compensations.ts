import type { Database, Db } from '#/store/database.ts'

/** Deletes what was stored; it may be repeated. */
export type Compensation = (tx: Db) => Promise<void>

/**
 * Takes links back whose mail was not accepted: the mail may arrive all the same, when the server only failed to say so.
 * Should the store fail at that moment, too, the link is void here and now, and what is stored goes once that works again.
 */
export class Compensations {
  readonly #database: Database
  readonly #onPending: () => void
  /** By link; few, because no link is issued while the store fails. */
  readonly #pending = new Map<number, Compensation>()

  /** @param onPending called when something could not be deleted: `settle` is to be called soon */
  constructor(database: Database, onPending: () => void) {
    this.#database = database
    this.#onPending = onPending
  }

  /** Whether a link that is stored was taken back. */
  has(linkId: number): boolean {
    return this.#pending.has(linkId)
  }

  /** The link is void when this is called; what belongs to it is gone when this resolves, or owed. Never throws. */
  async compensate(linkId: number, compensation: Compensation): Promise<void> {
    this.#pending.set(linkId, compensation)
    await this.#run(linkId, compensation).catch(() => this.#onPending())
  }

  /** Does what is owed. @returns how many @throws when the store still fails */
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
