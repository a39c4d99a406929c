import { sql, type SelectQueryBuilder } from 'kysely'
import type { Db } from './database.ts'
import type { Schema } from './schema.ts'
import { canBeEnded, sessionOfRow, type SessionEnd, type StoredSession } from './sessions.ts'

/**
 * Begins the revocation of an ended session, as `endedSession` in `tokens` does: the store imports nothing above it.
 */
const endedSessionPrefix = 'ended '

/** How many takeovers, by a user and of this user, a block would end: `endTakeoversBy` and `endTakeoversOf`. */
export async function countTakeovers(db: Db, userId: number, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where((each) =>
      each.or([
        each('acting_admin_id', '=', userId),
        each.and([each('user_id', '=', userId), each('acting_admin_email', 'is not', null)]),
      ]),
    )
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Ends the takeovers of administrators who are none any more: to be called in the transaction that makes it so, because
 * an administrator who is blocked must not go on as another user after a crash. The store selects them by itself: with
 * each of them named in a statement, an administrator with more takeovers than a statement may have values could not be
 * blocked.
 * @returns what is to be refused, once this is committed, by all who judge tokens by themselves
 */
export async function endTakeoversBy(tx: Db, adminIds: readonly number[], now: Date): Promise<StoredSession[]> {
  return endTakeovers(tx, 'acting_admin_id', adminIds, now)
}

/** Ends the takeovers of users who are blocked: acting for them ends with their own sessions. See `endTakeoversBy`. */
export async function endTakeoversOf(tx: Db, userIds: readonly number[], now: Date): Promise<StoredSession[]> {
  return endTakeovers(tx, 'user_id', userIds, now)
}

async function endTakeovers(
  tx: Db,
  whose: 'acting_admin_id' | 'user_id',
  ids: readonly number[],
  now: Date,
): Promise<StoredSession[]> {
  if (ids.length === 0) return []
  const theirs = tx
    .selectFrom('sessions')
    .select(['sid as jti', 'expires_at'])
    .where(whose, 'in', ids)
    .where('acting_admin_email', 'is not', null)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
  await insertRevokedTokensOf(tx, theirs)
  const rows = await tx
    .updateTable('sessions')
    .set({ ended_at: now.getTime(), ended_why: 'takeover' })
    .where(whose, 'in', ids)
    .where('acting_admin_email', 'is not', null)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .returningAll()
    .execute()
  return rows.map(sessionOfRow)
}

/**
 * Ends the own sessions of users who are blocked, in the transaction that blocks them. Their tokens are not revoked:
 * they go on to say why nothing works, until they expire. The list of revocations says that they open nothing.
 * @returns those of which a token may be left, for all who judge tokens by themselves
 */
export async function endBlockedSessions(tx: Db, userIds: readonly number[], now: Date): Promise<StoredSession[]> {
  if (userIds.length === 0) return []
  const rows = await tx
    .updateTable('sessions')
    .set(ended(now, 'blocked'))
    .where('user_id', 'in', userIds)
    .where('acting_admin_email', 'is', null)
    .where('ended_at', 'is', null)
    .returningAll()
    .execute()
  // After the update, which waits for renewals that are under way and make a session's tokens last longer.
  const theirs = tx
    .selectFrom('sessions')
    .select([
      sql<string>`cast(${endedSessionPrefix} as text) || sid`.as('jti'),
      sql<number>`coalesce(token_expires_at, expires_at)`.as('expires_at'),
    ])
    .where('user_id', 'in', userIds)
    .where('ended_why', '=', 'blocked')
  await insertRevokedTokensOf(tx, theirs)
  return rows.map(sessionOfRow).filter(({ tokenExpiresAt }) => tokenExpiresAt > now)
}

/** Whose sessions a provider means: all of a subject's, those of one session at the provider, or those of both. */
export interface ProviderSessions {
  readonly issuer: string
  readonly subject: string | undefined
  readonly sid: string | undefined
}

/**
 * Sessions that began at a provider and can be ended, as `findOtherSessions` finds them; none when neither subject nor
 * `sid` is named.
 */
export async function findSessionsAtProvider(
  db: Db,
  { issuer, subject, sid }: ProviderSessions,
  { now, limit }: { now: Date; limit: number },
): Promise<StoredSession[]> {
  if (subject === undefined && sid === undefined) return []
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('provider_sessions', 'provider_sessions.session_id', 'sessions.id')
    .selectAll('sessions')
    .where('provider_sessions.issuer', '=', issuer)
    .where(canBeEnded(now))
    .$if(subject !== undefined, (query) => query.where('provider_sessions.subject', '=', subject ?? ''))
    .$if(sid !== undefined, (query) => query.where('provider_sessions.sid', '=', sid ?? ''))
    .orderBy('sessions.id')
    .limit(limit)
    .execute()
  return rows.map(sessionOfRow)
}

/**
 * Notes that these sessions were ended; those that were already keep their time, and unknown ones are ignored. One that
 * a block ended can be ended again, because its tokens go on.
 */
export async function markSessionsEnded(db: Db, sids: readonly string[], now: Date, why: SessionEnd): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: sql<number>`coalesce(ended_at, ${now.getTime()})`, ended_why: why })
    .where('sid', 'in', sids)
    .where((each) => each.or([each('ended_at', 'is', null), each('ended_why', '=', 'blocked')]))
    .execute()
}

/** When the last token of each of these sessions expires; unknown ones are left out. */
export async function listTokenEnds(
  db: Db,
  sids: readonly string[],
): Promise<{ readonly userId: number; readonly jti: string; readonly expiresAt: Date }[]> {
  const rows = await db.selectFrom('sessions').selectAll().where('sid', 'in', sids).execute()
  return rows
    .map(sessionOfRow)
    .map(({ userId, sid, tokenExpiresAt }) => ({ userId, jti: sid, expiresAt: tokenExpiresAt }))
}

/** The row stays until the session would have ended by itself, so that its user can be told why it ended before. */
const ended = (now: Date, why: SessionEnd) => ({ ended_at: now.getTime(), ended_why: why })

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
async function insertRevokedTokensOf(
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

/**
 * What ids begin with that stand for no token of ours: they are looked up when they come again, and held by no process.
 */
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
