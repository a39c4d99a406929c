import type { SelectQueryBuilder } from 'kysely'
import type { Db } from '../database.ts'
import type { Schema } from '../schema.ts'

export interface RevokedToken {
  readonly jti: string
  readonly expiresAt: Date
}

/** Idempotent: revoking a revoked token changes nothing. */
export async function insertRevokedTokens(db: Db, tokens: readonly RevokedToken[]): Promise<void> {
  await db
    .insertInto('revoked_tokens')
    .values(tokens.map(({ jti, expiresAt }) => ({ jti, expires_at: expiresAt.getTime() })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * The same for all rows of a query, however many. @param found it must have a condition, or SQLite misreads the
 * statement
 */
export async function insertRevokedTokensOf(
  db: Db,
  found: SelectQueryBuilder<Schema, 'sessions', { jti: string; expires_at: number }>,
): Promise<void> {
  await db
    .insertInto('revoked_tokens')
    .columns(['jti', 'expires_at'])
    .expression(found)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Revocations of tokens that are not expired. */
export async function listRevokedTokens(db: Db, now: Date): Promise<RevokedToken[]> {
  const rows = await db.selectFrom('revoked_tokens').selectAll().where('expires_at', '>', now.getTime()).execute()
  return rows.map((row) => ({ jti: row.jti, expiresAt: new Date(row.expires_at) }))
}

/** Whether this token is revoked; also one that has expired, for as long as its row is kept. */
export async function isTokenRevoked(db: Db, jti: string): Promise<boolean> {
  const row = await db.selectFrom('revoked_tokens').select('jti').where('jti', '=', jti).executeTakeFirst()
  return row !== undefined
}

export async function deleteExpiredRevocations(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('revoked_tokens').where('expires_at', '<=', now.getTime()).execute()
}
