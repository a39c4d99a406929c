import type { Database } from '#/store/database.ts'
import { noteUse } from '#/store/user-containers.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'

/** Between two writes of one container's `last_used`, in ms: bytes move by the second, and each write is one to the disk. */
const writeEvery = 60_000
/** Containers whose use is written in one transaction. */
const batch = 200

interface Use {
  readonly owned: OwnedType
  /** When it was used last, or began to run; ms since 1970. */
  at: number
  /** What `last_used` says, as far as it was written from here. */
  writtenAt: number
  isWritten: boolean
}

/**
 * When each container was used last. In memory, because it is asked every second; `last_used` in the store follows.
 * What ran before this process began counts from its beginning: nobody knows what happened while nobody listened.
 */
export class Activity {
  readonly #database: Database
  readonly #began = Date.now()
  readonly #uses = new Map<string, Use>()

  constructor(database: Database) {
    this.#database = database
  }

  /** ms since 1970 */
  lastOf(owned: OwnedType): number {
    return Math.max(this.#began, this.#uses.get(ownedKey(owned))?.at ?? 0)
  }

  /** It begins to run, or is as good as used: its time starts over. */
  startOver(owned: OwnedType, at: number): void {
    const use = this.#useOf(owned)
    use.at = Math.max(use.at, at)
  }

  /** Somebody used it. @param at when the last byte moved; an instant to come counts as now */
  used(owned: OwnedType, at: number): void {
    this.startOver(owned, Math.min(at, Date.now()))
    this.#useOf(owned).isWritten = false
  }

  /** It does not exist any more. */
  forget(owned: OwnedType): void {
    this.#uses.delete(ownedKey(owned))
  }

  /** Writes what this container's `last_used` does not say yet. @throws when the store fails */
  async write(owned: OwnedType): Promise<void> {
    const use = this.#uses.get(ownedKey(owned))
    if (use && !use.isWritten) await this.#writeAll([use])
  }

  /** As `write`, for all that were not written for a minute. @returns how many @throws when the store fails */
  async writeDue(now = Date.now()): Promise<number> {
    const due = [...this.#uses.values()].filter(
      ({ isWritten, writtenAt }) => !isWritten && now - writtenAt >= writeEvery,
    )
    for (let start = 0; start < due.length; start += batch) await this.#writeAll(due.slice(start, start + batch))
    return due.length
  }

  async #writeAll(uses: readonly Use[]): Promise<void> {
    const now = Date.now()
    await this.#database.transaction(async (tx) => {
      for (const { owned, at } of uses) await noteUse(tx, owned.userId, owned.type, new Date(at))
    })
    for (const use of uses) Object.assign(use, { writtenAt: now, isWritten: true })
  }

  #useOf(owned: OwnedType): Use {
    const key = ownedKey(owned)
    const known = this.#uses.get(key)
    if (known) return known
    const { userId, type } = owned
    const use: Use = { owned: { userId, type }, at: 0, writtenAt: 0, isWritten: true }
    this.#uses.set(key, use)
    return use
  }
}
