import type { Selectable } from 'kysely'
import type { Db } from '../database.ts'
import { deleteInBatches } from '../batch-deletion.ts'
import { insertRevokedTokensOf } from './revoked-tokens.ts'
import type { SessionsTable } from '../schema.ts'

/** The administrator or operator who acts for the owner of a session, and the reason. */
export interface ActingAdmin {
  /** Null for the operator, who has no account. */
  readonly id: number | null
  readonly email: string
  readonly reason: string
}

/** Session: an issued access token with its lifetime and the client that received it. */
export interface StoredSession {
  readonly id: number
  readonly userId: number
  readonly jti: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** IP address; empty when unknown. */
  readonly address: string
  readonly browser: string | null
  /** Null for the owner's own session. */
  readonly acting: ActingAdmin | null
  /** When it was ended before its expiry. */
  readonly endedAt: Date | null
}

export type NewSession = Omit<StoredSession, 'id' | 'endedAt'>

export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db
    .insertInto('sessions')
    .values({
      user_id: session.userId,
      jti: session.jti,
      created_at: session.createdAt.getTime(),
      expires_at: session.expiresAt.getTime(),
      address: session.address,
      browser: session.browser,
      acting_admin_id: session.acting?.id ?? null,
      acting_admin_email: session.acting?.email ?? null,
      reason: session.acting?.reason ?? null,
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
  return [...own, ...takeovers].toSorted((one, other) => other.id - one.id).map(fromRow)
}

/** Undefined when there is none of this id, or it is another user's. */
export async function findSession(db: Db, userId: number, id: number): Promise<StoredSession | undefined> {
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The session of the token with this id; undefined when it was deleted. */
export async function findSessionOf(db: Db, jti: string): Promise<StoredSession | undefined> {
  const row = await db.selectFrom('sessions').selectAll().where('jti', '=', jti).executeTakeFirst()
  return row && fromRow(row)
}

/** Live sessions of a user, at most `limit`, but never the one of `exceptJti`. */
export async function findOtherSessions(
  db: Db,
  userId: number,
  { exceptJti, now, limit }: { exceptJti: string; now: Date; limit: number },
): Promise<StoredSession[]> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('jti', '!=', exceptJti)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(fromRow)
}

/** Number of takeovers by this administrator that `endTakeoversBy` would end. */
export async function countTakeoversBy(db: Db, adminId: number, now: Date): Promise<number> {
  const { count } = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('acting_admin_id', '=', adminId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Ends the takeovers of users who are administrators no longer: call it in the transaction that makes it so, because a
 * blocked administrator must not act for a user after a crash. One statement with a subquery: with each takeover as a
 * parameter, an administrator with very many could not be blocked.
 * @returns the sessions to revoke, after the commit, wherever tokens are verified
 */
export async function endTakeoversBy(tx: Db, adminIds: readonly number[], now: Date): Promise<StoredSession[]> {
  if (adminIds.length === 0) return []
  const theirs = tx
    .selectFrom('sessions')
    .select(['jti', 'expires_at'])
    .where('acting_admin_id', 'in', adminIds)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
  await insertRevokedTokensOf(tx, theirs)
  const rows = await tx
    .updateTable('sessions')
    .set({ ended_at: now.getTime() })
    .where('acting_admin_id', 'in', adminIds)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now.getTime())
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** Stores that these tokens were ended; those that were ended before keep their time, and unknown ones are ignored. */
export async function markSessionsEnded(db: Db, jtis: readonly string[], now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: now.getTime() })
    .where('jti', 'in', jtis)
    .where('ended_at', 'is', null)
    .execute()
}

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

function fromRow(row: Selectable<SessionsTable>): StoredSession {
  const { acting_admin_email: email, reason } = row
  return {
    id: row.id,
    userId: row.user_id,
    jti: row.jti,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    address: row.address,
    browser: row.browser,
    acting: email === null ? null : { id: row.acting_admin_id, email, reason: reason ?? '' },
    endedAt: row.ended_at === null ? null : new Date(row.ended_at),
  }
}
