import type { Database } from '#/store/database.ts'
import { noteSessionUses, type SessionLimits } from '#/store/session-changes.ts'

/** Between two writes of `last_used`, in ms. */
const writeInterval = 60_000
/** Sessions of one statement. */
const batchSize = 200

/**
 * When sessions were used: noted in memory at each request, and written at most once a minute, all together. Who asks when
 * a session ends has its use written first.
 */
export class SessionUses {
  readonly #database: Database
  readonly #limits: SessionLimits
  #pending = new Map<string, Date>()
  /** By `performance.now()`. */
  #writtenAt = performance.now()

  constructor(database: Database, limits: SessionLimits) {
    this.#database = database
    this.#limits = limits
  }

  note(sid: string, at: Date): void {
    const known = this.#pending.get(sid)
    if (known === undefined || known < at) this.#pending.set(sid, at)
  }

  /** Writes what is known of one session. @throws {StoreFailure} it is tried again with the others then */
  async writeOne(sid: string): Promise<void> {
    const at = this.#pending.get(sid)
    if (at === undefined) return
    await noteSessionUses(this.#database.db, [{ sid, at }], this.#limits)
    if (this.#pending.get(sid) === at) this.#pending.delete(sid)
  }

  /** As `writeAll`, when the last time was a minute ago. */
  async writeDue(): Promise<void> {
    if (performance.now() - this.#writtenAt >= writeInterval) await this.writeAll()
  }

  /** Writes all uses. @throws {StoreFailure} what is not written stays noted */
  async writeAll(): Promise<void> {
    this.#writtenAt = performance.now()
    // Rows are locked in an order of their own, so that no circle of waits comes of it.
    const uses = [...this.#pending].map(([sid, at]) => ({ sid, at })).toSorted((a, b) => (a.sid < b.sid ? -1 : 1))
    for (let start = 0; start < uses.length; start += batchSize) {
      const batch = uses.slice(start, start + batchSize)
      await noteSessionUses(this.#database.db, batch, this.#limits)
      for (const { sid, at } of batch) if (this.#pending.get(sid) === at) this.#pending.delete(sid)
    }
  }
}
