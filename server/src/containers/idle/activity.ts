import type { Database } from '#/store/database.ts'
import { noteUse } from '#/store/containers/user-containers.ts'
import { containerKey, type ContainerRef } from '../container-key.ts'

/** Between two writes of one container's `last_used`, in ms: bytes move by the second, and each write is one to the disk. */
const writeInterval = 60_000
/** Containers whose use is written in one transaction. */
const batchSize = 200

interface Use {
  readonly owned: ContainerRef
  /** When it was used last, or began to run; by `performance.now()`. */
  at: number
  /** When it was used last; ms since 1970. */
  usedAt: number
  /** When `last_used` was written last; by `performance.now()`. */
  writtenAt: number
  isWritten: boolean
}

/**
 * When each container was used last. In memory, because it is asked every second; `last_used` in the store follows.
 * What ran before this process began counts from its beginning: nobody knows what happened while nobody listened.
 * Reckoned by a clock that nobody can move: one that is moved by a day must neither stop everything nor keep it for a day.
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

  /** It begins to run, is as good as used, or its owner wants it kept: its time starts over. */
  startOver(owned: ContainerRef): void {
    this.#useOf(owned).at = performance.now()
  }

  /** Somebody used it. @param at when the last byte moved, in ms since 1970; an instant to come counts as now */
  used(owned: ContainerRef, at: number): void {
    const use = this.#useOf(owned)
    const now = Date.now()
    use.usedAt = Math.min(at, now)
    use.at = Math.max(use.at, performance.now() - (now - use.usedAt))
    use.isWritten = false
  }

  /** It does not exist any more. */
  forget(owned: ContainerRef): void {
    this.#uses.delete(containerKey(owned))
  }

  /** Writes what this container's `last_used` does not say yet. @throws when the store fails */
  async write(owned: ContainerRef): Promise<void> {
    const use = this.#uses.get(containerKey(owned))
    if (use && !use.isWritten) await this.#write([use])
  }

  /** As `write`, for all that were not written for a minute. @throws when the store fails */
  async writeDue(): Promise<void> {
    const due = performance.now() - writeInterval
    await this.#writeWhere(({ writtenAt }) => writtenAt <= due)
  }

  /** As `write`, for all. @throws when the store fails */
  async writeAll(): Promise<void> {
    await this.#writeWhere(() => true)
  }

  async #writeWhere(isMeant: (use: Use) => boolean): Promise<void> {
    // Rows are locked in an order that does not depend on who used what first, so that no circle of waits comes of it.
    const due = [...this.#uses.values()].filter((use) => !use.isWritten && isMeant(use)).toSorted(byOwner)
    for (let start = 0; start < due.length; start += batchSize) await this.#write(due.slice(start, start + batchSize))
  }

  async #write(uses: readonly Use[]): Promise<void> {
    const writtenAt = performance.now()
    const rows = uses.map((use) => ({ use, usedAt: use.usedAt }))
    await this.#database.transaction(async (tx) => {
      for (const { use, usedAt } of rows) await noteUse(tx, use.owned.userId, use.owned.type, new Date(usedAt))
    })
    // One that was used again while the store worked is written again.
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
