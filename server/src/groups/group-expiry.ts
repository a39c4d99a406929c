import type { Logger } from 'pino'
import { KeyedQueue } from '#/machine/keyed-mutex.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Templates } from '#/templates/template.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOfAll } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { covers, type GroupDirectory } from '#/templates/group-directory.ts'
import { expiredGroup } from '#/templates/launch-rules.ts'

/** Between two checks, in ms: what an expired group forbids stops within 30 s. */
const checkInterval = 5_000
/** Containers whose owners' groups are read at once. */
const batchSize = 500

interface Candidate extends ContainerRef {
  readonly containerId: string
}

export interface GroupExpiryParts {
  readonly db: Db
  readonly directory: Pick<GroupDirectory, 'expired' | 'hasEnding' | 'find'>
  readonly templates: Pick<Templates, 'get'>
  /** Containers that are stopped at the same time, see `maxParallelStops`. */
  readonly parallelStops: number
  readonly routeSync: Pick<RouteSync, 'running'>
  /** Stops one; false when it did not run. */
  readonly stop: (owned: ContainerRef) => Promise<boolean>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Stops running and paused containers that an expired group takes from its members; homes stay. Without a group that ends
 * at some time there is no timer.
 */
export class GroupExpiry {
  readonly #parts: GroupExpiryParts
  /** Stops, by `containerKey`: one that hangs, or waits for a queued launch, delays no other. */
  readonly #stops: KeyedQueue
  /** Ids of containers that none of the groups of `#expired` concerns, until groups or members change. */
  #unaffected = new Set<string>()
  /** Ids of the groups that had expired at the last check. */
  #expired = ''
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  #isClosed = false

  constructor(parts: GroupExpiryParts) {
    this.#parts = parts
    this.#stops = new KeyedQueue(parts.parallelStops)
  }

  /** Starts the checks, or starts them anew because groups or members have changed. */
  start(): void {
    clearInterval(this.#timer)
    // A check that is under way notes what it finds in the former set.
    this.#unaffected = new Set()
    if (this.#isClosed || !this.#parts.directory.hasEnding) return
    this.#timer = setInterval(() => void this.check(new Date()), checkInterval)
    this.#timer.unref()
    void this.check(new Date())
  }

  /** Nothing begins afterwards, also because of a change that is made while Berth stops. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#stops.clear()
  }

  /** One check at a time. Never rejects: what failed is tried again at the next one. */
  async check(now: Date): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    try {
      const candidates = this.#candidates(now)
      for (let at = 0; at < candidates.length && !this.#isClosed; at += batchSize)
        await this.#stopExpired(candidates.slice(at, at + batchSize), now)
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking for containers of expired groups failed; it is retried')
    } finally {
      this.#isChecking = false
    }
  }

  /** Running and paused containers of types of expired groups, of all owners; asks the store nothing. */
  #candidates(now: Date): Candidate[] {
    const { directory, routeSync } = this.#parts
    const expired = directory.expired(now)
    this.#forgetIfOthers(expired)
    if (expired.length === 0) return []
    const running = [...routeSync.running()].flatMap(({ known: { userId, type, containerId } }) =>
      containerId === null ? [] : [{ userId, type, containerId }],
    )
    const ids = new Set(running.map(({ containerId }) => containerId))
    for (const id of this.#unaffected) if (!ids.has(id)) this.#unaffected.delete(id)
    return running.filter(
      ({ containerId, type }) => !this.#unaffected.has(containerId) && expired.some((group) => covers(group, type)),
    )
  }

  /** A group expires by time alone, which is no change of it: it may concern what those before did not. */
  #forgetIfOthers(expired: readonly Pick<Group, 'id'>[]): void {
    const ids = expired.map(({ id }) => id).join()
    if (ids === this.#expired) return
    this.#expired = ids
    this.#unaffected = new Set()
  }

  async #stopExpired(candidates: readonly Candidate[], now: Date): Promise<void> {
    const { db, directory, templates } = this.#parts
    const unaffected = this.#unaffected
    const groupIds = await listGroupIdsOfAll(db, [...new Set(candidates.map(({ userId }) => userId))])
    for (const { userId, type, containerId } of candidates) {
      const groups = directory.find(groupIds.get(userId) ?? [])
      if (expiredGroup(groups, type, templates.get(type)?.groups ?? [], now)) this.#stop({ userId, type })
      else unaffected.add(containerId)
    }
  }

  #stop(owned: ContainerRef): void {
    const { stop, log } = this.#parts
    this.#stops.add(containerKey(owned), async () => {
      try {
        if (await stop(owned)) log.info(owned, 'stopped a container of an expired group')
      } catch (err) {
        log.warn({ err, ...owned }, 'stopping a container of an expired group failed; it is retried')
      }
    })
  }
}
