import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import { sql, type Selectable } from 'kysely'
import type { AuditAction } from '@berth/api/audit-actions.ts'
import { headAfter, headFromText, headName, headToText, type AuditHead, type ChainedLine } from './audit-chain.ts'
import { installationValue, setInstallationValue, type Db } from './database.ts'
import {
  areSealed,
  insertPersonalFacts,
  personalFactsOf,
  sealFacts,
  sealKey,
  withPersonalFacts,
  type NewPersonalFacts,
  type SealedFacts,
} from './personal-facts.ts'
import type { AuditLogTable } from './schema.ts'

type AuditFacts = Readonly<Record<string, unknown>>

/** Audit entry. Written in the same transaction as the change itself. */
export interface AuditEntry {
  readonly at: Date
  /** Actor at that time; `id` is null for the operator. `address`: origin of the request. */
  readonly actor: { readonly id: number | null; readonly email: string; readonly address: string }
  /** Target and operation, e.g. `container.block`. */
  readonly action: AuditAction
  /** e.g. `container:12` */
  readonly target: string
  /** The reason in the words of the actor. */
  readonly reason?: string
  /**
   * Values before the change, named as in the API; only those that the action changed. Stored by size and hash when
   * large.
   */
  readonly before?: AuditFacts
  readonly after?: AuditFacts
  /** Further facts. Never a secret: entries are exported. */
  readonly detail?: AuditFacts
  /**
   * Details, and under `before` earlier values, that are e-mail addresses: they are deleted after a while, as
   * `actor.address` is.
   */
  readonly personal?: AuditFacts
}

/** An entry as it is stored: reason, before, after and address are in its detail. */
export interface StoredAuditEntry {
  /** Its position in the log: 1, 2, 3... without a gap. */
  readonly id: number
  readonly at: Date
  readonly actor: { readonly id: number | null; readonly email: string }
  readonly action: string
  readonly target: string
  readonly detail: AuditFacts
}

/** Exact matches; an action that ends with a dot matches all that begin with it. */
export interface AuditFilter {
  readonly actorId?: number
  readonly actorEmail?: string
  readonly action?: string
  readonly target?: string
  /** Inclusive. */
  readonly since?: Date
  /** Exclusive. */
  readonly until?: Date
}

/** Max entries of a period for which the bounds of their ids are read first. */
const maxBounded = 10_000

/**
 * Appends entries to the log. Call it last in the transaction that makes the change.
 *
 * Writing the head locks it, so that each of two transactions knows the entry before its own, with both databases.
 * Last, because PostgreSQL could deadlock otherwise: a transaction that holds the head and then waits for a row, even
 * for a foreign key, whose holder waits for the head. With no lock taken after the head there is no such cycle.
 */
export async function insertAuditEntries(tx: Db, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  let head = await lockHead(tx)
  const facts: NewPersonalFacts[] = []
  const rows = entries.map((entry) => {
    const sealed = sealFacts(personalFacts(entry))
    const line = { ...toLine(entry, sealed), position: head.entries + 1 }
    if (sealed) facts.push({ position: line.position, at: line.at, salt: sealed.salt, facts: sealed.facts })
    head = headAfter(head, line)
    return { ...line, hash: head.hash }
  })
  await tx.insertInto('audit_log').values(rows).execute()
  await insertPersonalFacts(tx, facts)
  await tx
    .updateTable('installation')
    .set({ value: headToText(head) })
    .where('name', '=', headName)
    .execute()
}

/** Present head of the log. */
export async function auditHead(db: Db): Promise<AuditHead> {
  return headFromText(await installationValue(db, headName))
}

/** Entries of one page. */
export interface AuditEntries {
  readonly entries: StoredAuditEntry[]
  /** Whether there are fewer than the limit because they are large. */
  readonly isCut: boolean
}

/** A page, newest first. @param page `before`: the id of the last entry of the page before */
export async function listAuditEntries(
  db: Db,
  page: { limit: number; before?: number },
  filter: AuditFilter = {},
): Promise<AuditEntries> {
  // Entries without a position were not written by Berth.
  const before = page.before ?? Number.MAX_SAFE_INTEGER
  let query = db
    .selectFrom('audit_log')
    .select(['position', detailBytes.as('bytes')])
    .where('position', '<', before)
  if (filter.actorId !== undefined) query = query.where('actor_id', '=', filter.actorId)
  if (filter.actorEmail !== undefined) query = query.where('actor_email', '=', filter.actorEmail)
  if (filter.target !== undefined) query = query.where('target', '=', filter.target)
  const { since, until } = filter
  if (since || until) {
    const bounds = await boundsOf(db, filter)
    if (bounds) query = query.where('position', '>=', bounds.first).where('position', '<=', bounds.last)
    // No index has this expression: an index on the time would find all entries of a long period first, and then sort
    // them.
    const at = sql<number>`at + 0`
    if (since) query = query.where(at, '>=', since.getTime())
    if (until) query = query.where(at, '<', until.getTime())
  }
  const { action } = filter
  if (action?.endsWith('.'))
    // Not LIKE: `_` is a wildcard there, and SQLite ignores case.
    query = query.where(({ fn, lit }) => fn('substr', ['action', lit(1), lit(action.length)]), '=', action)
  else if (action !== undefined) query = query.where('action', '=', action)
  const found = await query.orderBy('position', 'desc').limit(page.limit).execute()
  const count = countThatFit(found.map(({ bytes }) => bytes))
  const positions = found.slice(0, count).map(({ position }) => position)
  return { entries: await entriesAt(db, positions), isCut: count < found.length }
}

/** Newest first. */
async function entriesAt(db: Db, positions: readonly number[]): Promise<StoredAuditEntry[]> {
  if (positions.length === 0) return []
  const rows = db.selectFrom('audit_log').selectAll().where('position', 'in', positions).orderBy('position', 'desc')
  return storedEntriesOf(db, await rows.execute())
}

/**
 * Bounds in the log of the entries of a period, when they are not too many: otherwise a page of an hour with five
 * entries would be searched for down to the beginning of the log. Found by time, because the clock may have been set
 * back in between.
 */
async function boundsOf(db: Db, { since, until }: AuditFilter): Promise<{ first: number; last: number } | undefined> {
  let times = db
    .selectFrom('audit_log')
    .select(['at', 'position'])
    .limit(maxBounded + 1)
  if (since) times = times.where('at', '>=', since.getTime())
  if (until) times = times.where('at', '<', until.getTime())
  const found = await db
    .selectFrom(times.orderBy('at').as('times'))
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min<number | null>('position').as('first'),
      fn.max<number | null>('position').as('last'),
    ])
    .executeTakeFirstOrThrow()
  if (Number(found.count) > maxBounded) return undefined
  return { first: Number(found.first ?? 0), last: Number(found.last ?? 0) }
}

/**
 * A page of entries as stored, in the order in which they were added; fewer than the limit where they are large.
 * @param after id of the row before the page
 */
export async function listAuditLines(
  db: Db,
  page: { limit: number; after: number | undefined },
): Promise<Selectable<AuditLogTable>[]> {
  const { after = Number.MIN_SAFE_INTEGER } = page
  const behind = db.selectFrom('audit_log').where('id', '>', after).orderBy('id')
  const found = await behind
    .select(['id', detailBytes.as('bytes')])
    .limit(page.limit)
    .execute()
  return behind
    .selectAll()
    .limit(countThatFit(found.map(({ bytes }) => bytes)))
    .execute()
}

/**
 * Locks the head until this transaction ends. Creates it when it is missing: a change must not fail because of that.
 */
async function lockHead(tx: Db): Promise<AuditHead> {
  const { value } = await tx
    .insertInto('installation')
    .values({ name: headName, value: headToText(headFromText(undefined)) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(({ ref }) => ({ value: ref('installation.value') })))
    .returning('value')
    .executeTakeFirstOrThrow()
  return headFromText(value)
}

/** Facts that the retention of personal data deletes. Names such as `command line` are no network addresses. */
function personalFacts({ actor: { address }, personal }: AuditEntry): AuditFacts {
  const [plain = ''] = address.split('%')
  return { ...personal, ...(isIP(plain) === 0 ? {} : { address }) }
}

function toLine(
  { at, actor, action, target, reason, before, after, detail }: AuditEntry,
  sealed: SealedFacts | undefined,
): Omit<ChainedLine, 'position'> {
  const address = isIP(actor.address.split('%')[0] ?? '') === 0 ? actor.address : undefined
  return {
    at: at.getTime(),
    actor_id: actor.id,
    // Text that is no valid Unicode would be stored differently, and break the chain; in JSON it is escaped.
    actor_email: actor.email.toWellFormed(),
    action,
    target,
    // Keys without a value do not appear in JSON.
    detail: JSON.stringify({
      ...detail,
      reason,
      before: whenSmall(before),
      after: whenSmall(after),
      address,
      [sealKey]: sealed?.seal,
    }),
  }
}

/**
 * Max bytes of `before`, and of `after`: a manager of a group may replace its hours, up to 64 KB, many times a second.
 */
const maxState = 8_192

/** What is larger is told by its size and its hash, with which a copy that was kept can be compared. */
function whenSmall(facts: AuditFacts | undefined): AuditFacts | undefined {
  const text = JSON.stringify(facts)
  // Undefined has no text.
  if (facts === undefined || Buffer.byteLength(text) <= maxState) return facts
  return { bytes: Buffer.byteLength(text), sha256: hash('sha256', text) }
}

/** Entries as they are read: `detail` is parsed, and has the personal facts that are still there. */
export async function storedEntriesOf<R extends Selectable<AuditLogTable>>(
  db: Db,
  rows: readonly R[],
): Promise<StoredAuditEntry[]> {
  const facts = await personalFactsOf(
    db,
    rows.map(({ position }) => position),
  )
  return rows.map((row) => {
    const entry = storedEntryOf(row)
    const stored = facts.get(row.position)
    // Facts that were changed by hand are not shown; verification reports them.
    const sealed = stored && areSealed(stored, row.detail) ? stored : undefined
    return { ...entry, detail: withPersonalFacts(entry.detail, sealed) }
  })
}

function storedEntryOf(row: Selectable<AuditLogTable>): StoredAuditEntry {
  return {
    id: row.position,
    at: new Date(row.at),
    actor: { id: row.actor_id, email: row.actor_email },
    action: row.action,
    target: row.target,
    detail: readDetail(row.detail),
  }
}

/** An entry that was changed by hand must not make the others unreadable; verification reports it. */
function readDetail(text: string): AuditFacts {
  try {
    const detail: unknown = JSON.parse(text)
    if (typeof detail === 'object' && detail !== null && !Array.isArray(detail)) return detail as AuditFacts
  } catch {
    // Not written by Berth.
  }
  return { unreadable: text }
}

/** Its name in `installation`. */
const positionName = 'audit webhook cursor'

/** An entry with its hash in the chain. */
export interface ChainedAuditEntry extends StoredAuditEntry {
  readonly hash: string
}

/**
 * Position of the last entry that was delivered elsewhere. Without one, the present end of the log becomes the
 * position: delivery begins with the next entry.
 */
export async function webhookPosition(db: Db): Promise<number> {
  const value = await installationValue(db, positionName)
  if (value !== undefined) return Number(value) || 0
  const { entries } = await auditHead(db)
  await saveWebhookPosition(db, entries)
  return entries
}

export async function saveWebhookPosition(db: Db, position: number): Promise<void> {
  await setInstallationValue(db, positionName, String(position))
}

/**
 * Entries behind a position, in their order; fewer than the limit where they are large. They exist for good: positions
 * are assigned under the lock of the head.
 */
export async function listAuditEntriesAfter(db: Db, position: number, limit: number): Promise<ChainedAuditEntry[]> {
  const behind = db.selectFrom('audit_log').where('position', '>', position).orderBy('position')
  const found = await behind.select(detailBytes.as('bytes')).limit(limit).execute()
  const count = countThatFit(found.map(({ bytes }) => bytes))
  const rows = await behind.selectAll().limit(count).execute()
  const entries = await storedEntriesOf(db, rows)
  return entries.map((entry, index) => ({ ...entry, hash: rows[index]?.hash ?? '' }))
}

/**
 * Max bytes of the details of entries that are read at once, one entry excepted. What is parsed and sent together holds
 * up the process: 1,000 entries with 96 KB each did so for 14 s on a busy machine.
 */
const maxWindowBytes = 1_048_576

/** Bytes of the detail of an entry; neither database reads the text for it. */
const detailBytes = sql<number | string>`octet_length(detail)`

/** How many of the first entries are read at once; at least one where there is any. @param sizes in bytes */
function countThatFit(sizes: readonly (number | string)[]): number {
  let bytes = 0
  const tooMany = sizes.findIndex((size) => (bytes += Number(size)) > maxWindowBytes)
  return tooMany === -1 ? sizes.length : Math.max(1, tooMany)
}

/**
 * How many positions behind one are read at once. @param most where their details are small @returns at least 1
 */
export async function windowBehind(db: Db, position: number, most: number): Promise<number> {
  for (let count = most; count > 1; count = Math.ceil(count / 2)) {
    const { bytes } = await db
      .selectFrom('audit_log')
      .select(({ fn }) => fn.sum<number | string | null>(detailBytes).as('bytes'))
      .where('position', '>', position)
      .where('position', '<=', position + count)
      .executeTakeFirstOrThrow()
    if (Number(bytes ?? 0) <= maxWindowBytes) return count
  }
  return 1
}
