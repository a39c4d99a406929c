import { refusals } from '#/errors.ts'
import type { Gateway } from '#/gateway/gateway.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { noteRunning, noteStopped } from '#/store/containers/user-containers.ts'
import type { Activity } from './activity.ts'
import type { SingleFlight } from '../../concurrency/single-flight.ts'
import { isAddress, type ContainerState } from '../state/container-state.ts'
import { containerKey, type ContainerRef } from '../container-key.ts'
import type { RouteSync } from '../routing/route-sync.ts'

/** The two steps: memory kept but no CPU, and neither. */
export type SuspendMode = 'pause' | 'stop'

export interface IdleSuspensionParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly gateway: Gateway
  readonly singleFlight: SingleFlight
  readonly routeSync: RouteSync
  readonly activity: Activity
}

/**
 * Idle suspension: pauses or stops containers without traffic. The gateway first makes sure that no byte moves and
 * holds whoever comes; they wait for a wake, which waits in the same queue as this, and then starts it again.
 */
export class IdleSuspension {
  readonly #parts: IdleSuspensionParts

  constructor(parts: IdleSuspensionParts) {
    this.#parts = parts
  }

  /**
   * @param quietFor ms without a byte that are asked for
   * @returns `used`, when it was used meanwhile and nothing was done; `done`, also when there is nothing to do any more
   * @throws {RuntimeError} when the engine could not; requests reach it again then
   */
  async suspend(owned: ContainerRef, mode: SuspendMode, quietFor: number): Promise<'done' | 'used'> {
    return this.#parts.singleFlight.run(containerKey(owned), mode === 'pause' ? 'pause' : 'idle stop', () =>
      this.#suspendExclusive(owned, mode, quietFor),
    )
  }

  /**
   * Stops it at once, whoever uses it: what is open to it is cut. Its owner's next request starts it again; one that only
   * waited to be started again after the engine's restart is not.
   * @param onBegin called when whatever was asked of this container before is done
   * @returns false when it did not run @throws {Refusal} 500 when the engine could not, or does not answer about it
   */
  async stopNow(owned: ContainerRef, onBegin: () => void = () => undefined): Promise<boolean> {
    const { routeSync, singleFlight, database } = this.#parts
    return singleFlight.run(containerKey(owned), 'stop', async () => {
      onBegin()
      if (!routeSync.isEngineAnswering) throw refusals.stopFailed(new Error('the engine does not answer'))
      const known = routeSync.get(owned)
      if (known && routeSync.isUnknown(known))
        throw refusals.stopFailed(new Error('the engine does not answer about it'))
      if (!known || !this.#isDue(known, 'stop')) {
        await noteRunning(database.db, owned.userId, owned.type, null)
        return false
      }
      try {
        await this.#suspendExclusive(owned, 'stop', 0)
      } catch (error) {
        throw error instanceof RuntimeError ? refusals.stopFailed(error) : error
      }
      return true
    })
  }

  async #suspendExclusive(owned: ContainerRef, mode: SuspendMode, quietFor: number): Promise<'done' | 'used'> {
    const { routeSync, activity } = this.#parts
    const known = routeSync.get(owned)
    if (!known || !this.#isDue(known, mode)) return 'done'
    const lastUse = activity.lastOf(known)
    if (performance.now() - lastUse < quietFor || !(await this.#hold(known, quietFor))) return 'used'
    try {
      // Its owner may have asked to keep it, which no byte tells the gateway of.
      if (quietFor > 0 && activity.lastOf(known) !== lastUse) return 'used'
      await (mode === 'pause' ? this.#pause(known) : this.#stop(known))
      return 'done'
    } finally {
      await routeSync.republish(owned)
      await activity.write(owned)
    }
  }

  /** One that was not confirmed may count all the same, and nobody would end it: requests would wait for ever. */
  async #hold(known: ContainerState, quietFor: number): Promise<boolean> {
    const { routeSync, gateway } = this.#parts
    try {
      return await gateway.hold(known.prefix, quietFor)
    } catch (error) {
      await routeSync.republish(known)
      throw error
    }
  }

  /** It may have ended, or been paused, while this waited for its turn. */
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
    // An engine that restarts loses what was paused; nobody used it, so nothing is started again.
    await noteRunning(database.db, known.userId, known.type, null)
  }

  /** Noted before it is done: whatever the program says when it ends, it has not crashed. */
  async #stop(known: ContainerState): Promise<void> {
    const { database, routeSync, runtime } = this.#parts
    const { containerId, userId, type } = known
    if (containerId === null) return
    await noteStopped(database.db, userId, type, new Date())
    await routeSync.publishUser(userId)
    try {
      await runtime.stop(containerId)
    } catch (error) {
      await noteStopped(database.db, userId, type, null)
      throw error
    }
  }
}
