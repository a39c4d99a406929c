import { isAdminScope, type Scope } from '@berth/api/scopes.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import {
  deleteApiToken,
  deleteExpiredApiTokens,
  insertApiToken,
  listApiTokensOf,
  type StoredApiToken,
} from '#/store/api-tokens.ts'
import { apiTokenEntry } from '#/store/api-token-entry.ts'
import { normaliseEmail } from '#/accounts/sign-up/email-address.ts'
import type { Owner } from '#/accounts/sessions/session-list.ts'
import type { ApiTokenEffects } from '#/store/lost-rights.ts'
import { findUser, findUserByEmail } from '#/store/users.ts'
import { OwnChangeLimit } from './own-change-limit.ts'
import { apiTokenHash, newApiToken } from './api-token-secret.ts'

/** Tokens of one account, those that have expired included. */
const maxPerUser = 100
/** How long the owner sees a token that has expired, in ms. */
const expiredShownFor = 30 * 86_400_000

/** What a token is to be. */
export interface ApiTokenRequest {
  readonly name: string
  /** Kept in this order, each once. */
  readonly scopes: readonly Scope[]
  /** Seconds. */
  readonly expiresIn: number
}

/** A token that was made: the only moment at which it is known. */
export interface CreatedApiToken extends StoredApiToken {
  readonly token: string
}

/**
 * API tokens: a user's access for programs, with named scopes and an end. They die with the block, the deletion and, those
 * with an administrator's scope, the demotion of their owner: the store deletes them with that change (`lost-rights.ts`).
 */
export class ApiTokens {
  readonly #database: Database
  readonly #effects: ApiTokenEffects
  /** Also keeps a client from holding all connections to the database: a creation waits for a lock. */
  readonly #changes = new OwnChangeLimit()

  constructor(database: Database, effects: ApiTokenEffects) {
    this.#database = database
    this.#effects = effects
  }

  /** All of a user's tokens, newest first: at most 100. */
  list(userId: number): Promise<StoredApiToken[]> {
    return listApiTokensOf(this.#database.db, userId)
  }

  /**
   * Makes a token of this user.
   * @param actor the owner, or the operator
   * @throws {Refusal} 403 blocked, never verified, or a scope for administrators and the user is none · 404 user gone · 409 too many · 429 too many changes
   */
  async create(
    actor: AuditEntry['actor'],
    userId: number,
    { name, scopes, expiresIn }: ApiTokenRequest,
    now: Date,
  ): Promise<CreatedApiToken> {
    if (actor.id === userId) this.#changes.count(userId)
    const token = newApiToken()
    const wanted = [...new Set(scopes)]
    const stored = await this.#database.transaction(async (tx) => {
      // Blocks and demotions hold it, too: none is missed between this check and the insertion.
      await this.#database.lock(tx, 'administrators')
      await requireMayHave(tx, userId, wanted)
      const expiresAt = new Date(now.getTime() + expiresIn * 1_000)
      const made = {
        userId,
        tokenHash: apiTokenHash(token),
        name: name.trim(),
        scopes: wanted,
        createdAt: now,
        expiresAt,
      }
      const inserted = await insertApiToken(tx, made)
      await insertAuditEntries(tx, [apiTokenEntry('token.create', actor, inserted, now)])
      return inserted
    })
    return { ...stored, token }
  }

  /**
   * Makes a token of the account with this address, for the operator.
   * @throws {Refusal} 404 when no account has it · as `create`
   */
  async createFor(
    actor: AuditEntry['actor'],
    email: string,
    request: ApiTokenRequest,
    now: Date,
  ): Promise<CreatedApiToken> {
    const owner = await findUserByEmail(this.#database.db, normaliseEmail(email))
    if (!owner) throw refusals.notFound('user')
    return this.create(actor, owner.id, request, now)
  }

  /** Removes a token of this user, who asks; it counts no more when this resolves. @throws {Refusal} 404 none of theirs */
  async remove(owner: Owner, id: number, now: Date): Promise<void> {
    const removed = await this.#database.transaction(async (tx) => {
      const token = await deleteApiToken(tx, id, owner.id)
      if (!token) throw refusals.notFound('token')
      await insertAuditEntries(tx, [apiTokenEntry('token.remove', owner, token, now)])
      return token
    })
    this.#effects.endStreams(removed)
  }

  /** Deletes tokens that expired more than 30 days ago. */
  async prune(now: Date): Promise<void> {
    await deleteExpiredApiTokens(this.#database.db, new Date(now.getTime() - expiredShownFor))
  }
}

async function requireMayHave(tx: Tx, userId: number, scopes: readonly Scope[]): Promise<void> {
  const owner = await findUser(tx, userId)
  if (!owner) throw refusals.userGone()
  if (owner.isBlocked) throw refusals.userBlocked()
  if (owner.state === 'registered') throw refusals.notVerified()
  if (scopes.some(isAdminScope) && !owner.isAdmin) throw refusals.adminScope()
  if ((await listApiTokensOf(tx, userId)).length >= maxPerUser)
    throw refusals.conflict(message('requests.tooManyTokens', { max: maxPerUser }))
}
