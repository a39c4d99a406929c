import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import { deleteInBatches, type Db } from './database.ts'
import type { Schema, SessionsTable } from './schema.ts'

/** The administrator or operator who acts for the owner of a session, and the reason. */
export interface ActingAdmin {
  /** Null for the operator, who has no account. */
  readonly id: number | null
  readonly email: string
  readonly reason: string
}

/** Why a session ended before its time: its page says so. */
export type SessionEnd = 'signed-out' | 'ended' | 'blocked' | 'replayed' | 'provider' | 'takeover' | 'clock'

/** How a session began: by a mailed link, or at a provider, named by its id. */
export type SessionOrigin = 'link' | `oidc:${string}`

/** A sign-in in a browser, or a takeover: since when, until when, and where. Every access token belongs to one. */
export interface StoredSession {
  readonly id: number
  readonly userId: number
  /** Claim `sid` of its tokens. */
  readonly sid: string
  readonly createdAt: Date
  /** When it ends if it is not used again. */
  readonly expiresAt: Date
  /** When the last of its tokens expires. */
  readonly tokenExpiresAt: Date
  readonly lastUsed: Date
  readonly began: string
  /** IP address; empty when it is unknown. */
  readonly address: string
  readonly browser: string | null
  /** Null for the owner's own session. */
  readonly acting: ActingAdmin | null
  /** Number of its current cookie; null for one that is never renewed. */
  readonly generation: number | null
  readonly cookieHash: string | null
  readonly rotatedAt: Date | null
  /** When it was ended before its time. */
  readonly endedAt: Date | null
  readonly endedWhy: SessionEnd | null
}

/** @see StoredSession; `generation` is 0 with a cookie */
export interface NewSession {
  /** Null for a takeover. */
  readonly began: SessionOrigin | null
  readonly userId: number
  readonly sid: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly tokenExpiresAt: Date
  readonly address: string
  readonly browser: string | null
  readonly acting: ActingAdmin | null
  readonly cookieHash: string | null
}

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db
    .insertInto('sessions')
    .values({
      user_id: session.userId,
      sid: session.sid,
      created_at: session.createdAt.getTime(),
      expires_at: session.expiresAt.getTime(),
      token_expires_at: session.tokenExpiresAt.getTime(),
      began: session.began,
      address: session.address,
      browser: session.browser,
      acting_admin_id: session.acting?.id ?? null,
      acting_admin_email: session.acting?.email ?? null,
      reason: session.acting?.reason ?? null,
      generation: session.cookieHash === null ? null : 0,
      cookie_hash: session.cookieHash,
      ended_at: null,
    })
    .execute()
}

/**
 * A user's own sessions that are live at `now`, and the takeovers since `takeoversSince`; newest first, at most `limit`
 * of each, so that takeovers, however many, hide no session of the owner.
 */
export async function listSessions(
  db: Db,
  userId: number,
  { now, takeoversSince, limit }: { now: Date; takeoversSince: Date; limit: number },
): Promise<StoredSession[]> {
  const newest = db.selectFrom('sessions').selectAll().where('user_id', '=', userId).orderBy('id', 'desc').limit(limit)
  const own = await newest
    .where('acting_admin_email', 'is', null)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .execute()
  const takeovers = await newest
    .where('acting_admin_email', 'is not', null)
    .where('created_at', '>', takeoversSince.getTime())
    .execute()
  return [...own, ...takeovers].toSorted((one, other) => other.id - one.id).map(sessionOfRow)
}

/** Undefined when there is none of this id, or it is another user's. */
export async function findSession(db: Db, userId: number, id: number): Promise<StoredSession | undefined> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && sessionOfRow(row)
}

/** The session that tokens of this claim `sid` belong to; undefined when it is forgotten. */
export async function findSessionBySid(db: Db, sid: string): Promise<StoredSession | undefined> {
  const row = await db.selectFrom('sessions').selectAll().where('sid', '=', sid).executeTakeFirst()
  return row && sessionOfRow(row)
}

/**
 * Sessions of a user that can be ended, at most `limit`, but never the one of `exceptSid`: the live ones, and those
 * that a block ended while tokens of theirs go on. The oldest first.
 * @param after id of the last one of the page before
 */
export async function findOtherSessions(
  db: Db,
  userId: number,
  { exceptSid, now, limit, after = 0 }: { exceptSid: string; now: Date; limit: number; after?: number },
): Promise<StoredSession[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '>', after)
    .where('sid', '!=', exceptSid)
    .where(canBeEnded(now))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(sessionOfRow)
}

/** Condition of live sessions, and of those that a block ended while tokens of theirs go on. */
export const canBeEnded = (now: Date) => (each: ExpressionBuilder<Schema, 'sessions'>) =>
  each.or([
    each.and([each('sessions.ended_at', 'is', null), each('sessions.expires_at', '>', now.getTime())]),
    each.and([each('sessions.ended_why', '=', 'blocked'), each('sessions.token_expires_at', '>', now.getTime())]),
  ])

/**
 * Deletes expired sessions; takeovers only when they began before `takeoversBefore`. Of very many some are left for the
 * next call.
 */
export async function deleteOldSessions(db: Db, now: Date, takeoversBefore: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db
      .selectFrom('sessions')
      .select('id')
      .where('expires_at', '<=', now.getTime())
      .where((each) =>
        each.or([each('acting_admin_email', 'is', null), each('created_at', '<=', takeoversBefore.getTime())]),
      )
      .limit(limit)
    const { numDeletedRows } = await db.deleteFrom('sessions').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

export function sessionOfRow(row: Selectable<SessionsTable>): StoredSession {
  const { acting_admin_email: email, reason } = row
  const instant = (ms: number | null) => (ms === null ? null : new Date(ms))
  return {
    id: row.id,
    userId: row.user_id,
    sid: row.sid,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    tokenExpiresAt: new Date(row.token_expires_at ?? row.expires_at),
    lastUsed: new Date(row.last_used ?? row.created_at),
    began: row.began ?? 'link',
    address: row.address,
    browser: row.browser,
    acting: email === null ? null : { id: row.acting_admin_id, email, reason: reason ?? '' },
    generation: row.generation,
    cookieHash: row.cookie_hash,
    rotatedAt: instant(row.rotated_at),
    endedAt: instant(row.ended_at),
    endedWhy: row.ended_why as SessionEnd | null,
  }
}

/** What a use of a live session changes: it lasts longer, and may have one more token. */
export interface SessionExtension {
  readonly now: Date
  readonly expiresAt: Date
  readonly tokenExpiresAt: Date
}

/** The change of a session's cookie, as a compare-and-swap: it happens only while `from` is the current generation. */
export interface CookieRotation {
  readonly from: number
  readonly cookieHash: string
}

/**
 * Extends a session that is live at `now`, and rotates its cookie where that is asked for, in one statement: what ends
 * it comes before or after, and of several rotations from one generation one wins.
 * @returns undefined when it is over, or another rotation came first; nothing has changed then
 */
export async function extendSession(
  db: Db,
  sid: string,
  { now, expiresAt, tokenExpiresAt }: SessionExtension,
  rotation?: CookieRotation,
): Promise<StoredSession | undefined> {
  const later = (column: string, instant: Date) => {
    const ms = instant.getTime()
    return sql<number>`case when coalesce(${sql.ref(column)}, 0) > ${ms} then ${sql.ref(column)} else ${ms} end`
  }
  const update = db
    .updateTable('sessions')
    .set({
      last_used: later('last_used', now),
      expires_at: later('expires_at', expiresAt),
      token_expires_at: later('token_expires_at', tokenExpiresAt),
      ...(rotation && {
        generation: rotation.from + 1,
        cookie_hash: rotation.cookieHash,
        rotated_at: now.getTime(),
      }),
    })
    .where('sid', '=', sid)
    .where('cookie_hash', 'is not', null)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .$if(rotation !== undefined, (query) => query.where('generation', '=', rotation?.from ?? 0))
  const row = await update.returningAll().executeTakeFirst()
  return row && sessionOfRow(row)
}

/** A session that was used. */
export interface SessionUse {
  readonly sid: string
  readonly at: Date
}

/** Seconds that sessions last: without a use, and in all. */
export interface SessionLimits {
  readonly idle: number
  readonly max: number
}

/**
 * Notes uses of sessions in one statement; those that have a cookie last longer by it. A use that is older than what is
 * stored changes nothing, nor does one of a session that has ended.
 * @param uses of each session one, at most some hundreds @param limits of sessions that are renewed
 */
export async function noteSessionUses(
  db: Db,
  uses: readonly SessionUse[],
  { idle, max }: SessionLimits,
): Promise<void> {
  const rows = uses.map(({ sid, at }) => sql`(${sid}, ${at.getTime()})`)
  const wanted = sql`case when used.at + ${idle * 1_000} < sessions.created_at + ${max * 1_000}
    then used.at + ${idle * 1_000} else sessions.created_at + ${max * 1_000} end`
  await sql`
    update sessions set last_used = used.at,
      expires_at = case when sessions.cookie_hash is null or ${wanted} < sessions.expires_at
        then sessions.expires_at else ${wanted} end
    from (select cast(column1 as text) as sid, cast(column2 as bigint) as at from (values ${sql.join(rows)}) as given) as used
    where sessions.sid = used.sid and sessions.ended_at is null and coalesce(sessions.last_used, 0) < used.at
  `.execute(db)
}
