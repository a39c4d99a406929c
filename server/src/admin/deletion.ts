import type { Revocations } from '#/accounts/sessions/revocations.ts'
import { sharedHome } from '#/containers/container-name.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import {
  insertRemovals,
  keepHomes,
  notKept,
  type KeptHome,
  type NewRemoval,
  type RemovedContainer,
} from '#/store/removals.ts'
import { forgetInGroupInvitations } from '#/store/group-members.ts'
import { deleteSharesWith } from '#/store/container-shares.ts'
import { deleteTermEndMembersOf, forgetStarter } from '#/store/term-ends.ts'
import { endTakeoversBy } from '#/store/session-ends.ts'
import type { StoredSession } from '#/store/sessions.ts'
import { deleteContainer, listContainersOf, type UserContainer } from '#/store/user-containers.ts'
import { deleteUser, findUser, type User } from '#/store/users.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, requireUser, refuseSelfAndLast } from '#/accounts/administrator-changes.ts'

export interface DeletionSettings {
  /** Retention of the homes of a deleted user, in seconds. */
  readonly keepHomes: number
  /** Configured types: a launch in progress may have created a container of any of them. */
  readonly types: readonly string[]
  /** Name of a home. */
  readonly homeOf: (container: RemovedContainer) => string
  /** Types whose containers have the same home as this one, itself among them. */
  readonly typesWith: (type: string) => readonly string[]
  readonly sharesHome: (type: string) => boolean
}

export interface DeletionParts {
  readonly database: Database
  readonly settings: DeletionSettings
  readonly containers: Pick<Containers, 'publishUsers' | 'finishRemovals'>
  readonly revocations: Pick<Revocations, 'revokeStored'>
  /** Archives of homes, of ends of terms. */
  readonly archives: { remove(file: string): Promise<unknown> }
}

/** What only the end of a term needs: it plans deletions long before. */
export interface DeletionTerms {
  /** Throws when there is a reason by now not to delete; in the transaction of the deletion. */
  readonly check?: (tx: Tx) => Promise<void>
  /** Archives of ends of terms outlive the account. */
  readonly keepsArchives?: boolean
}

/** Progress of a deletion when its request is answered. */
export interface Deleted {
  /** False when the engine has still to remove something; the reconciler repeats it until it has. */
  readonly isFinished: boolean
  /** Types whose records keep a home that was to be purged, because their containers have it, too. */
  readonly homeKeptFor: readonly string[]
}

/**
 * Deletion of containers and accounts (of personal data: right to erasure, GDPR article 17).
 * The record is deleted first, in one transaction with the audit entry and a pending removal: from that moment there is
 * no access, and the reconciler and the owner's next launch carry out the removal.
 */
export class Deletion {
  readonly #parts: DeletionParts
  readonly #onDeleted: (() => Promise<void>)[] = []

  constructor(parts: DeletionParts) {
    this.#parts = parts
  }

  /**
   * @param listener awaited before the request is answered, when the gateway knows of the deletion: the next account with this
   * address belongs to another person
   */
  onDeleted(listener: () => Promise<void>): void {
    this.#onDeleted.push(listener)
  }

  /**
   * Deletes a container and its record; the next launch creates a new one.
   * @param isPurge removes its home, too, unless another record of the person has it; otherwise the next launch uses it again
   * @throws {Refusal} 403 as `administer` · 404 · what `check` throws
   */
  async deleteContainer(
    actor: Actor,
    id: number,
    isPurge: boolean,
    now: Date,
    { check }: Pick<DeletionTerms, 'check'> = {},
  ): Promise<Deleted> {
    const { settings } = this.#parts
    const { containers, homeKeptFor } = await administer(this.#parts.database, actor, async (tx) => {
      await check?.(tx)
      const record = await deleteContainer(tx, id)
      const owner = record && (await findUser(tx, record.userId))
      if (!owner) throw refusals.notFound('container')
      const removed = { userId: owner.id, slug: owner.slug, type: record.type, containerId: record.containerId }
      const others = (await listContainersOf(tx, owner.id)).map(({ type }) => type)
      const kept = isPurge ? settings.typesWith(record.type).filter((type) => others.includes(type)) : []
      const purge = isPurge && kept.length === 0
      const isShared = settings.sharesHome(record.type)
      await insertRemovals(tx, [removed], { isPurge: purge && !isShared, now })
      const shared = purge && isShared ? [{ ...removed, type: sharedHome, containerId: null }] : []
      await insertRemovals(tx, shared, { isPurge: true, now })
      await insertAuditEntries(tx, [
        {
          at: now,
          actor,
          action: 'container.delete',
          target: `container:${id}`,
          detail: { user: owner.id, type: record.type, purge },
          before: {
            container_id: record.containerId,
            template_image: record.image,
            is_blocked: record.isBlocked,
            created_at: record.createdAt,
          },
        },
      ])
      return { containers: [removed, ...shared], homeKeptFor: kept }
    })
    const deleted = await this.#removeAndPublish(containers[0]?.userId ?? 0, containers)
    return { ...deleted, homeKeptFor }
  }

  /**
   * Deletes an account with its records, links, and archives of ends of terms. Its id and slug are never assigned
   * again; its homes are kept for a while.
   * @param isPurge removes its homes, too
   * @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the last administrator who is not blocked · what
   * `check` throws
   */
  async deleteUser(
    actor: Actor,
    id: number,
    isPurge: boolean,
    now: Date,
    { check, keepsArchives = false }: DeletionTerms = {},
  ): Promise<Deleted> {
    const { containers, takeovers, archives } = await administer(this.#parts.database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      await check?.(tx)
      await refuseSelfAndLast(tx, actor, user, 'delete')
      const records = await listContainersOf(tx, id)
      const removed = this.#containersOf(user, records)
      await insertRemovals(tx, removed, { isPurge: false, now })
      await keepHomes(tx, this.#homesOf(removed), isPurge ? notKept : this.#keepUntil(now))
      const takeovers = await endTakeoversBy(tx, [id], now)
      await forgetInGroupInvitations(tx, user)
      await forgetStarter(tx, id)
      await deleteSharesWith(tx, user.email)
      const archives = keepsArchives ? [] : await deleteTermEndMembersOf(tx, id)
      await deleteUser(tx, id)
      await insertAuditEntries(tx, [
        {
          at: now,
          actor,
          action: 'user.delete',
          target: `user:${id}`,
          detail: { slug: user.slug, containers: records.map((record) => record.id), purge: isPurge },
          // Other entries name the user by id alone: these are the last facts about them.
          personal: { before: { email: user.email } },
          before: {
            state: user.state,
            is_admin: user.isAdmin,
            is_blocked: user.isBlocked,
            created_at: user.createdAt,
          },
        },
      ])
      return { containers: removed, takeovers, archives }
    })
    return this.#removeAndPublish(id, containers, takeovers, archives)
  }

  /** A gateway that does not answer neither delays nor cancels the removal. @throws what `publish` threw */
  async #removeAndPublish(
    userId: number,
    containers: readonly RemovedContainer[],
    ended: readonly StoredSession[] = [],
    archives: readonly string[] = [],
  ): Promise<Deleted> {
    crashPoint('delete.after-store')
    const [published, revoked, removed, forgotten] = await Promise.allSettled([
      this.#publish(userId),
      this.#parts.revocations.revokeStored(ended),
      this.#parts.containers.finishRemovals(containers),
      this.#removeArchives(archives),
    ])
    for (const each of [published, revoked, forgotten]) if (each.status === 'rejected') throw each.reason
    return { isFinished: removed.status === 'fulfilled' && removed.value, homeKeptFor: [] }
  }

  async #publish(userId: number): Promise<void> {
    await this.#parts.containers.publishUsers([userId])
    for (const listener of this.#onDeleted) await listener()
  }

  async #removeArchives(files: readonly string[]): Promise<void> {
    for (const file of files) await this.#parts.archives.remove(file)
  }

  /** Containers with a record, and those that a launch may be creating at this moment. */
  #containersOf(user: User, records: readonly UserContainer[]): NewRemoval[] {
    const idOf = new Map(records.map(({ type, containerId }) => [type, containerId]))
    const types = new Set([...idOf.keys(), ...this.#parts.settings.types])
    return [...types].map((type) => ({
      userId: user.id,
      slug: user.slug,
      type,
      containerId: idOf.get(type) ?? null,
    }))
  }

  /** Their names are derived: the engine need not answer at this moment. */
  #homesOf(containers: readonly RemovedContainer[]): KeptHome[] {
    const shared = containers.slice(0, 1).map((each) => ({ ...each, type: sharedHome }))
    return [...containers, ...shared].map((each) => ({ ...each, volume: this.#parts.settings.homeOf(each) }))
  }

  #keepUntil(now: Date): Date {
    const { keepHomes } = this.#parts.settings
    return keepHomes === 0 ? notKept : new Date(now.getTime() + keepHomes * 1_000)
  }
}
