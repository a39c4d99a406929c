import { crashPoint } from '#/crash-points.ts'
import { refusals } from '#/errors.ts'
import { insertAuditEntries } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { keepHomes, type KeptHome } from '#/store/containers/kept-homes.ts'
import { insertRemovals, type RemovedContainer } from '#/store/containers/removals.ts'
import { endTakeoversBy, type StoredSession } from '#/store/users/sessions.ts'
import { deleteContainer, listContainersOf } from '#/store/containers/user-containers.ts'
import { deleteUser, findUser, type User } from '#/store/users/users.ts'
import type { Actor } from './actor.ts'
import { administer, requireUser, refuseSelfAndLast } from './guards.ts'

export interface DeletionSettings {
  /** How long the homes of a deleted person are kept, in seconds. */
  readonly keepHomes: number
  /** The types that are configured: a launch under way may have made a container of any of them. */
  readonly types: readonly string[]
  /** The name of a home. */
  readonly homeOf: (container: RemovedContainer) => string
}

/** What follows a deletion, once it is stored. */
export interface DeletionEffects {
  /** Tells the gateway what the store says of this user now. What was open and is forbidden now is cut when it resolves. */
  publish(userId: number): Promise<void>
  /**
   * Removes these containers, and homes the time of which is over, from the engine; must not throw and must end within a
   * limit of its own.
   * @returns whether all that is done
   */
  remove(containers: readonly RemovedContainer[]): Promise<boolean>
  /** Refuses, everywhere, sessions that the store says are ended. */
  revokeSessions(ended: readonly StoredSession[]): Promise<void>
}

/** How far a deletion has come when it is answered. */
export interface Deleted {
  /** False when the engine has still to remove something; it is repeated until it has. */
  readonly isFinished: boolean
}

/**
 * Deleting containers and accounts.
 * The record goes first, together with the audit entry and a note of what the engine has to do: from that moment nobody
 * gets in, and the note is worked off by the reconciler, and by the owner's next launch, until nothing is left.
 */
export class Deletion {
  readonly #database: Database
  readonly #settings: DeletionSettings
  readonly #effects: DeletionEffects

  constructor(database: Database, settings: DeletionSettings, effects: DeletionEffects) {
    this.#database = database
    this.#settings = settings
    this.#effects = effects
  }

  /**
   * Deletes a container and its record; the next launch makes a new one.
   * @param isPurge removes its home, too; without it the home comes back with the next launch
   * @throws {Refusal} 403 as `administer` · 404
   */
  async deleteContainer(actor: Actor, id: number, isPurge: boolean, now: Date): Promise<Deleted> {
    const container = await administer(this.#database, actor, async (tx) => {
      const record = await deleteContainer(tx, id)
      const owner = record && (await findUser(tx, record.userId))
      if (!owner) throw refusals.notFound('container')
      const removed = { userId: owner.id, slug: owner.slug, type: record.type }
      await insertRemovals(tx, [removed], { isPurge, now })
      await insertAuditEntries(tx, [
        {
          at: now,
          actor,
          action: 'container.delete',
          target: `container:${id}`,
          detail: { user: owner.id, type: record.type, purge: isPurge },
          before: {
            container_id: record.containerId,
            template_image: record.image,
            is_blocked: record.isBlocked,
            created_at: record.createdAt,
          },
        },
      ])
      return removed
    })
    return this.#removeAndPublish(container.userId, [container])
  }

  /**
   * Deletes an account with its records and links. Its id and slug are never given again; its homes are kept for a while.
   * @param isPurge its homes are not kept
   * @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the last administrator who is not blocked
   */
  async deleteUser(actor: Actor, id: number, isPurge: boolean, now: Date): Promise<Deleted> {
    const { containers, takeovers } = await administer(this.#database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      await refuseSelfAndLast(tx, actor, user, 'delete')
      const records = await listContainersOf(tx, id)
      const removed = this.#containersOf(
        user,
        records.map(({ type }) => type),
      )
      await insertRemovals(tx, removed, { isPurge: false, now })
      await keepHomes(tx, this.#homesOf(removed), isPurge ? now : this.#keepUntil(now))
      const takeovers = await endTakeoversBy(tx, [id], now)
      await deleteUser(tx, id)
      await insertAuditEntries(tx, [
        {
          at: now,
          actor,
          action: 'user.delete',
          target: `user:${id}`,
          detail: { slug: user.slug, containers: records.map((record) => record.id), purge: isPurge },
          // The last that is known of them: other entries name them by their id alone.
          before: {
            email: user.email,
            state: user.state,
            is_admin: user.isAdmin,
            is_blocked: user.isBlocked,
            created_at: user.createdAt,
          },
        },
      ])
      return { containers: removed, takeovers }
    })
    return this.#removeAndPublish(id, containers, takeovers)
  }

  /** The removal is not kept waiting, nor given up, by a gateway that does not answer. @throws what telling the gateway threw */
  async #removeAndPublish(
    userId: number,
    containers: readonly RemovedContainer[],
    ended: readonly StoredSession[] = [],
  ): Promise<Deleted> {
    crashPoint('delete.after-store')
    const [published, revoked, removed] = await Promise.allSettled([
      this.#effects.publish(userId),
      this.#effects.revokeSessions(ended),
      this.#effects.remove(containers),
    ])
    for (const each of [published, revoked]) if (each.status === 'rejected') throw each.reason
    return { isFinished: removed.status === 'fulfilled' && removed.value }
  }

  /** Those with a record, and those that a launch may be making at this moment. */
  #containersOf(user: User, recorded: readonly string[]): RemovedContainer[] {
    const types = new Set([...recorded, ...this.#settings.types])
    return [...types].map((type) => ({ userId: user.id, slug: user.slug, type }))
  }

  /** Their names are derived: the engine need not answer at this moment. */
  #homesOf(containers: readonly RemovedContainer[]): KeptHome[] {
    return containers.map((container) => ({ ...container, volume: this.#settings.homeOf(container) }))
  }

  #keepUntil(now: Date): Date {
    return new Date(now.getTime() + this.#settings.keepHomes * 1_000)
  }
}
