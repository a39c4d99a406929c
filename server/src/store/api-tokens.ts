import type { Selectable } from 'kysely'
import { isScope, type Scope } from '@berth/api/scopes.ts'
import type { AuditEntry } from './audit-log.ts'
import { deleteInBatches, type Db } from './database.ts'
import type { ApiTokensTable } from './schema.ts'
import { fromRow as userFromRow, type User } from './users.ts'

/** An API token as it is stored: without the token. */
export interface StoredApiToken {
  readonly id: number
  readonly userId: number
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  readonly expiresAt: Date
  /** A minute behind at most; null when it was never used. */
  readonly lastUsed: Date | null
}

export type NewApiToken = Omit<StoredApiToken, 'id' | 'lastUsed'> & {
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string
}

export async function insertApiToken(tx: Db, token: NewApiToken): Promise<StoredApiToken> {
  const row = await tx
    .insertInto('api_tokens')
    .values({
      user_id: token.userId,
      token_hash: token.tokenHash,
      name: token.name,
      scopes: token.scopes.join(' '),
      created_at: token.createdAt.getTime(),
      expires_at: token.expiresAt.getTime(),
      last_used: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** The token with this hash that is good at `now`, with its owner, in one query by the index of hashes. */
export async function findApiToken(
  db: Db,
  tokenHash: string,
  now: Date,
): Promise<{ readonly token: StoredApiToken; readonly owner: User } | undefined> {
  const row = await db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .selectAll('users')
    .select([
      'api_tokens.id as token_id',
      'api_tokens.name',
      'api_tokens.scopes',
      'api_tokens.created_at as token_created_at',
      'api_tokens.expires_at',
      'api_tokens.last_used as token_last_used',
    ])
    .where('api_tokens.token_hash', '=', tokenHash)
    .where('api_tokens.expires_at', '>', now.getTime())
    .executeTakeFirst()
  if (!row) return undefined
  const token = fromRow({
    id: row.token_id,
    user_id: row.id,
    name: row.name,
    scopes: row.scopes,
    created_at: row.token_created_at,
    expires_at: row.expires_at,
    last_used: row.token_last_used,
  })
  return { token, owner: userFromRow(row) }
}

/** Those of a user, newest first; there are as many as `ApiTokens` lets a user have. */
export async function listApiTokensOf(db: Db, userId: number): Promise<StoredApiToken[]> {
  const rows = await db
    .selectFrom('api_tokens')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(fromRow)
}

/**
 * A page of those of all users, or of one, newest first. @param page `before`: id of the last row of the page before
 */
export async function listApiTokens(
  db: Db,
  page: { readonly limit: number; readonly before?: number | undefined },
  userId?: number,
): Promise<(StoredApiToken & { readonly email: string })[]> {
  let query = db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'api_tokens.user_id')
    .selectAll('api_tokens')
    .select('users.email')
    .orderBy('api_tokens.id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('api_tokens.id', '<', page.before)
  if (userId !== undefined) query = query.where('api_tokens.user_id', '=', userId)
  const rows = await query.execute()
  return rows.map((row) => ({ ...fromRow(row), email: row.email }))
}

/** @param userId whose it must be; undefined for anyone's @returns the token that was there */
export async function deleteApiToken(tx: Db, id: number, userId?: number): Promise<StoredApiToken | undefined> {
  let query = tx.deleteFrom('api_tokens').where('id', '=', id)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row)
}

/** Moves `last_used` forward when it lies before `unusedSince`, or is empty. @returns whether it did */
export async function noteApiTokenUsed(db: Db, id: number, at: Date, unusedSince: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_tokens')
    .set({ last_used: at.getTime() })
    .where('id', '=', id)
    .where((each) => each.or([each('last_used', 'is', null), each('last_used', '<=', unusedSince.getTime())]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0
}

/** Forgets tokens that expired before this instant. Of very many some stay for the next call. */
export async function deleteExpiredApiTokens(db: Db, before: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db.selectFrom('api_tokens').select('id').where('expires_at', '<=', before.getTime()).limit(limit)
    const { numDeletedRows } = await db.deleteFrom('api_tokens').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

function fromRow(row: Omit<Selectable<ApiTokensTable>, 'token_hash'>): StoredApiToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    scopes: row.scopes.split(' ').filter(isScope),
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    lastUsed: row.last_used === null ? null : new Date(row.last_used),
  }
}

/** Audit entry about an API token; its target is the owner, and the token itself is in none. */
export const apiTokenEntry = (
  action: 'token.create' | 'token.use' | 'token.remove',
  actor: AuditEntry['actor'],
  { id, userId, name, scopes, expiresAt }: StoredApiToken,
  at: Date,
): AuditEntry => ({
  at,
  actor,
  action,
  target: `user:${userId}`,
  detail: { token: id, name, scopes, expires_at: expiresAt },
})
