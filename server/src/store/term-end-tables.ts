import type { Generated } from 'kysely'

/** Ends of terms; a row goes when its archives are deleted. */
export interface TermEndsTable {
  id: Generated<number>
  /** Null once the group is deleted. */
  group_id: number | null
  group_name: string
  phase: 'archiving' | 'removing' | 'done' | 'cancelled'
  removes_accounts: number
  /** Nothing is removed before. */
  remove_at: number
  keep_until: number
  /** End of the group before; a cancellation restores it. */
  group_end: number | null
  started_at: number
  finished_at: number | null
  /** Null for the operator. No foreign key: the account may be deleted. */
  actor_id: number | null
  actor_name: string
  language: 'en' | 'de'
  /** Why it does not go on at the moment. */
  problem: 'disk' | 'engine' | 'administrator' | null
}

/** Members that the end of a term concerns. */
export interface TermEndMembersTable {
  id: Generated<number>
  term_end_id: number
  /** No foreign key: the row outlives the account. */
  user_id: number
  email: string
  slug: string
  /** Why the account is not removed; null: it is. */
  stays: 'option' | 'group' | 'container' | null
  state: 'waiting' | 'archived' | 'mailed' | 'done' | 'kept' | 'failed'
  /** Why it failed, or was kept. */
  problem: 'archive' | 'mail' | 'removal' | 'changed' | 'late' | null
  attempts: number
  retry_at: number
  downloads: number
}

/** Archives of homes in the folder of archives. */
export interface HomeArchivesTable {
  id: Generated<number>
  member_id: number
  container_type: string
  /** Relative to the folder. */
  file: string
  bytes: number
  /** Of the container's record when it was made; another one says that the home may have changed since. */
  record_state: string
  created_at: number
}

/** Links of mails to archives. */
export interface ArchiveLinksTable {
  id: Generated<number>
  member_id: number
  /** SHA-256 of the token; the token itself is in the mail only. */
  token_hash: string
  created_at: number
  /** When the mail server accepted the mail; null: not, or the process ended at that moment. */
  accepted_at: number | null
}
