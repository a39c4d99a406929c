import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { pageOf } from '#/store/page.ts'
import { apiTokenEntry } from '#/store/api-token-entry.ts'
import { deleteApiToken, listApiTokens, listApiTokensOf, type StoredApiToken } from '#/store/api-tokens.ts'
import type { ApiTokenEffects } from '#/store/lost-rights.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, ownerId } from '#/accounts/guards.ts'

/** A page of API tokens, newest first, each with the address of its owner. */
export interface ApiTokenPage {
  readonly tokens: (StoredApiToken & { readonly email: string })[]
  /** Id before which the next page begins; null after the last page. */
  readonly next: number | null
}

/** The API tokens of all users, for administrators: seen without the tokens themselves, and removed. */
export class ApiTokenAdministration {
  readonly #database: Database
  readonly #effects: ApiTokenEffects

  constructor(database: Database, effects: ApiTokenEffects) {
    this.#database = database
    this.#effects = effects
  }

  /** @param owner id or e-mail address; undefined for all owners, an unknown one has none @param before id of the last row of the page before */
  async list(owner: string | undefined, limit: number, before?: number): Promise<ApiTokenPage> {
    const { db } = this.#database
    const userId = owner === undefined ? undefined : await ownerId(db, owner)
    const found = await listApiTokens(db, { limit: limit + 1, before }, userId)
    const { rows, next } = pageOf(found, limit, ({ id }) => id)
    return { tokens: rows, next }
  }

  /** Removes a token of any user; it counts no more when this resolves. @throws {Refusal} 403 as `administer` · 404 */
  async revoke(actor: Actor, id: number, now: Date): Promise<void> {
    const removed = await administer(this.#database, actor, async (tx) => {
      const token = await deleteApiToken(tx, id)
      if (!token) throw refusals.notFound('token')
      await insertAuditEntries(tx, [apiTokenEntry('token.remove', actor, token, now)])
      return token
    })
    this.#effects.endStreams(removed)
  }

  /** Removes all tokens of a user; one that is removed meanwhile is what was wanted. @throws {Refusal} 403 as `administer` */
  async revokeAllOf(actor: Actor, userId: number, now: Date): Promise<void> {
    for (const { id } of await listApiTokensOf(this.#database.db, userId))
      await this.revoke(actor, id, now).catch((error: unknown) => {
        if (!(error instanceof Refusal && error.status === 404)) throw error
      })
  }
}
