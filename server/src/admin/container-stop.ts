import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findContainers, type UserContainer } from '#/store/user-containers.ts'
import type { Actor } from '#/accounts/actor.ts'

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
