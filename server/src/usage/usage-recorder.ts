import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Activity } from '#/containers/open-containers.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { containerKey } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { listGroupIdsOfAll } from '#/store/group-members.ts'
import {
  addUsage,
  lastUsageBatch,
  saveUsageBatch,
  usageColumns,
  type UsageColumn,
  type UsageKind,
  type UsageRow,
  type UsageSums,
} from '#/store/usage-sums.ts'
import { listExistingUserIds } from '#/store/users.ts'
import { covers, type GroupDirectory } from '#/templates/group-directory.ts'
import type { Templates } from '#/templates/template.ts'

/** Interval of samples, in ms. */
const sampleInterval = 60_000

export interface UsageRecorderParts {
  readonly routeSync: Pick<RouteSync, 'running'>
  readonly activity: Pick<Activity, 'lastOf'>
  readonly templates: Pick<Templates, 'get'>
  readonly timeZone: string
}

/** Sums of one container on one day that are not stored yet. */
export interface PendingUsage {
  readonly day: string
  readonly userId: number
  readonly type: string
  readonly sums: UsageSums
}

/**
 * Samples, once a minute, what runs and whether bytes moved: from the index of containers and their last activity, both
 * in memory, so that no call to the engine is made. Only sums are kept.
 */
export class UsageRecorder {
  readonly #parts: UsageRecorderParts
  #pending = new Map<string, PendingUsage>()
  #sampledAt: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UsageRecorderParts) {
    this.#parts = parts
  }

  start(): void {
    this.stop()
    this.sample(performance.now(), Date.now())
    this.#timer = setInterval(() => this.sample(performance.now(), Date.now()), sampleInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /**
   * Counts the time since the last sample, two intervals at most: a machine that slept ran nothing. The first sample
   * begins the time.
   * @param now by `performance.now()` @param wall ms since 1970
   */
  sample(now: number, wall: number): void {
    const before = this.#sampledAt
    this.#sampledAt = now
    if (before === undefined) return
    const seconds = Math.round(Math.min(now - before, 2 * sampleInterval) / 1_000)
    if (seconds <= 0) return
    const { routeSync, activity, templates, timeZone } = this.#parts
    const day = zonedDate(wall, timeZone)
    for (const { known, isPaused } of routeSync.running()) {
      const template = templates.get(known.type)
      const lastUse = activity.lastOf(known)
      const sums = sumsOf({
        seconds,
        isPaused,
        isUsed: lastUse > before,
        idleFor: (now - lastUse) / 1_000,
        cores: template?.cpus ?? 0,
        memory: template?.memory ?? 0,
        gpus: (known.seen !== 'gone' && known.seen?.gpuIds?.length) || (template?.gpus ?? 0),
      })
      this.add({ day, userId: known.userId, type: known.type, sums })
    }
  }

  /** What is not stored yet; it counts as stored from now on, until it is put back. */
  take(): PendingUsage[] {
    const taken = [...this.#pending.values()]
    this.#pending = new Map()
    return taken
  }

  /** Puts back what could not be stored. */
  putBack(pending: readonly PendingUsage[]): void {
    for (const each of pending) this.add(each)
  }

  /** Adds to what is not stored yet. */
  add(pending: PendingUsage): void {
    const key = `${pending.day} ${containerKey(pending)}`
    const sums = addSums(this.#pending.get(key)?.sums ?? noUsage, pending.sums)
    this.#pending.set(key, { ...pending, sums })
  }
}

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
 * Adds recorded sums to the store, in batches. A batch is one transaction that also notes its name: where the answer
 * was lost, the name says whether it counts, so that nothing is counted twice. Nothing else is written until that is
 * known.
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

/**
 * Sums by day and month of each known user, group, and of all. Sorted: rows are locked in one order, which prevents
 * deadlocks.
 */
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

/**
 * Since how many minutes a container is idle, from which on its time is summed up apart: what an idle stop would save.
 */
const idleMinutes = [5, 15, 30, 60, 120, 240] as const

export type IdleMinutes = (typeof idleMinutes)[number]

export const noUsage: UsageSums = Object.fromEntries(usageColumns.map((name) => [name, 0])) as Record<
  UsageColumn,
  number
>

function addSums(one: UsageSums, other: UsageSums): UsageSums {
  return Object.fromEntries(usageColumns.map((name) => [name, one[name] + other[name]])) as Record<UsageColumn, number>
}

/** One container at one moment. */
export interface Sample {
  /** Time that it stands for, in seconds. */
  readonly seconds: number
  readonly isPaused: boolean
  /** Whether a byte moved in this time. */
  readonly isUsed: boolean
  /** Time since the last byte, in seconds. */
  readonly idleFor: number
  /** Limits of the template: cores, and bytes of memory. */
  readonly cores: number
  readonly memory: number
  /** How many it has. */
  readonly gpus?: number
}

/** Unit of memory and of homes in sums of use, in bytes. */
export const mebibyte = 1_048_576

/** What a sample adds: a paused container holds its memory and its GPUs, and no processor. */
export function sumsOf({ seconds, isPaused, isUsed, idleFor, cores, memory, gpus = 0 }: Sample): UsageSums {
  const bucket = isPaused || isUsed ? undefined : idleMinutes.findLast((minutes) => idleFor >= minutes * 60)
  return {
    ...noUsage,
    running_s: seconds,
    paused_s: isPaused ? seconds : 0,
    used_s: isUsed && !isPaused ? seconds : 0,
    core_s: isPaused ? 0 : Math.round(cores * seconds),
    memory_mib_s: Math.round((memory / mebibyte) * seconds),
    gpu_s: gpus * seconds,
    ...(bucket === undefined ? {} : { [`idle_${bucket}_s`]: seconds }),
  }
}

/**
 * Seconds that a stop after so many idle minutes would have saved: all time for which a container was idle for longer.
 */
export function savedBy(minutes: IdleMinutes, sums: UsageSums): number {
  return idleMinutes.filter((each) => each >= minutes).reduce((all, each) => all + sums[`idle_${each}_s`], 0)
}
