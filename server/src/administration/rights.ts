import { insertAuditEntries } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { endTakeoversBy, type StoredSession } from '#/store/users/sessions.ts'
import { setUserAdmin } from '#/store/users/users.ts'
import type { Actor } from './actor.ts'
import type { ApiTokenEffects } from './api-token-administration.ts'
import { administer, requireUser, refuseSelfAndLast } from './guards.ts'
import { withContainers, type UserWithContainers } from './admin-lists.ts'

/** Effects of a change, after it is stored. */
export interface RightsEffects extends ApiTokenEffects {
  /** Revokes sessions that the store has ended, wherever tokens are verified. */
  revokeSessions(ended: readonly StoredSession[]): Promise<void>
}

/**
 * Administrator rights. A change is in force from the user's next request, with their present tokens: the claim in a
 * token is for apps, the API reads the store.
 */
export class Rights {
  readonly #database: Database

  readonly #effects: RightsEffects

  constructor(database: Database, effects: RightsEffects) {
    this.#database = database
    this.#effects = effects
  }

  /**
   * Makes a user an administrator; idempotent. A blocked user may be made one, and administers once they are unblocked.
   * @throws {Refusal} 403 as `administer` · 404
   */
  async promote(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return this.#set(actor, id, true, now)
  }

  /**
   * Ends the rights of an administrator; idempotent. @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the
   * last administrator who is not blocked
   */
  async demote(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return this.#set(actor, id, false, now)
  }

  async #set(actor: Actor, id: number, isAdmin: boolean, at: Date): Promise<UserWithContainers> {
    const { takeovers, tokens, ...result } = await administer(this.#database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      if (user.isAdmin === isAdmin) return { ...(await withContainers(tx, id)), takeovers: [], tokens: [] }
      if (!isAdmin) await refuseSelfAndLast(tx, actor, user, 'demote')
      const tokens = await setUserAdmin(tx, id, isAdmin)
      const takeovers = isAdmin ? [] : await endTakeoversBy(tx, [id], at)
      const changed = await withContainers(tx, id)
      await insertAuditEntries(tx, [
        {
          at,
          actor,
          action: isAdmin ? 'user.promote' : 'user.demote',
          target: `user:${id}`,
          before: { is_admin: user.isAdmin },
          after: { is_admin: isAdmin },
        },
      ])
      return { ...changed, takeovers, tokens }
    })
    for (const token of tokens) this.#effects.endStreams(token)
    await this.#effects.revokeSessions(takeovers)
    return result
  }
}
