import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { containerKey, type ContainerRef } from '#/containers/container-key.ts'
import type { RouteSync } from '#/containers/routing/route-sync.ts'
import type { Templates } from '#/containers/templates/template.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOf } from '#/store/groups/group-members.ts'
import { covers, type GroupDirectory } from './group-directory.ts'
import { expiredGroup } from './launch-rules.ts'

/** Between two checks, in ms: what an expired group forbids stops within 30 s. */
const checkInterval = 5_000
/** Containers that are looked up, or stopped, at the same time. */
const maxParallel = 8

export interface GroupExpiryParts {
  readonly db: Db
  readonly directory: Pick<GroupDirectory, 'expired' | 'hasEnding' | 'find'>
  readonly templates: Pick<Templates, 'get'>
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
  readonly #limit = pLimit(maxParallel)
  readonly #pending = new Set<string>()
  /** Ids of containers that no expired group concerns, until groups or members change. */
  readonly #unaffected = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(parts: GroupExpiryParts) {
    this.#parts = parts
  }

  /** Starts the checks, or starts them anew because groups or members have changed. */
  start(): void {
    this.#stop()
    this.#unaffected.clear()
    if (this.#isClosed || !this.#parts.directory.hasEnding) return
    this.#timer = setInterval(() => this.check(new Date()), checkInterval)
    this.#timer.unref()
    this.check(new Date())
  }

  /** Also of a change that is made while Berth stops. */
  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#limit.clearQueue()
    this.#pending.clear()
  }

  /** Begins one check; what it finds is stopped behind it. */
  check(now: Date): void {
    const { directory, routeSync } = this.#parts
    const expired = directory.expired(now)
    if (expired.length === 0) return
    const running = new Set<string>()
    for (const { known } of routeSync.running()) {
      const id = known.containerId
      if (id === null) continue
      running.add(id)
      if (!this.#unaffected.has(id) && expired.some((group) => covers(group, known.type)))
        void this.#consider(known, id, now)
    }
    for (const id of this.#unaffected) if (!running.has(id)) this.#unaffected.delete(id)
  }

  /** Never rejects: what failed is tried again at the next check. */
  async #consider({ userId, type }: ContainerRef, containerId: string, now: Date): Promise<void> {
    const owned = { userId, type }
    const key = containerKey(owned)
    if (this.#pending.has(key)) return
    this.#pending.add(key)
    try {
      await this.#limit(() => this.#stopIfExpired(owned, containerId, now))
    } catch (error) {
      this.#parts.log.warn(
        { err: error, userId, type },
        'stopping a container of an expired group failed; it is retried',
      )
    } finally {
      this.#pending.delete(key)
    }
  }

  async #stopIfExpired(owned: ContainerRef, containerId: string, now: Date): Promise<void> {
    const { db, directory, templates, stop, log } = this.#parts
    const groups = directory.find(await listGroupIdsOf(db, owned.userId))
    const group = expiredGroup(groups, owned.type, templates.get(owned.type)?.groups ?? [], now)
    if (!group) return void this.#unaffected.add(containerId)
    if (await stop(owned)) log.info({ ...owned, group: group.id }, 'stopped a container of an expired group')
  }
}
