import type { SelectQueryBuilder } from 'kysely'
import type { Db } from './database.ts'
import type { Schema } from './schema.ts'

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

/** Uses up what counts once: of several calls with one id the first alone is answered with true. */
export async function useUpToken(db: Db, { jti, expiresAt }: RevokedToken): Promise<boolean> {
  const row = await db
    .insertInto('revoked_tokens')
    .values({ jti, expires_at: expiresAt.getTime() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('jti')
    .executeTakeFirst()
  return row !== undefined
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

/** What ids begin with that stand for no token of ours: they are looked up when they come again, and held by no process. */
const usedUpOnly = { logout: 'logout ', attempt: 'attempt ' } as const

/** Id of what counts once: a provider's logout token, or an attempt to sign in. @param digest of what identifies it */
export const onceOnlyId = (kind: keyof typeof usedUpOnly, digest: string) => usedUpOnly[kind] + digest

/** Revocations of tokens that are not expired. */
export async function listRevokedTokens(db: Db, now: Date): Promise<RevokedToken[]> {
  const rows = await db
    .selectFrom('revoked_tokens')
    .selectAll()
    .where('expires_at', '>', now.getTime())
    .where((where) => where.and(Object.values(usedUpOnly).map((prefix) => where('jti', 'not like', `${prefix}%`))))
    .execute()
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
