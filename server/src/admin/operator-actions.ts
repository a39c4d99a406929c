import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findContainers, type UserContainer } from '#/store/user-containers.ts'

/** The signing keys, as far as a rotation needs them. */
export interface KeyRing {
  readonly kid: string
  readonly retired: readonly { readonly kid: string; readonly until: Date }[]
  rotate(
    until: Date,
    steps: {
      onPlanned(planned: { readonly kid: string; readonly before: string }): Promise<void>
      onAccepted(): Promise<void>
    },
  ): Promise<void>
}

export interface RotationEffects {
  /** Max lifetime of a token, in seconds. */
  readonly tokenLifetime: number
  /** Publishes the accepted keys to the gateway. */
  publishKeys(): Promise<void>
}

/** Time for which an old key is accepted beyond its tokens' lifetime, in ms: max difference of two clocks. */
const maxClockSkew = 60_000

/**
 * Key rotation: signs tokens with a new key without ending sessions, for an old key, or one that may have leaked. Until
 * the old key is dropped, tokens that are forged with it are accepted; only removing the key file, which ends every
 * session, prevents that.
 */
export class RotateKeys {
  readonly #database: Database
  readonly #keys: KeyRing
  readonly #effects: RotationEffects

  constructor(database: Database, keys: KeyRing, effects: RotationEffects) {
    this.#database = database
    this.#keys = keys
    this.#effects = effects
  }

  /**
   * The audit entry is stored first: store and file cannot change in one step, and an entry without a rotation does
   * less harm than the reverse. @throws {Refusal} 409 too many rotations in a row
   */
  async run(actor: Actor, now: Date): Promise<Pick<KeyRing, 'kid' | 'retired'>> {
    const until = new Date(now.getTime() + this.#effects.tokenLifetime * 1_000 + maxClockSkew)
    await this.#keys.rotate(until, {
      onPlanned: ({ kid, before }) => this.#audit(actor, { kid, before, until }, now),
      onAccepted: () => this.#effects.publishKeys(),
    })
    return { kid: this.#keys.kid, retired: this.#keys.retired }
  }

  async #audit(actor: Actor, { kid, before, until }: { kid: string; before: string; until: Date }, at: Date) {
    const facts = { before: { kid: before }, after: { kid }, detail: { accepted_until: until } }
    await this.#database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'keys.rotate', target: `key:${kid}`, ...facts }]),
    )
  }
}

/** Result of a stop. */
export interface Stopped {
  readonly container: UserContainer
  /** False when it did not run. */
  readonly wasRunning: boolean
}

/** Stops a container without blocking it: the owner's next request starts it again. */
export class StopContainer {
  readonly #database: Database
  readonly #stop: (container: UserContainer) => Promise<boolean>

  /** @param stop within a timeout of its own; returns whether it ran @throws {Refusal} 500 when the engine could not */
  constructor(database: Database, stop: (container: UserContainer) => Promise<boolean>) {
    this.#database = database
    this.#stop = stop
  }

  /** The audit entry is stored before the stop. @throws {Refusal} 404 · what `stop` throws */
  async run(actor: Actor, id: number, now: Date): Promise<Stopped> {
    const container = await this.#database.transaction(async (tx) => {
      const [container] = await findContainers(tx, [id])
      if (!container) throw refusals.notFound('container')
      await insertAuditEntries(tx, [
        {
          at: now,
          actor,
          action: 'container.stop',
          target: `container:${id}`,
          detail: { user: container.userId, type: container.type },
        },
      ])
      return container
    })
    return { container, wasRunning: await this.#stop(container) }
  }
}
