import type { UseReason } from '@berth/api/schemas/user.ts'
import type { Database } from '#/store/database.ts'
import { containerKey, noteUse, type ContainerRef } from '#/store/user-containers.ts'

/**
 * Min interval between two writes of one container's `last_used`, in ms: bytes move every second, and each write costs
 * one to the disk.
 */
const writeInterval = 60_000
/** Max containers that are written in one transaction. */
const batchSize = 200

/** How long a page that was opened counts as use where the application says itself whether it is used, in ms. */
const navigationTime = 300_000

/** The last use of a container. */
export interface LastUse {
  /** By `performance.now()`; in the future while a page that was opened counts. */
  readonly at: number
  readonly why: UseReason
}

interface Use {
  readonly owned: ContainerRef
  /** Last byte; by `performance.now()`, as all instants without another word. */
  trafficAt: number
  /** Last page that was opened. */
  navigatedAt: number
  /** Last time that its idle time began anew, whatever moved or was said. */
  begun: LastUse
  /** When it went on after a pause last. */
  resumedAt: number
  /** Last use that the application has told. */
  toldAt: number
  /** Whether the application was asked last with an answer: what it says counts then, and no traffic. Undefined before. */
  hasTold: boolean | undefined
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
  readonly #navigationTime: number

  /** @param pace ms for which a page that was opened counts; for tests */
  constructor(database: Database, pace = navigationTime) {
    this.#database = database
    this.#navigationTime = pace
  }

  /** By `performance.now()`. */
  lastOf(owned: ContainerRef): number {
    return this.lastUseOf(owned).at
  }

  /** The last use, or the start of this process, whichever is later. */
  lastUseOf(owned: ContainerRef): LastUse {
    const use = this.#uses.get(containerKey(owned))
    const begun: LastUse = { at: this.#began, why: 'started' }
    return use ? this.#candidates(use).reduce((last, each) => (each.at >= last.at ? each : last), begun) : begun
  }

  #candidates({ begun, trafficAt, navigatedAt, toldAt, hasTold }: Use): LastUse[] {
    if (!hasTold) return [{ at: trafficAt, why: 'traffic' }, begun]
    const pageUntil = navigatedAt > 0 ? navigatedAt + this.#navigationTime : 0
    return [{ at: pageUntil, why: 'page' }, { at: toldAt, why: 'app' }, begun]
  }

  /** Whether the application was asked last without an answer, so that traffic counts. */
  isSilent(owned: ContainerRef): boolean {
    return this.#uses.get(containerKey(owned))?.hasTold === false
  }

  /** Whether what the application says counts, and no traffic. */
  hasTold(owned: ContainerRef): boolean {
    return this.#uses.get(containerKey(owned))?.hasTold === true
  }

  /** Notes what the application says about its last use. @param usedAt ms since 1970; undefined when it did not answer */
  told(owned: ContainerRef, usedAt: number | undefined): void {
    const use = this.#useOf(owned)
    use.hasTold = usedAt !== undefined
    if (usedAt === undefined || usedAt <= 0) return
    const now = Date.now()
    const at = performance.now() - (now - Math.min(usedAt, now))
    if (at <= use.toldAt) return
    use.toldAt = at
    // Its user may have been at it, by requests, later than what the application remembers.
    if (usedAt > use.usedAt) this.#noteUsedAt(use, Math.min(usedAt, now))
  }

  /** Forgets what the application of a run that is over has said; one that said nothing still counts as silent. */
  forgetTold(owned: ContainerRef): void {
    const use = this.#uses.get(containerKey(owned))
    if (use?.hasTold) Object.assign(use, { hasTold: undefined, toldAt: 0 })
  }

  /** When it was used last, in ms since 1970: by traffic, or where that counts as no use by a page or what the application said; 0 when it was not since this process began. */
  usedAt(owned: ContainerRef): number {
    return this.#uses.get(containerKey(owned))?.usedAt ?? 0
  }

  /**
   * It runs, after a start or a pause. Where its application says whether it is used, going on after a pause is no use, and postpones the
   * next pause alone: requests of a visitor would keep it from being stopped otherwise.
   */
  noteRunning(owned: ContainerRef): void {
    if (this.hasTold(owned)) this.#useOf(owned).resumedAt = performance.now()
    else this.startOver(owned)
  }

  /** When it went on after a pause that its application's words outlast, by `performance.now()`; minus infinity when it did not. */
  resumedAt(owned: ContainerRef): number {
    return this.#uses.get(containerKey(owned))?.resumedAt ?? -Infinity
  }

  /** Restarts its idle time: it starts, or its owner launches or keeps it. */
  startOver(owned: ContainerRef, why: UseReason = 'started'): void {
    this.#useOf(owned).begun = { at: performance.now(), why }
  }

  /**
   * Notes traffic.
   * @param at of the last byte, in ms since 1970; a time in the future counts as now
   * @param navigatedAt when a page was opened last, likewise
   */
  used(owned: ContainerRef, at: number, navigatedAt = 0): void {
    const use = this.#useOf(owned)
    const now = Date.now()
    const monotonic = (wall: number) => performance.now() - (now - Math.min(wall, now))
    use.trafficAt = Math.max(use.trafficAt, monotonic(at))
    const isNewPage = navigatedAt > 0 && monotonic(navigatedAt) > use.navigatedAt
    if (isNewPage) use.navigatedAt = monotonic(navigatedAt)
    if (!use.hasTold) this.#noteUsedAt(use, Math.min(at, now))
    else if (isNewPage) this.#noteUsedAt(use, Math.min(navigatedAt, now))
  }

  #noteUsedAt(use: Use, wall: number): void {
    use.usedAt = wall
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
    const use: Use = {
      owned: { userId, type },
      trafficAt: 0,
      navigatedAt: 0,
      begun: { at: 0, why: 'started' },
      resumedAt: -Infinity,
      toldAt: 0,
      hasTold: undefined,
      usedAt: 0,
      writtenAt: -Infinity,
      isWritten: true,
    }
    this.#uses.set(key, use)
    return use
  }
}

const byOwner = ({ owned: a }: Use, { owned: b }: Use) => a.userId - b.userId || (a.type < b.type ? -1 : 1)
