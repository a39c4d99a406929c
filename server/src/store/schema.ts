import type { Generated } from 'kysely'

/**
 * The tables, as both dialects store them. Instants are milliseconds since 1970 UTC and truth values are 0 or 1,
 * because SQLite has neither type and one schema for both keeps every query the same.
 */
export interface Schema {
  users: UsersTable
  used_slugs: UsedSlugsTable
  user_containers: UserContainersTable
  magic_links: MagicLinksTable
  link_requests: LinkRequestsTable
  revoked_tokens: RevokedTokensTable
  sessions: SessionsTable
  audit_log: AuditLogTable
  installation: InstallationTable
  kept_homes: KeptHomesTable
  removals: RemovalsTable
  clock_moves: ClockMovesTable
}

export interface UsersTable {
  /** Never given twice, so that a deleted person's token cannot become the next person's. */
  id: Generated<number>
  email: string
  slug: string
  state: 'registered' | 'verified' | 'active'
  is_admin: number
  is_blocked: number
  last_used: number | null
  created_at: number
}

/** Every slug ever given: a new person must not inherit bookmarks, cookies and service workers of an old one. */
export interface UsedSlugsTable {
  slug: string
}

export interface UserContainersTable {
  id: Generated<number>
  user_id: number
  container_type: string
  container_id: string | null
  container_port: number | null
  template_image: string
  created_at: number
  last_used: number | null
  is_blocked: number
  blocked_at: number | null
  blocked_by: number | null
  /** Whether one container was blocked, or its whole user: unblocking a user releases only the latter. */
  block_source: 'container' | 'user' | null
  /** When Berth stopped it last; null once it was started again. */
  stopped_at: number | null
  /** Since when it should run; null when it was stopped, or ended while the engine was well. */
  running_since: number | null
  /** When its container was removed from the engine because nobody used it; null while there is one, or never was. */
  retired_at: Generated<number | null>
}

export interface MagicLinksTable {
  id: Generated<number>
  user_id: number
  /** SHA-256 of the token; the token itself is in the mail only. */
  token_hash: string
  token_type: 'signup' | 'login'
  expires_at: number
  ip_address: string
  used_at: number | null
  created_at: number
  /** When the mail server took the mail; null when none was sent, or the store failed at that moment. */
  accepted_at: Generated<number | null>
}

/** What the limit counts. Apart from `magic_links`, because it must outlive a user whose first mail failed. */
export interface LinkRequestsTable {
  id: Generated<number>
  email: string
  /** The address without its plus tag. */
  mailbox: Generated<string>
  requested_at: number
}

export interface RevokedTokensTable {
  jti: string
  expires_at: number
}

/** Access tokens that were handed out, to be seen and ended by their owner. */
export interface SessionsTable {
  id: Generated<number>
  user_id: number
  jti: string
  created_at: number
  expires_at: number
  address: string
  browser: string | null
  /** Null for the operator, and for the owner's own. Kept, with the address, when that account is deleted: no foreign key. */
  acting_admin_id: number | null
  /** Null for the owner's own. */
  acting_admin_email: string | null
  reason: string | null
  ended_at: number | null
}

/** Triggers keep its lines from being changed or deleted. */
export interface AuditLogTable {
  id: Generated<number>
  at: number
  /** Kept, with the address, when the actor is deleted: no foreign key. */
  actor_id: number | null
  actor_email: string
  action: string
  target: string
  /** JSON text. */
  detail: string
  /** 1, 2, 3... without a gap. */
  position: number
  /** Over this line and the hash of the one before; see `audit-chain.ts`. */
  hash: string
}

/** Homes whose owner was deleted, until their time is over. */
export interface KeptHomesTable {
  volume: string
  user_id: number
  slug: string
  container_type: string
  remove_after: number
}

/** Containers that the engine may still have although their record is deleted. */
export interface RemovalsTable {
  id: Generated<number>
  /** No foreign key: it outlives its user. */
  user_id: number
  slug: string
  container_type: string
  /** Whether its home goes, too. */
  is_purge: number
  requested_at: number
}

/** What still has to follow a clock that was moved: rows of a table with ids above `after_id`, up to `last_id`. */
export interface ClockMovesTable {
  table_name: string
  /** ms; negative when it was set back. */
  move_by: number
  /** By the moved clock. */
  moved_at: number
  after_id: number
  last_id: number
}

export interface InstallationTable {
  name: string
  value: string
}
