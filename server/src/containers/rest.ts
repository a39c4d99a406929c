import { refusals } from '#/errors.ts'
import type { Gateway } from '#/gateway/gateway.ts'
import { RuntimeError, type Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { noteRunning, noteStopped } from '#/store/user-containers.ts'
import type { Activity } from './activity.ts'
import type { Flights } from './flights.ts'
import { isThere, type KnownContainer } from './known-container.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'

/** The two steps: memory kept but no CPU, and neither. */
export type RestKind = 'pause' | 'stop'

export interface RestParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly gateway: Gateway
  readonly flights: Flights
  readonly places: Places
  readonly activity: Activity
}

/**
 * Puts containers to rest that nobody uses, so that nobody notices: the gateway first makes sure that no byte moves and
 * holds whoever comes; they wait for a wake, which waits in the same queue as this, and then starts it again.
 */
export class Rest {
  readonly #parts: RestParts

  constructor(parts: RestParts) {
    this.#parts = parts
  }

  /**
   * @param quietFor ms without a byte that are asked for
   * @returns `used`, when it was used meanwhile and nothing was done; `done`, also when there is nothing to do any more
   * @throws {RuntimeError} when the engine could not; requests reach it again then
   */
  async rest(owned: OwnedType, kind: RestKind, quietFor: number): Promise<'done' | 'used'> {
    return this.#parts.flights.join(ownedKey(owned), kind === 'pause' ? 'pause' : 'idle stop', () =>
      this.#inFlight(owned, kind, quietFor),
    )
  }

  /**
   * Stops it at once, whoever uses it: what is open to it is cut. Its owner's next request starts it again; one that only
   * waited to be started again after the engine's restart is not.
   * @param onTurn called when whatever was asked of this container before is done
   * @returns false when it did not run @throws {Refusal} 500 when the engine could not, or does not answer about it
   */
  async stopNow(owned: OwnedType, onTurn: () => void = () => undefined): Promise<boolean> {
    const { places, flights, database } = this.#parts
    return flights.join(ownedKey(owned), 'stop', async () => {
      onTurn()
      if (!places.isEngineAnswering) throw refusals.stopFailed(new Error('the engine does not answer'))
      const known = places.get(owned)
      if (known && places.isUnknown(known)) throw refusals.stopFailed(new Error('the engine does not answer about it'))
      if (!known || !this.#isDue(known, 'stop')) {
        await noteRunning(database.db, owned.userId, owned.type, null)
        return false
      }
      try {
        await this.#inFlight(owned, 'stop', 0)
      } catch (error) {
        throw error instanceof RuntimeError ? refusals.stopFailed(error) : error
      }
      return true
    })
  }

  async #inFlight(owned: OwnedType, kind: RestKind, quietFor: number): Promise<'done' | 'used'> {
    const { places, activity } = this.#parts
    const known = places.get(owned)
    if (!known || !this.#isDue(known, kind)) return 'done'
    const lastUse = activity.lastOf(known)
    if (performance.now() - lastUse < quietFor || !(await this.#hold(known, quietFor))) return 'used'
    try {
      // Its owner may have asked to keep it, which no byte tells the gateway of.
      if (quietFor > 0 && activity.lastOf(known) !== lastUse) return 'used'
      await (kind === 'pause' ? this.#pause(known) : this.#stop(known))
      return 'done'
    } finally {
      await places.publishAnew(owned)
      await activity.write(owned)
    }
  }

  /** One that was not confirmed may count all the same, and nobody would end it: requests would wait for ever. */
  async #hold(known: KnownContainer, quietFor: number): Promise<boolean> {
    const { places, gateway } = this.#parts
    try {
      return await gateway.hold(known.prefix, quietFor)
    } catch (error) {
      await places.publishAnew(known)
      throw error
    }
  }

  /** It may have ended, or been paused, while this waited for its turn. */
  #isDue(known: KnownContainer, kind: RestKind): boolean {
    const where = this.#parts.places.placeOf(known)?.where
    return where !== undefined && isThere(where) && (kind === 'stop' || !where.isPaused)
  }

  async #pause(known: KnownContainer): Promise<void> {
    const { database, places, runtime } = this.#parts
    if (known.containerId === null) return
    const since = places.now()
    await runtime.pause(known.containerId)
    await places.expect(known, 'paused', since)
    // An engine that restarts loses what was paused; nobody used it, so nothing is started again.
    await noteRunning(database.db, known.userId, known.type, null)
  }

  /** Noted before it is done: whatever the program says when it ends, it has not crashed. */
  async #stop(known: KnownContainer): Promise<void> {
    const { database, places, runtime } = this.#parts
    const { containerId, userId, type } = known
    if (containerId === null) return
    await noteStopped(database.db, userId, type, new Date())
    await places.publishPerson(userId)
    try {
      await runtime.stop(containerId)
    } catch (error) {
      await noteStopped(database.db, userId, type, null)
      throw error
    }
  }
}
