import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { sql, type SelectQueryBuilder } from 'kysely'
import pLimit from 'p-limit'
import type { Db } from './database.ts'
import { joinShares } from './container-shares.ts'
import { usageColumns } from './usage-sums.ts'
import { storedEntriesOf, windowBehind, type StoredAuditEntry } from './audit-log.ts'

/**
 * What is stored about a user beside the account, without secrets and hashes of secrets: tables by their owner, with
 * columns called as the document calls them.
 */

/** Rows in one read. */
const pageSize = 200
/** Positions of the audit log that are searched in one read: SQLite answers synchronously. */
const auditWindow = 1_000
/** One window at a time for all users together: between two of them all other work has its turn. */
const searches = pLimit(1)

/** Columns that have an instant, in all tables. */
type InstantColumn = `${string}_at` | 'kept_until' | 'last_used' | 'running_since'

const isInstant = (column: string): column is InstantColumn =>
  /_at$|^(kept_until|last_used|running_since)$/.test(column)

/** A row as the document has it: instants in text, truth values as such. */
type Shown<Row> = {
  [K in keyof Row]: K extends InstantColumn
    ? string | Extract<Row[K], null>
    : K extends `is_${string}`
      ? boolean
      : Row[K]
}

function shown<Row extends object>(row: Row): Shown<Row> {
  const fields = Object.entries(row).map(([column, value]): [string, unknown] => {
    if (column.startsWith('is_')) return [column, value === 1]
    return [column, isInstant(column) && value !== null ? new Date(value as number).toISOString() : value]
  })
  return Object.fromEntries(fields) as Shown<Row>
}

/**
 * Rows of a query, page by page in the order of their ids, with the names and values of the document.
 * @param id column of the ids, where the query joins tables
 */
async function* inPages<DB, Tables extends keyof DB, Row extends object>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  id = 'id',
): AsyncGenerator<Shown<Row>> {
  const column = sql.ref<number>(id)
  const page = query.select(column.as('row_id')).orderBy(column).limit(pageSize)
  for (let after = 0; ;) {
    const rows = (await page.where(column, '>', after).execute()) as unknown as (Row & { readonly row_id: number })[]
    for (const { row_id: _, ...row } of rows) yield shown(row as unknown as Row)
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.row_id
  }
}

export const containersOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('user_containers')
      .select([
        'id',
        'container_type as type',
        'container_id',
        'template_image as image',
        'parameters',
        'created_at',
        'last_used',
        'stopped_at',
        'stop_reason',
        'is_stop_requested',
        'running_since',
        'retired_at',
        'full_layer',
        'is_blocked',
        'blocked_at',
      ])
      .where('user_id', '=', userId),
  )

/** Sessions that are over are not kept, takeovers for a while. */
export const sessionsOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('sessions')
      .select([
        'id',
        'created_at',
        'expires_at',
        'last_used',
        'began',
        'address',
        'browser',
        'ended_at',
        'ended_why',
        'acting_admin_email as taken_over_by',
        'reason',
      ])
      .where('user_id', '=', userId),
  )

export const linksOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('magic_links')
      .select(['token_type as purpose', 'created_at', 'expires_at', 'used_at'])
      .select(['accepted_at as mailed_at', 'ip_address as address'])
      .where('user_id', '=', userId),
  )

export const linkRequestsOf = (db: Db, email: string) =>
  inPages(db.selectFrom('link_requests').select('requested_at').where('email', '=', email))

export const apiTokensOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('api_tokens')
      .select(['id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used'])
      .where('user_id', '=', userId),
  )

export const sshKeysOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('ssh_keys')
      .select(['id', 'title', 'key_type as type', 'fingerprint', 'created_at', 'last_used'])
      .where('user_id', '=', userId),
  )

export const identitiesOf = (db: Db, userId: number) =>
  inPages(db.selectFrom('identities').select(['issuer', 'subject', 'created_at']).where('user_id', '=', userId))

export const membershipsOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .select([
        'user_groups.name as group',
        'group_members.role',
        'group_members.source',
        'group_members.name',
        'group_members.created_at',
      ])
      .where('group_members.user_id', '=', userId),
    'group_members.id',
  )

export const invitationsOf = (db: Db, email: string) =>
  inPages(
    db
      .selectFrom('group_invitations')
      .innerJoin('user_groups', 'user_groups.id', 'group_invitations.group_id')
      .select([
        'user_groups.name as group',
        'group_invitations.role',
        'group_invitations.name',
        'group_invitations.created_at',
      ])
      .where('group_invitations.email', '=', email),
    'group_invitations.id',
  )

/** Shares that the user gave, and those of the user's own address that others gave. */
export const sharesOf = (db: Db, userId: number, email: string) =>
  inPages(
    joinShares(db)
      .select([
        'container_shares.email',
        'managers.email as manager',
        'asked_in.name as asked_in',
        'user_groups.name as group',
        'container_shares.may',
        'container_shares.port',
        'container_shares.created_at',
        'container_shares.expires_at',
        'user_containers.user_id as owner',
        'user_containers.container_type as type',
      ])
      .where((each) =>
        each.or([
          each('user_containers.user_id', '=', userId),
          each('container_shares.email', '=', email),
          each('container_shares.manager_id', '=', userId),
        ]),
      ),
    'container_shares.id',
  )

/** Ends of terms that concern the user. */
export const termEndsOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('term_end_members')
      .innerJoin('term_ends', 'term_ends.id', 'term_end_members.term_end_id')
      .select([
        'term_ends.group_name as group',
        'term_end_members.state',
        'term_end_members.problem',
        'term_end_members.stays',
        'term_end_members.downloads',
        'term_ends.started_at',
        'term_ends.keep_until as kept_until',
      ])
      .where('term_end_members.user_id', '=', userId),
    'term_end_members.id',
  )

/** Archives of the user's homes. */
export const archivesOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('home_archives')
      .innerJoin('term_end_members', 'term_end_members.id', 'home_archives.member_id')
      .innerJoin('term_ends', 'term_ends.id', 'term_end_members.term_end_id')
      .select([
        'term_ends.group_name as group',
        'home_archives.container_type as type',
        'home_archives.bytes',
        'home_archives.created_at',
      ])
      .where('term_end_members.user_id', '=', userId),
    'home_archives.id',
  )

export const usageOf = (db: Db, userId: number) =>
  inPages(
    db
      .selectFrom('usage_sums')
      .select(['container_type as type', 'unit', 'period', ...usageColumns])
      .where('kind', '=', 'user')
      .where('subject_id', '=', userId),
  )

/**
 * Entries of the audit log that a user made, or that are about the user or a container of theirs, the oldest first. The
 * whole log is searched, because entries about containers name their owner in the detail alone.
 */
export async function* auditEntriesAbout(
  db: Db,
  userId: number,
  containerIds: readonly number[],
): AsyncGenerator<StoredAuditEntry> {
  const targets = [`user:${userId}`, ...containerIds.map((id) => `container:${id}`)]
  const last = await db
    .selectFrom('audit_log')
    .select(({ fn }) => fn.max('position').as('last'))
    .executeTakeFirst()
  const search = async (from: number) => {
    // SQLite answers synchronously; without this nothing else would run until the end of the log.
    await yieldToEvents()
    const until = from + (await windowBehind(db, from, auditWindow))
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('position', '>', from)
      .where('position', '<=', until)
      .where((each) =>
        each.or([
          each('actor_id', '=', userId),
          each('target', 'in', targets),
          each(sql<string>`detail`, 'like', `%"user":${userId},%`),
          each(sql<string>`detail`, 'like', `%"user":${userId}}%`),
        ]),
      )
      .orderBy('position')
      .execute()
    return { until, rows }
  }
  for (let from = 0; from < Number(last?.last ?? 0);) {
    const { until, rows } = await searches(() => search(from))
    yield* await storedEntriesOf(db, rows)
    from = until
  }
}
