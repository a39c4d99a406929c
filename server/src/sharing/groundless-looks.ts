import type { Db } from '#/store/database.ts'
import { deleteGroundlessLooks, findLastLookEnd } from '#/store/container-shares.ts'

/** Deletes looks that have lost their reason; without any look it asks the store nothing. Looks are allowed in this process alone. */
export class GroundlessLooks {
  readonly #db: Db
  /** After it there are no looks, once the store was read. */
  #lastEnd = new Date(0)
  #isRead = false

  constructor(db: Db) {
    this.#db = db
  }

  /** A look was allowed until then. */
  note(until: Date): void {
    if (this.#lastEnd < until) this.#lastEnd = until
  }

  /** @throws {StoreFailure} */
  async delete(now: Date): Promise<void> {
    if (this.#isRead && this.#lastEnd < now) return
    await deleteGroundlessLooks(this.#db, now)
    if (this.#isRead) return
    this.note((await findLastLookEnd(this.#db)) ?? new Date(0))
    this.#isRead = true
  }
}
