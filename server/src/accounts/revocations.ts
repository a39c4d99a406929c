import type { Database } from '#/store/database.ts'
import { deleteExpiredRevocations, insertRevokedToken, listRevokedTokens } from '#/store/revoked-tokens.ts'
import type { Claims } from './access-token.ts'

/**
 * Which tokens were revoked before their time. Held in memory, as specified (Authentication 3), and written through:
 * a restart must not sign people in again who signed out.
 */
export class Revocations {
  readonly #database: Database
  readonly #onRevoked: (claims: Claims) => Promise<void>
  readonly #expiryByJti = new Map<string, Date>()

  /** @param onRevoked tells whoever judges tokens by themselves; a revocation waits for it */
  constructor(database: Database, onRevoked: (claims: Claims) => Promise<void>) {
    this.#database = database
    this.#onRevoked = onRevoked
  }

  /** Reads what was revoked before this start. */
  async load(now: Date): Promise<void> {
    for (const { jti, expiresAt } of await listRevokedTokens(this.#database.db, now))
      this.#expiryByJti.set(jti, expiresAt)
  }

  has(jti: string): boolean {
    return this.#expiryByJti.has(jti)
  }

  /** All that would still be accepted otherwise, for who begins to judge tokens. */
  all(): { jti: string; expiresAt: number }[] {
    return [...this.#expiryByJti].map(([jti, expiresAt]) => ({ jti, expiresAt: expiresAt.getTime() }))
  }

  /** Durable, and refused everywhere, when it resolves; refused here from the first moment on. */
  async revoke(claims: Claims): Promise<void> {
    this.#expiryByJti.set(claims.jti, claims.expiresAt)
    await Promise.all([insertRevokedToken(this.#database.db, claims), this.#onRevoked(claims)])
  }

  /** Forgets tokens that have expired by themselves. */
  async prune(now: Date): Promise<void> {
    for (const [jti, expiresAt] of this.#expiryByJti) if (expiresAt <= now) this.#expiryByJti.delete(jti)
    await deleteExpiredRevocations(this.#database.db, now)
  }
}
