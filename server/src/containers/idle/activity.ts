import type { Database } from '#/store/database.ts'
import { containerKey, noteUse, type ContainerRef } from '#/store/user-containers.ts'

/**
 * Min interval between two writes of one container's `last_used`, in ms: bytes move every second, and each write costs
 * one to the disk.
 */
const writeInterval = 60_000
/** Max containers that are written in one transaction. */
const batchSize = 200

interface Use {
  readonly owned: ContainerRef
  /** Last use, or start; by `performance.now()`. */
  at: number
  /** Last use; ms since 1970. */
  usedAt: number
  /** Last write of `last_used`; by `performance.now()`. */
  writtenAt: number
  isWritten: boolean
}

/**
 * Last activity of each container. In memory, because it is read every second; `last_used` in the store follows. For a
 * container that ran before this process began, its idle time begins with the process. Measured by the monotonic clock:
 * a jump of the wall clock must neither stop every container nor keep them for a day.
 */
export class Activity {
  readonly #database: Database
  readonly #began = performance.now()
  readonly #uses = new Map<string, Use>()

  constructor(database: Database) {
    this.#database = database
  }

  /** By `performance.now()`. */
  lastOf(owned: ContainerRef): number {
    return Math.max(this.#began, this.#uses.get(containerKey(owned))?.at ?? 0)
  }

  /** When a byte moved last, in ms since 1970; 0 when none did since this process began. */
  usedAt(owned: ContainerRef): number {
    return this.#uses.get(containerKey(owned))?.usedAt ?? 0
  }

  /** Restarts its idle time: it starts, or its owner launches or keeps it. */
  startOver(owned: ContainerRef): void {
    this.#useOf(owned).at = performance.now()
  }

  /** Notes a use. @param at of the last byte, in ms since 1970; a time in the future counts as now */
  used(owned: ContainerRef, at: number): void {
    const use = this.#useOf(owned)
    const now = Date.now()
    use.usedAt = Math.min(at, now)
    use.at = Math.max(use.at, performance.now() - (now - use.usedAt))
    use.isWritten = false
  }

  /** Drops a container that does not exist any more. */
  forget(owned: ContainerRef): void {
    this.#uses.delete(containerKey(owned))
  }

  /** Writes this container's `last_used` if it is older than its last use. @throws when the store fails */
  async write(owned: ContainerRef): Promise<void> {
    const use = this.#uses.get(containerKey(owned))
    if (use && !use.isWritten) await this.#write([use])
  }

  /** Writes all that were not written for a minute. @throws when the store fails */
  async writeDue(): Promise<void> {
    const due = performance.now() - writeInterval
    await this.#writeWhere(({ writtenAt }) => writtenAt <= due)
  }

  /** Writes all. @throws when the store fails */
  async writeAll(): Promise<void> {
    await this.#writeWhere(() => true)
  }

  async #writeWhere(isMeant: (use: Use) => boolean): Promise<void> {
    // Rows are locked in a fixed order, which prevents deadlocks.
    const due = [...this.#uses.values()].filter((use) => !use.isWritten && isMeant(use)).toSorted(byOwner)
    for (let start = 0; start < due.length; start += batchSize) await this.#write(due.slice(start, start + batchSize))
  }

  async #write(uses: readonly Use[]): Promise<void> {
    const writtenAt = performance.now()
    const rows = uses.map((use) => ({ use, usedAt: use.usedAt }))
    await this.#database.transaction(async (tx) => {
      for (const { use, usedAt } of rows) await noteUse(tx, use.owned.userId, use.owned.type, new Date(usedAt))
    })
    // A container that was used during the write is written again.
    for (const { use, usedAt } of rows) Object.assign(use, { writtenAt, isWritten: use.usedAt === usedAt })
  }

  #useOf(owned: ContainerRef): Use {
    const key = containerKey(owned)
    const known = this.#uses.get(key)
    if (known) return known
    const { userId, type } = owned
    const use: Use = { owned: { userId, type }, at: 0, usedAt: 0, writtenAt: -Infinity, isWritten: true }
    this.#uses.set(key, use)
    return use
  }
}

const byOwner = ({ owned: a }: Use, { owned: b }: Use) => a.userId - b.userId || (a.type < b.type ? -1 : 1)
