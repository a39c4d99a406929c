import { sql } from 'kysely'
import type { Db } from './database.ts'
import { sessionOfRow, type StoredSession } from './sessions.ts'

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
 * Extends a session that is live at `now`, and rotates its cookie where that is asked for, in one statement: what ends it
 * comes before or after, and of several rotations from one generation one wins.
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
