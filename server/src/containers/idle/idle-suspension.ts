import type { StopReason } from '@berth/api/schemas/container.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import {
  containerKey,
  noteRunning,
  noteStopRequested,
  noteStopped,
  type ContainerRef,
} from '#/store/user-containers.ts'
import type { Activity } from './activity.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { isAddress, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'

/** `pause` keeps the memory and frees the CPU, `stop` frees both. */
export type SuspendMode = 'pause' | 'stop'

export interface IdleSuspensionParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly gateway: Gateway
  readonly singleFlight: SingleFlight
  readonly routeSync: RouteSync
  readonly activity: Activity
}

/** How a container is stopped at once. */
export interface StopOptions {
  /** Called when earlier operations on this container are done. */
  readonly onBegin?: () => void
  /** Asked then; when it says no, such as because the container was started anew meanwhile, nothing is done. */
  readonly isMeant?: () => Promise<boolean>
}

/** After these any request of its owner starts it again; after any other stop only a page or a launch does. */
const wakingReasons: ReadonlySet<StopReason> = new Set(['idle', 'version'])

/**
 * Idle suspension: pauses or stops containers without traffic. First the gateway confirms that no byte moves and holds
 * new requests. A held request waits for a wake, which is serialized with this by the container's single-flight and
 * starts the container again.
 */
export class IdleSuspension {
  readonly #parts: IdleSuspensionParts

  constructor(parts: IdleSuspensionParts) {
    this.#parts = parts
  }

  /**
   * Another operation on the container counts as use: one that waits in the launch queue would hold the caller's slot for
   * as long, and eight of them would end all suspensions.
   * @param quietFor required ms without a byte
   * @returns `used`, when it was used meanwhile and nothing was done; `done`, also when there is nothing left to do
   * @throws {RuntimeError} when the engine could not suspend it; requests reach it again
   */
  async suspend(owned: ContainerRef, mode: SuspendMode, quietFor: number): Promise<'done' | 'used'> {
    const { singleFlight } = this.#parts
    const key = containerKey(owned)
    if (singleFlight.isBusy(key)) return 'used'
    return singleFlight.run(key, mode === 'pause' ? 'pause' : 'idle stop', () =>
      this.#suspendExclusive(owned, mode, quietFor),
    )
  }

  /**
   * Stops it at once and closes its connections, whether it is used or not, also when a gateway cannot hold its requests. Its
   * owner starts it again with a page or a launch, which its open tab cannot (see `wakingReasons`), and that is stored;
   * a pending restore of it is cancelled. @param why its owner reads it
   * @returns false when it did not run, or is not meant @throws {Refusal} 500 when the engine could not, or does not answer about it
   */
  async stopNow(owned: ContainerRef, why: StopReason, { onBegin, isMeant }: StopOptions = {}): Promise<boolean> {
    const { routeSync, singleFlight } = this.#parts
    // A stop without a condition must not join one that may do nothing, one with a condition none that asks another, and neither
    // one after which any request starts it again.
    const verb = `${isMeant ? `conditional ${why} ` : ''}${wakingReasons.has(why) ? 'idle ' : ''}stop now`
    return singleFlight.run(containerKey(owned), verb, async () => {
      onBegin?.()
      if (!routeSync.isEngineAnswering) throw refusals.stopFailed(new Error('the engine does not answer'))
      const known = routeSync.get(owned)
      if (known && routeSync.isUnknown(known))
        throw refusals.stopFailed(new Error('the engine does not answer about it'))
      if (isMeant && !(await isMeant())) return false
      if (!known || !this.#isDue(known, 'stop')) {
        await this.#noteNotRunning(owned, why)
        return false
      }
      try {
        await this.#suspendExclusive(owned, 'stop', 0, why)
      } catch (error) {
        throw error instanceof RuntimeError ? refusals.stopFailed(error) : error
      }
      return true
    })
  }

  /** A tab may be open at a container that sleeps already. */
  async #noteNotRunning({ userId, type }: ContainerRef, why: StopReason): Promise<void> {
    const { database, routeSync } = this.#parts
    if (wakingReasons.has(why)) return noteRunning(database.db, userId, type, null)
    await noteStopRequested(database.db, userId, type)
    await routeSync.publishUser(userId)
  }

  /** @param asked why it is stopped by request, whether it is used or not */
  async #suspendExclusive(
    owned: ContainerRef,
    mode: SuspendMode,
    quietFor: number,
    asked?: StopReason,
  ): Promise<'done' | 'used'> {
    const { routeSync, activity } = this.#parts
    const known = routeSync.get(owned)
    if (!known || !this.#isDue(known, mode)) return 'done'
    const lastUse = activity.lastOf(known)
    if (performance.now() - lastUse < quietFor) return 'used'
    // A stop by request goes on without the hold, which spares requests an error. The engine gives its address to no other
    // container before all gateways have withdrawn it: a start waits for that (`fencedRuntime`).
    if (!(await this.#hold(known, quietFor)) && !asked) return 'used'
    try {
      // Its owner may have kept it, which moves no byte in the gateway.
      if (quietFor > 0 && activity.lastOf(known) !== lastUse) return 'used'
      await (mode === 'pause' ? this.#pause(known) : this.#stop(known, asked ?? 'idle'))
      return 'done'
    } finally {
      await routeSync.republish(owned)
      await activity.write(owned)
    }
  }

  /** Releases a hold that was not confirmed: it may be in force all the same, and its requests would wait for ever. */
  async #hold(known: ContainerState, quietFor: number): Promise<boolean> {
    const { routeSync, gateway, activity } = this.#parts
    try {
      const by = activity.hasTold(known) ? 'navigation' : undefined
      return await gateway.hold(known.prefix, quietFor, by)
    } catch (error) {
      await routeSync.republish(known)
      throw error
    }
  }

  /** The container may have ended, or been paused, while this waited for the flight. */
  #isDue(known: ContainerState, mode: SuspendMode): boolean {
    const where = this.#parts.routeSync.routeOf(known)?.where
    return where !== undefined && isAddress(where) && (mode === 'stop' || !where.isPaused)
  }

  async #pause(known: ContainerState): Promise<void> {
    const { database, routeSync, runtime } = this.#parts
    if (known.containerId === null) return
    const since = routeSync.now()
    await runtime.pause(known.containerId)
    await routeSync.applyConfirmed(known, 'paused', since)
    // An engine that restarts loses paused containers; they were not in use, so they are not restored.
    await noteRunning(database.db, known.userId, known.type, null)
  }

  /** Stored before the stop: an end that Berth requested is no crash, whatever the exit code. */
  async #stop(known: ContainerState, why: StopReason): Promise<void> {
    const { database, routeSync, runtime } = this.#parts
    const { containerId, userId, type } = known
    if (containerId === null) return
    await noteStopped(database.db, userId, type, new Date(), why, !wakingReasons.has(why))
    await routeSync.publishUser(userId)
    try {
      await runtime.stop(containerId)
    } catch (error) {
      await noteStopped(database.db, userId, type, null)
      throw error
    }
  }
}
