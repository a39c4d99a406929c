import type { UseReason } from '@berth/api/schemas/user.ts'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import { isAddress } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { Activity } from './activity.ts'
import { idleTimesOf } from './idle-timeout-monitor.ts'

/** When a container is suspended if it is not used any more. */
export interface IdleOutlook {
  readonly at: Date
  /** What counts as its last use. */
  readonly why: UseReason
}

/** Says when idle containers are suspended, from what is in memory. */
export class IdleOutlooks {
  readonly #templates: Pick<Templates, 'get'>
  readonly #routeSync: Pick<RouteSync, 'get' | 'routeOf'>
  readonly #activity: Pick<Activity, 'lastUseOf' | 'resumedAt'>
  readonly #capabilities: Pick<RuntimeCapabilities, 'pauses' | 'reportsUsage'>

  constructor(
    templates: Pick<Templates, 'get'>,
    routeSync: Pick<RouteSync, 'get' | 'routeOf'>,
    activity: Pick<Activity, 'lastUseOf' | 'resumedAt'>,
    capabilities: Pick<RuntimeCapabilities, 'pauses' | 'reportsUsage'>,
  ) {
    this.#templates = templates
    this.#routeSync = routeSync
    this.#activity = activity
    this.#capabilities = capabilities
  }

  /** Undefined for a container that does not run, or is never suspended. */
  of(owned: ContainerRef): IdleOutlook | undefined {
    const template = this.#templates.get(owned.type)
    const known = this.#routeSync.get(owned)
    const where = known && this.#routeSync.routeOf(known)?.where
    if (!template || !where || !isAddress(where)) return undefined
    const { idlePause, idleTimeout } = idleTimesOf(template, this.#capabilities)
    const { at, why } = this.#activity.lastUseOf(owned)
    const pauseAt =
      where.isPaused || idlePause === 0 ? Infinity : Math.max(at, this.#activity.resumedAt(owned)) + idlePause * 1_000
    const next = Math.min(pauseAt, idleTimeout === 0 ? Infinity : at + idleTimeout * 1_000)
    if (next === Infinity) return undefined
    return { at: new Date(Date.now() + Math.max(0, next - performance.now())), why }
  }
}
