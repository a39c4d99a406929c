import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { covers, type GroupDirectory } from '#/templates/group-directory.ts'
import type { Database } from '#/store/database.ts'
import { listGroupIdsOfAll } from '#/store/group-members.ts'
import {
  addUsage,
  lastUsageBatch,
  saveUsageBatch,
  type UsageKind,
  type UsageRow,
  type UsageSums,
} from '#/store/usage-sums.ts'
import { listExistingUserIds } from '#/store/users.ts'
import type { PendingUsage, UsageRecorder } from './usage-recorder.ts'
import { addSums, noUsage } from './usage-samples.ts'

/** Interval of writes, in ms: what a crash loses at most. */
const writeInterval = 300_000
/** Containers in one transaction, which delays another writer by some 10 ms. */
const batchSize = 100
/** Pause between two transactions, in ms. */
const pause = 20

export interface UsageWriterParts {
  readonly database: Database
  readonly recorder: Pick<UsageRecorder, 'take' | 'putBack'>
  readonly directory: Pick<GroupDirectory, 'isEmpty' | 'find'>
  readonly log: Pick<Logger, 'warn'>
}

/** What is written in one transaction, under a name that no other has. */
interface UsageBatch {
  readonly name: string
  readonly usage: readonly PendingUsage[]
}

/**
 * Adds recorded sums to the store, in batches. A batch is one transaction that also notes its name: where the answer was
 * lost, the name says whether it counts, so that nothing is counted twice. Nothing else is written until that is known.
 */
export class UsageWriter {
  readonly #parts: UsageWriterParts
  readonly #process = randomUUID()
  #batches = 0
  /** The batch of which it is not known whether it counts. */
  #unconfirmed: UsageBatch | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(parts: UsageWriterParts) {
    this.#parts = parts
  }

  start(): void {
    clearInterval(this.#timer)
    this.#timer = setInterval(() => void this.write(), writeInterval).unref()
  }

  /** Writes what is left. Never throws. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.write()
  }

  /** Writes all that is pending; what fails stays pending. Concurrent calls share one write. Never throws. */
  async write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    const { recorder, log } = this.#parts
    const attempt = (work: () => Promise<unknown>) =>
      tryOrLog(log, 'writing sums of use', async () => (await work(), true))
    if (!(await attempt(() => this.#confirm()))) return
    const pending = recorder.take()
    for (let start = 0; start < pending.length; start += batchSize) {
      const usage = pending.slice(start, start + batchSize)
      if (!(await attempt(() => this.#writeBatch(usage)))) return recorder.putBack(pending.slice(start + batchSize))
      if (start + batchSize < pending.length) await sleep(pause)
    }
  }

  /** @throws {StoreFailure} it is pending again then, or unconfirmed */
  async #writeBatch(usage: readonly PendingUsage[]): Promise<void> {
    const { database } = this.#parts
    const name = `${this.#process} ${this.#batches++}`
    try {
      const groupsOf = await this.#groupsOf(usage)
      await database.transaction(async (tx) => {
        // Deletions hold it, too: sums of an account that is deleted meanwhile would stay behind.
        await database.lock(tx, 'administrators')
        const known = await listExistingUserIds(tx, [...new Set(usage.map(({ userId }) => userId))])
        await addUsage(tx, rowsOf(usage, known, groupsOf))
        await saveUsageBatch(tx, name)
        // The commit follows: when its answer is lost, only the store knows.
        this.#unconfirmed = { name, usage }
      })
      this.#unconfirmed = undefined
    } catch (error) {
      if (!this.#unconfirmed) this.#parts.recorder.putBack(usage)
      else if (await this.#confirm()) return
      throw error
    }
  }

  /**
   * Asks whether the unconfirmed batch counts; one that does not is pending again.
   * @returns whether it counts @throws {StoreFailure} it stays unconfirmed
   */
  async #confirm(): Promise<boolean> {
    if (!this.#unconfirmed) return true
    const { database, recorder } = this.#parts
    const { name, usage } = this.#unconfirmed
    const last = await database.transaction(async (tx) => {
      // Waits for the end of the batch's own transaction, whose commit may still be under way.
      await database.lock(tx, 'administrators')
      return lastUsageBatch(tx)
    })
    if (last !== name) recorder.putBack(usage)
    this.#unconfirmed = undefined
    return last === name
  }

  /** Ids of the groups that each container counts for. */
  async #groupsOf(batch: readonly PendingUsage[]): Promise<(pending: PendingUsage) => number[]> {
    const { database, directory } = this.#parts
    if (directory.isEmpty) return () => []
    const byUser = await listGroupIdsOfAll(database.db, [...new Set(batch.map(({ userId }) => userId))])
    return ({ userId, type }) =>
      directory
        .find(byUser.get(userId) ?? [])
        .filter((group) => covers(group, type))
        .map(({ id }) => id)
  }
}

/** Sums by day and month of each known user, group, and of all. Sorted: rows are locked in one order, which prevents deadlocks. */
function rowsOf(
  batch: readonly PendingUsage[],
  known: ReadonlySet<number>,
  groupsOf: (pending: PendingUsage) => number[],
): UsageRow[] {
  const rows = new Map<string, UsageRow>()
  const add = (kind: UsageKind, subjectId: number, { day, type, sums }: PendingUsage) => {
    for (const [unit, period] of [['day', day] as const, ['month', day.slice(0, 7)] as const]) {
      const key = JSON.stringify([unit, kind, period, subjectId, type])
      const before: UsageSums = rows.get(key) ?? noUsage
      rows.set(key, { unit, period, kind, subject_id: subjectId, container_type: type, ...addSums(before, sums) })
    }
  }
  for (const pending of batch) {
    if (known.has(pending.userId)) add('user', pending.userId, pending)
    add('all', 0, pending)
    for (const id of groupsOf(pending)) add('group', id, pending)
  }
  return [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}
