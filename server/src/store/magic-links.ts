import { sql } from 'kysely'
import { adjustedInstant } from './clock-jumps.ts'
import { deleteInBatches, type Db } from './database.ts'

/** Purpose of a link. The endpoint of one purpose does not accept a link of the other. */
export type LinkPurpose = 'signup' | 'login'

export interface StoredLink {
  readonly id: number
  readonly userId: number
  /** When the mail server accepted its mail; null when that is not known. */
  readonly acceptedAt: Date | null
}

export async function insertLink(
  db: Db,
  link: { userId: number; tokenHash: string; purpose: LinkPurpose; ipAddress: string; now: Date; expiresAt: Date },
): Promise<StoredLink> {
  const { id } = await db
    .insertInto('magic_links')
    .values({
      user_id: link.userId,
      token_hash: link.tokenHash,
      token_type: link.purpose,
      expires_at: link.expiresAt.getTime(),
      ip_address: link.ipAddress,
      used_at: null,
      created_at: link.now.getTime(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, userId: link.userId, acceptedAt: null }
}

/** Whether any link with this token is stored, usable or not. */
export async function hasLink(db: Db, tokenHash: string): Promise<boolean> {
  // Written out: each guessed link causes it, and the query builder would do its work anew each time.
  const { rows } = await sql`select id from magic_links where token_hash = ${tokenHash}`.execute(db)
  return rows.length > 0
}

/** The link of this token while it can be used: right purpose, unused, `now` before its expiry. */
export async function findUsableLink(
  db: Db,
  tokenHash: string,
  purpose: LinkPurpose,
  now: Date,
): Promise<StoredLink | undefined> {
  const row = await db
    .selectFrom('magic_links')
    .select(['id', 'user_id', 'accepted_at'])
    .where('token_hash', '=', tokenHash)
    .where('token_type', '=', purpose)
    .where('used_at', 'is', null)
    .where(adjustedInstant('magic_links', 'expires_at'), '>', now.getTime())
    .executeTakeFirst()
  if (!row) return undefined
  const acceptedAt = row.accepted_at === null ? null : new Date(row.accepted_at)
  return { id: row.id, userId: row.user_id, acceptedAt }
}

/** Why the link of this token cannot be used; undefined when there is none, or it can be used. */
export async function faultOfLink(
  db: Db,
  tokenHash: string,
  purpose: LinkPurpose,
  now: Date,
): Promise<'used' | 'expired' | 'other' | undefined> {
  const row = await db
    .selectFrom('magic_links')
    .select(['token_type', 'used_at', adjustedInstant('magic_links', 'expires_at').as('expires_at')])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  if (!row) return undefined
  if (row.used_at !== null) return 'used'
  if (row.expires_at <= now.getTime()) return 'expired'
  return row.token_type === purpose ? undefined : 'other'
}

/** Consumes the link. Of concurrent calls exactly one returns true. */
export async function consumeLink(db: Db, id: number, now: Date): Promise<boolean> {
  const row = await db
    .updateTable('magic_links')
    .set({ used_at: now.getTime() })
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where(adjustedInstant('magic_links', 'expires_at'), '>', now.getTime())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** The mail with this link was accepted; nothing happens when the link is gone. */
export async function noteAccepted(db: Db, id: number, now: Date): Promise<void> {
  await db.updateTable('magic_links').set({ accepted_at: now.getTime() }).where('id', '=', id).execute()
}

export async function deleteLink(db: Db, id: number): Promise<void> {
  await db.deleteFrom('magic_links').where('id', '=', id).execute()
}

/**
 * Mailbox of an address: without the plus tag, which many mail servers ignore, and which gives one mailbox any number
 * of addresses.
 */
export function mailboxOf(email: string): string {
  const [plus, at] = [email.indexOf('+'), email.lastIndexOf('@')]
  return plus > 0 && plus < at ? email.slice(0, plus) + email.slice(at) : email
}

/** Stores a request for a link; the rate limit counts these. */
export async function insertLinkRequest(db: Db, email: string, now: Date): Promise<number> {
  const { id } = await db
    .insertInto('link_requests')
    .values({ email, mailbox: mailboxOf(email), requested_at: now.getTime() })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Times of requests for links after `since`, oldest first: for this address, or for this mailbox with any tag. */
export async function linkRequestsSince(
  db: Db,
  text: string,
  since: Date,
  column: 'email' | 'mailbox' = 'email',
): Promise<Date[]> {
  const rows = await db
    .selectFrom('link_requests')
    .select(adjustedInstant('link_requests', 'requested_at').as('requested_at'))
    .where(column, '=', text)
    .where(adjustedInstant('link_requests', 'requested_at'), '>', since.getTime())
    .orderBy('requested_at')
    .execute()
  return rows.map(({ requested_at }) => new Date(requested_at))
}

export async function deleteLinkRequest(db: Db, id: number): Promise<void> {
  await db.deleteFrom('link_requests').where('id', '=', id).execute()
}

/**
 * Deletes expired links: one must not become valid again when the clock is set back. Of very many some are left for the
 * next call.
 */
export async function deleteExpiredLinks(db: Db, now: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const expired = db
      .selectFrom('magic_links')
      .select('id')
      .where('expires_at', '<=', now.getTime())
      // A link whose instant a clock jump has still to adjust only looks expired.
      .where(adjustedInstant('magic_links', 'expires_at'), '<=', now.getTime())
      .limit(limit)
    const { numDeletedRows } = await db.deleteFrom('magic_links').where('id', 'in', expired).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

/** Deletes requests that no longer count; as above. */
export async function deleteOldLinkRequests(db: Db, before: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const old = db
      .selectFrom('link_requests')
      .select('id')
      .where('requested_at', '<', before.getTime())
      // A request whose instant a clock jump has still to adjust only looks old.
      .where(adjustedInstant('link_requests', 'requested_at'), '<', before.getTime())
      .limit(limit)
    const { numDeletedRows } = await db.deleteFrom('link_requests').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}

/**
 * Deletes the oldest requests for unknown addresses, except the newest `keep`, so that requests without an account
 * cannot fill the store; as above. Requests for accounts stay.
 */
export async function deleteUnknownAddressRequests(db: Db, keep: number): Promise<void> {
  const { last } = await db
    .selectFrom('link_requests')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await deleteInBatches(async (limit) => {
    const old = db
      .selectFrom('link_requests')
      .select('link_requests.id')
      .leftJoin('users', 'users.email', 'link_requests.email')
      .where('link_requests.id', '<=', (last ?? 0) - keep)
      .where('users.id', 'is', null)
      .limit(limit)
    const { numDeletedRows } = await db.deleteFrom('link_requests').where('id', 'in', old).executeTakeFirstOrThrow()
    return numDeletedRows
  })
}
