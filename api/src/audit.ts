import Type from 'typebox'
import { Instant, OrNull } from './shapes.ts'

/** Who did what to whom, as it was written down with the change itself. */
export const AuditEntry = Type.Object({
  /** Its place in the log: 1, 2, 3... without a gap. */
  id: Type.Integer(),
  at: Instant,
  /** As they were then: they may be gone. The operator has no id. */
  actor: Type.Object({ id: OrNull(Type.Integer()), email: Type.String() }),
  /** What it was about and what was done, e.g. `user.block`. */
  action: Type.String(),
  /** e.g. `user:12` */
  target: Type.String(),
  /** `address` (where the request came from), and where they apply `reason`, `before`, `after` and more. */
  detail: Type.Record(Type.String(), Type.Unknown()),
})
export type AuditEntry = Type.Static<typeof AuditEntry>

/**
 * Page through the log, the newest first: `limit` 1 to 1000 (100 when absent), `cursor` from the page before. `actor` is
 * an id or an e-mail address, `action` a whole one or, ending with a dot, the beginning of several (`user.`), `target` as
 * in the entries; each has to match exactly. `since` and `until` are instants (ISO 8601), the first included, the last not.
 * `names=true` asks for `names`, too.
 */
export const AuditQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
  action: Type.Optional(Type.String({ maxLength: 64, pattern: '^[a-z][a-z-]*(\\.[a-z-]*)*$' })),
  target: Type.Optional(Type.String({ maxLength: 320, pattern: '^[a-z][a-z-]*:.+$' })),
  since: Type.Optional(Instant),
  until: Type.Optional(Instant),
  names: Type.Optional(Type.String({ pattern: '^(true|false)$' })),
})

export const AuditResponse = Type.Object({
  entries: Type.Array(AuditEntry),
  next_cursor: OrNull(Type.String()),
  /**
   * Of whom the entries are about, by id, and as far as they are still there: their e-mail addresses as they are now. Only
   * where it was asked for; entries name users by their ids.
   */
  names: Type.Optional(Type.Record(Type.String(), Type.String())),
})
export type AuditResponse = Type.Static<typeof AuditResponse>

/** `entries` and `head` of an earlier answer that was kept elsewhere: the log must still have it. Both or neither. */
export const AuditVerifyQuery = Type.Object({
  entries: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
  head: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
})

export const AuditVerdict = Type.Object({
  /** How many entries were found as they were written. */
  entries: Type.Integer(),
  /** Hash of the last of them, and with it of all before. */
  head: Type.String(),
  /** The first that is not as it was written, is gone, or was not written by Berth; null when there is none. */
  first_broken: OrNull(
    Type.Object({
      id: Type.Integer(),
      what: Type.Union([Type.Literal('changed'), Type.Literal('missing'), Type.Literal('inserted')]),
    }),
  ),
})
export type AuditVerdict = Type.Static<typeof AuditVerdict>

/** One JSON object a line (jsonlines.org), each line ended: the texts of several pages can be put one after the other. */
export function auditAsJsonLines(entries: Iterable<AuditEntry>): string {
  return Array.from(entries, (entry) => `${JSON.stringify(entry)}\n`).join('')
}

/** The columns of `auditAsCsv`. `detail` is what is left of it, as JSON, like `before` and `after`. */
export const auditColumns = [
  'id',
  'at',
  'actor_id',
  'actor',
  'action',
  'target',
  'address',
  'reason',
  'before',
  'after',
  'detail',
] as const

/** RFC 4180, each line ended. @param isFirst whether it begins with the names of the columns; not for further pages */
export function auditAsCsv(entries: Iterable<AuditEntry>, isFirst = true): string {
  const rows = Array.from(entries, rowOf)
  return (isFirst ? [auditColumns, ...rows] : rows).map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function rowOf({ id, at, actor, action, target, detail }: AuditEntry): unknown[] {
  const { address, reason, before, after, ...more } = detail
  return [id, at, actor.id, actor.email, action, target, address, reason, before, after, more]
}

function cell(value: unknown): string {
  const text = harmless(textOf(value))
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * A spreadsheet runs what begins like a formula, and a reason may be anybody's words; behind an apostrophe it is text.
 * Some take the wide forms of these letters for the same. Source: owasp.org/www-community/attacks/CSV_Injection
 */
const harmless = (text: string) =>
  /^[\s\p{Cc}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u.test(text) ? `'${text}` : text
