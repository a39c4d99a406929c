import type { StopReason } from '@berth/api/schemas/container.ts'
import type { Logger } from 'pino'
import { withTimeout } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { findContainer, type ContainerRef } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { Activity } from '#/containers/idle/activity.ts'
import type { AdmissionControl } from '#/containers/launch/admission-control.ts'
import { idleTimesOf, type IdleTimes } from '#/containers/idle/idle-timeout-monitor.ts'
import { isAddress } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { IdleSuspension } from '#/containers/idle/idle-suspension.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** Timeout of a request that waits for a stop, in ms; the stop continues after that. */
const stopTimeout = 25_000
/** Interval of checks whether a launch before the stop is queued and can be cancelled, in ms. */
const cancelInterval = 250

export interface OwnerActionsParts {
  readonly database: Database
  readonly templates: Templates
  readonly admission: Pick<AdmissionControl, 'cancel'>
  readonly routeSync: Pick<RouteSync, 'get' | 'routeOf' | 'isUnknown'>
  readonly idleSuspension: Pick<IdleSuspension, 'stopNow'>
  readonly activity: Pick<Activity, 'startOver'>
  readonly capabilities: RuntimeCapabilities
  readonly log: Pick<Logger, 'warn'>
}

/** Actions of a container's owner beside launching: stop and keep; also in a takeover. */
export class OwnerActions {
  readonly #parts: OwnerActionsParts

  constructor(parts: OwnerActionsParts) {
    this.#parts = parts
  }

  /**
   * Stops it at once; its home stays, and the next launch, or page at its address, starts it again; no other request does. A launch in progress is
   * cancelled: at once while it is queued or pulls its image, otherwise after the present step of the engine.
   * @param by who asks: in a takeover an administrator
   * @returns false when it did not run
   * @throws {Refusal} 400 unknown type · 403 blocked · 500 the engine could not, or takes too long; then the stop
   * continues
   */
  async stop(user: User, type: string, by: 'owner' | 'administrator' = 'owner'): Promise<boolean> {
    await this.#requireUnblocked(user, type)
    return this.stopUnchecked({ userId: user.id, type }, by)
  }

  /** The same whatever is blocked, and of a type that need not be configured any more. @throws {Refusal} 500 as `stop` */
  async stopUnchecked(owned: ContainerRef, why: StopReason): Promise<boolean> {
    const stop = this.#stopNow(owned, why)
    const stopped = await withTimeout(stopTimeout, stop)
    if (stopped !== undefined) return stopped
    stop.catch((error: unknown) =>
      this.#parts.log.warn({ err: error, ...owned }, 'a stop failed after its request had timed out'),
    )
    throw refusals.stopFailed(new Error(`a stop took longer than ${stopTimeout} ms`))
  }

  /**
   * Restarts its idle time now. Also when traffic reaches it through another gateway process: that one reports use here
   * (`ControlPlane.reportActivity`), and every suspension is decided here.
   * @returns the earliest suspension; null when it is never suspended, or does not run
   * @throws {Refusal} 400 unknown type · 403 blocked · 500 the engine does not answer about it
   */
  async keep(user: User, type: string, now: Date): Promise<Date | null> {
    const { routeSync, activity } = this.#parts
    const template = await this.#requireUnblocked(user, type)
    const known = routeSync.get({ userId: user.id, type })
    if (known && routeSync.isUnknown(known)) throw refusals.keepFailed(new Error('the engine does not answer about it'))
    const where = known && routeSync.routeOf(known)?.where
    if (!known || known.wasStopped || !where || !isAddress(where)) return null
    activity.startOver(known, 'kept')
    const secondsLeft = secondsToSuspension(idleTimesOf(template, this.#parts.capabilities), where.isPaused)
    return secondsLeft === 0 ? null : new Date(now.getTime() + secondsLeft * 1_000)
  }

  /** @throws {Refusal} 400 · 403 */
  async #requireUnblocked(user: User, type: string): Promise<Template> {
    const { templates, database } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    const record = await findContainer(database.db, user.id, type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    return template
  }

  /** A launch before it may not be queued yet, so this checks at intervals until it holds the flight. */
  async #stopNow(owned: ContainerRef, why: StopReason): Promise<boolean> {
    const { admission, idleSuspension } = this.#parts
    const cancel = () => admission.cancel(owned, refusals.launchStopped())
    cancel()
    using timer = setInterval(cancel, cancelInterval)
    return await idleSuspension.stopNow(owned, why, { onBegin: () => clearInterval(timer) })
  }
}

/** 0 is never. */
const secondsToSuspension = ({ idlePause, idleTimeout }: IdleTimes, isPaused: boolean) =>
  isPaused ? idleTimeout : idlePause || idleTimeout
