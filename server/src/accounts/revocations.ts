import type { Database } from '#/store/database.ts'
import { deleteExpiredRevocations, insertRevokedToken, listRevokedTokens } from '#/store/revoked-tokens.ts'
import type { Claims } from './access-token.ts'

/**
 * Which tokens were revoked before their time. Held in memory, as specified (Authentication 3), and written through:
 * a restart must not sign people in again who signed out.
 */
export class Revocations {
  readonly #database: Database
  readonly #expiryByJti = new Map<string, Date>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Reads what was revoked before this start. */
  async load(now: Date): Promise<void> {
    for (const { jti, expiresAt } of await listRevokedTokens(this.#database.db, now))
      this.#expiryByJti.set(jti, expiresAt)
  }

  has(jti: string): boolean {
    return this.#expiryByJti.has(jti)
  }

  /** Durable when it resolves; refused from the first moment on. */
  async revoke(claims: Claims): Promise<void> {
    this.#expiryByJti.set(claims.jti, claims.expiresAt)
    await insertRevokedToken(this.#database.db, claims)
  }

  /** Forgets tokens that have expired by themselves. */
  async prune(now: Date): Promise<void> {
    for (const [jti, expiresAt] of this.#expiryByJti) if (expiresAt <= now) this.#expiryByJti.delete(jti)
    await deleteExpiredRevocations(this.#database.db, now)
  }
}
