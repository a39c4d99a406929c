import type { StopReason } from '@berth/api/schemas/container.ts'
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
  api_tokens: ApiTokensTable
  ssh_keys: SshKeysTable
  audit_log: AuditLogTable
  audit_personal_facts: AuditPersonalFactsTable
  installation: InstallationTable
  kept_homes: KeptHomesTable
  removals: RemovalsTable
  clock_moves: ClockMovesTable
  identities: IdentitiesTable
  provider_sessions: ProviderSessionsTable
  user_groups: UserGroupsTable
  group_members: GroupMembersTable
  group_invitations: GroupInvitationsTable
  container_shares: ContainerSharesTable
  group_blocks: GroupBlocksTable
  usage_sums: UsageSumsTable
  term_ends: TermEndsTable
  term_end_members: TermEndMembersTable
  home_archives: HomeArchivesTable
  archive_links: ArchiveLinksTable
  person_homes: PersonHomesTable
  group_folders: GroupFoldersTable
  environments: EnvironmentsTable
  environment_versions: EnvironmentVersionsTable
  environment_logs: EnvironmentLogsTable
  environment_trials: EnvironmentTrialsTable
  pulled_images: PulledImagesTable
}

export interface UsersTable {
  /** Never assigned twice, so that a deleted user's token cannot become another user's. */
  id: Generated<number>
  email: string
  slug: string
  state: 'registered' | 'verified' | 'active'
  is_admin: number
  is_blocked: number
  last_used: number | null
  created_at: number
  /** Bytes that the homes may have beyond every disk limit. */
  extra_disk: number | null
}

/**
 * Every slug that was ever assigned: a new user must not inherit bookmarks, cookies and service workers of a former
 * one.
 */
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
  /**
   * Whether the container, its user or a group was blocked: unblocking a user, or a group, releases only what that
   * blocked. Of several groups one; all of them are in `group_blocks`.
   */
  block_source: 'container' | 'user' | `group:${number}` | null
  /** When Berth stopped it last; null after a start. */
  stopped_at: number | null
  /** Why; null after a start, where Berth did not stop it, and where it did before it stored why. */
  stop_reason: Generated<StopReason | null>
  /** 1 when it was stopped by request, and not because it was idle; null or 0 after a start. */
  is_stop_requested: Generated<number | null>
  /** Since when its desired state is running; null when it was stopped, or ended while the engine was up. */
  running_since: number | null
  /** When its container was retired; null while there is one, or never was. */
  retired_at: Generated<number | null>
  /** What was chosen for the parameters of its template, JSON text; null: nothing. */
  parameters: Generated<string | null>
  /** What keeps its program from writing to its home, JSON text; null: nothing that is known. */
  home_problem: Generated<string | null>
  /** Folders of groups that it was created with, JSON text; null: none. */
  group_folders: Generated<string | null>
  /** Bytes outside of its home for which Berth stopped it, and makes it anew at its next start; null: none. */
  full_layer: Generated<number | null>
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
  /** When the mail server accepted the mail; null when none was sent, or the store failed at that moment. */
  accepted_at: Generated<number | null>
}

/**
 * Requests that the rate limit counts. Separate from `magic_links`, because they outlive a user whose first mail
 * failed.
 */
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

/** Sign-ins and takeovers, to be seen and ended by their owner; every access token belongs to one. */
export interface SessionsTable {
  id: Generated<number>
  user_id: number
  /** Claim `sid` of its tokens; the `jti` of the only token of a session from before tokens had that claim. */
  sid: string
  created_at: number
  /** When it ends if it is not used again. */
  expires_at: number
  /** `link` or `oidc:{provider}`; null before there was anything but links. */
  began: Generated<string | null>
  /** Number of the cookie `berth_session` that is current, from 0; null for a session that is never renewed. */
  generation: Generated<number | null>
  /** SHA-256 of that cookie; the cookie itself is in the browser only. */
  cookie_hash: Generated<string | null>
  /** When the generation changed last, which is when the cookie before it was first seen. */
  rotated_at: Generated<number | null>
  /** When the last of its tokens expires; null: `expires_at`. */
  token_expires_at: Generated<number | null>
  /** Null: `created_at`. Written at most once a minute. */
  last_used: Generated<number | null>
  address: string
  browser: string | null
  /**
   * Null for the operator, and for the owner's own session. Kept, with the address, when that account is deleted: no
   * foreign key.
   */
  acting_admin_id: number | null
  /** Null for the owner's own session. */
  acting_admin_email: string | null
  reason: string | null
  ended_at: number | null
  /** Reason, a `SessionEnd`; null while it lasts, and for what ended before reasons were kept. */
  ended_why: Generated<string | null>
}

/** Tokens that users made for their programs. */
export interface ApiTokensTable {
  id: Generated<number>
  user_id: number
  /** SHA-256 of the token in hex; the token itself is with its owner only. */
  token_hash: string
  name: string
  /** Separated by a space. */
  scopes: string
  created_at: number
  expires_at: number
  /** Written once a minute at most. */
  last_used: number | null
}

/** Public keys by which users reach their containers over SSH. */
export interface SshKeysTable {
  id: Generated<number>
  user_id: number
  title: string
  /** First word of its line, such as `ssh-ed25519`. */
  key_type: string
  /** Base64. */
  blob: string
  /** SHA-256 of the blob; several users may have the same key, one user has it once. */
  fingerprint: string
  created_at: number
  /** Written once a minute at most. */
  last_used: number | null
}

/** Triggers prevent changes and deletions of its rows. */
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
  /** Hash over this entry and the hash of the one before; see `audit-chain.ts`. */
  hash: string
}

/** Personal facts of entries of the audit log, until their retention is over; see `personal-facts.ts`. */
export interface AuditPersonalFactsTable {
  position: number
  at: number
  /** Makes the seal in the entry useless for guessing once this row is gone. */
  salt: string
  /** JSON text. */
  facts: string
}

/** Homes whose owner was deleted, until their retention is over. */
export interface KeptHomesTable {
  volume: string
  user_id: number
  slug: string
  container_type: string
  remove_after: number
}

/** Deleted containers that the engine may still have. */
export interface RemovalsTable {
  id: Generated<number>
  /** No foreign key: it outlives its user. */
  user_id: number
  slug: string
  container_type: string
  /** The engine's id; null when no record had one. */
  container_id: string | null
  /** Whether its home is removed, too. */
  is_purge: number
  requested_at: number
}

/** Rows that a clock jump has still to adjust: of a table, with ids above `after_id`, up to `last_id`. */
export interface ClockMovesTable {
  table_name: string
  /** ms; negative when the clock was set back. */
  move_by: number
  /** By the new clock. */
  moved_at: number
  after_id: number
  last_id: number
}

export interface InstallationTable {
  name: string
  value: string
}

/** Subjects of OpenID Connect issuers, and whose account each signs in to. */
export interface IdentitiesTable {
  id: Generated<number>
  user_id: number
  issuer: string
  /** With the issuer the identity; the address may change. */
  subject: string
  created_at: number
}

/** Sessions that began at an OpenID Connect provider, for the sign-out there. */
export interface ProviderSessionsTable {
  session_id: number
  /** Id in the settings. */
  provider: string
  issuer: string
  subject: string
  /** The session at the provider; null when it does not say. */
  sid: string | null
  /** Sealed: it holds what the provider knows of the person. */
  id_token: string
}

/** Groups: classes, teams, courses. */
export interface UserGroupsTable {
  id: Generated<number>
  name: string
  description: string
  /** `local`, or the id of the OpenID Connect provider whose claim made it. */
  source: string
  /** Types that limits, expiry, stops and blocks act on, JSON text; null: every type. */
  types: string | null
  max_running: number | null
  /** Bytes. */
  max_memory: number | null
  /** Cores; may have a fraction. */
  max_cpus: number | null
  max_gpus: number | null
  /** Bytes. */
  max_disk: number | null
  expires_at: number | null
  created_at: number
  /** SHA-256 of the join code; the code itself is with the managers only. */
  join_code_hash: Generated<string | null>
  join_code_expires_at: Generated<number | null>
  /** Hours, JSON text; null: none. */
  timetable: string | null
}

/** Who is in which group. */
export interface GroupMembersTable {
  id: Generated<number>
  group_id: number
  user_id: number
  role: 'member' | 'manager'
  /** `local`, or the id of the provider whose claim made it: a sign-in there changes only its own. */
  source: string
  /** As a manager's list has it; null: none had one. */
  name: Generated<string | null>
  created_at: number
}

/** Who becomes a member when they sign up. */
export interface GroupInvitationsTable {
  id: Generated<number>
  group_id: number
  email: string
  role: 'member' | 'manager'
  /** Address of who invited, or another name; for the audit log. */
  invited_by: string
  /** As the list has it; null: it had none. */
  name: Generated<string | null>
  created_at: number
}

/**
 * Groups that have blocked a container, all of which must unblock it. Of a container that is blocked by itself there is
 * none.
 */
export interface GroupBlocksTable {
  id: Generated<number>
  record_id: number
  group_id: number
}

/** Containers that their owners share; of `email` and `group_id` one is null. */
export interface ContainerSharesTable {
  id: Generated<number>
  record_id: number
  /** Address of the visitor's account, which need not exist yet; null for shares with a group, or with a manager. */
  email: string | null
  group_id: number | null
  /**
   * The manager of the group `asked_in_id` who asked to look; both are null for a share that its owner made unasked.
   */
  manager_id: number | null
  asked_in_id: number | null
  may: 'look' | 'use'
  created_at: number
  expires_at: number
  /** Further port of the container that it opens; 0: the main one. */
  port: Generated<number>
}

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
  /** State of the container's record when it was made; another one says that the home may have changed since. */
  record_state: string
  created_at: number
}

interface ArchiveLinksTable {
  id: Generated<number>
  member_id: number
  /** SHA-256 of the token; the token itself is in the mail only. */
  token_hash: string
  created_at: number
  /** When the mail server accepted the mail; null: not, or the process ended at that moment. */
  accepted_at: number | null
}

/** Images that Berth builds; a row for each name. */
export interface EnvironmentsTable {
  /** Never given twice: images are found by it. */
  id: Generated<number>
  name: string
  description: string
  /** JSON of what the next version is built from. */
  source: string
  /** Whose managers may change it; null: administrators alone. */
  group_id: number | null
  /** The version that launches use; null: none yet. */
  published: number | null
  /** The number that was given last; numbers are never given twice. */
  last_version: number
  created_at: number
}

/** Versions of environments. */
export interface EnvironmentVersionsTable {
  id: Generated<number>
  environment_id: number
  version: number
  state: 'waiting' | 'building' | 'ready' | 'failed'
  /** JSON of what it was built from. */
  source: string
  image_id: string | null
  /** Bytes. */
  size: number | null
  created_at: number
  /** JSON of a message; null unless it failed. */
  error: string | null
}

/** Output of builds that have ended. */
interface EnvironmentLogsTable {
  id: Generated<number>
  version_id: number
  log: string
}

/** Versions of environments that people try. */
export interface EnvironmentTrialsTable {
  id: Generated<number>
  user_id: number
  environment: string
  version: number
  begun_at: number
}

interface PulledImagesTable {
  id: Generated<number>
  image: string
  /** When it was pulled, or a template named it last. */
  needed_at: number
}

/** Sums of use in a period; see `usage-recorder.ts`. In seconds, and MiB times seconds. */
export interface UsageSumsTable {
  id: Generated<number>
  unit: 'day' | 'month'
  /** `YYYY-MM-DD` or `YYYY-MM`, in the time zone of the installation. */
  period: string
  kind: 'user' | 'group' | 'all'
  /** Id of the user or group; 0 for all. No foreign key: groups keep their sums, users are deleted with theirs. */
  subject_id: number
  container_type: string
  /** Running or paused. */
  running_s: number
  paused_s: number
  /** Bytes moved. */
  used_s: number
  /** Cores that templates allow, times running time without pauses. */
  core_s: number
  /** Memory that templates allow, times running time with pauses. */
  memory_mib_s: number
  /** Running without a byte for 5 to 15 minutes, and so on. */
  idle_5_s: number
  idle_15_s: number
  idle_30_s: number
  idle_60_s: number
  idle_120_s: number
  idle_240_s: number
  /** Time for which CPU time and memory were measured. */
  measured_s: number
  /** CPU time in ms: idle programs take milliseconds between two measurements. */
  cpu_used_ms: number
  memory_used_mib_s: number
  /** Sizes of homes, whether or not their containers run. */
  home_mib_s: number
  /** GPUs that containers had, times running time with pauses. */
  gpu_s: number
}

/** Which home all types of a person share. */
export interface PersonHomesTable {
  user_id: number
  /** Type whose home it was before; empty for one that was shared from its beginning. */
  container_type: string
}

export interface GroupFoldersTable {
  id: Generated<number>
  /** The engine's name of it, of which a part is random: ids of groups are assigned again when a store is restored. */
  volume: string
  /** Null when the group was deleted. */
  group_id: number | null
  /** Null when it was taken away; what is in it is kept. */
  name: string | null
  members: 'read' | 'write'
  /** When it is removed; null while it has a group. */
  remove_after: number | null
}
