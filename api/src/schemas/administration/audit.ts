import Type from 'typebox'
import { csvLine } from '../../csv.ts'
import { Instant, instant, OrNull } from '../shapes.ts'

/** Who did what to whom, as it was written down with the change itself. */
export const AuditEntry = Type.Object({
  id: Type.Integer({ description: 'Position in the log: 1, 2, 3... without a gap' }),
  at: Instant,
  actor: Type.Object(
    { id: OrNull(Type.Integer()), email: Type.String() },
    { description: 'The actor as of then; the operator has no id' },
  ),
  action: Type.String({ description: 'E.g. `user.block`' }),
  target: Type.String({ description: 'E.g. `user:12`' }),
  detail: Type.Record(Type.String(), Type.Unknown(), {
    description: '`address` of the request and, where they apply, `reason`, `before`, `after` and further facts',
  }),
})
export type AuditEntry = Type.Static<typeof AuditEntry>

export const AuditQuery = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: '^\\d{1,4}$',
      description: 'Rows of a page, 1 to 1000; default 100; there are fewer where entries are large',
    }),
  ),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'Id or e-mail address' })),
  action: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: '^[a-z][a-z-]*(\\.[a-z-]*)*$',
      description: 'An action, or with a dot at its end the prefix of several, e.g. `user.`',
    }),
  ),
  target: Type.Optional(
    Type.String({ maxLength: 320, pattern: '^[a-z][a-z-]*:.+$', description: 'As in the entries' }),
  ),
  since: Type.Optional(instant('Not before this time')),
  until: Type.Optional(instant('Before this time')),
  names: Type.Optional(Type.String({ pattern: '^(true|false)$', description: '`true` adds `names` to the answer' })),
})

export const AuditResponse = Type.Object({
  entries: Type.Array(AuditEntry),
  next_cursor: OrNull(Type.String()),
  names: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Current e-mail addresses of the existing users that the entries concern, by id',
    }),
  ),
})
export type AuditResponse = Type.Static<typeof AuditResponse>

/** Both or neither. */
export const AuditVerifyQuery = Type.Object({
  entries: Type.Optional(
    Type.String({ pattern: '^\\d{1,15}$', description: '`entries` of an earlier answer that was kept elsewhere' }),
  ),
  head: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: '`head` of the same answer' })),
})

export const AuditVerdict = Type.Object({
  entries: Type.Integer({ description: 'Number of unchanged entries from the start' }),
  head: Type.String({ description: 'Hash of the last of them, which covers all before' }),
  first_broken: OrNull(
    Type.Object({
      id: Type.Integer(),
      what: Type.Union([Type.Literal('changed'), Type.Literal('missing'), Type.Literal('inserted')]),
    }),
    { description: 'First entry that was changed, is missing or was inserted; null if there is none' },
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
  return (isFirst ? [auditColumns, ...rows] : rows).map(csvLine).join('')
}

function rowOf({ id, at, actor, action, target, detail }: AuditEntry): unknown[] {
  const { address, reason, before, after, ...more } = detail
  return [id, at, actor.id, actor.email, action, target, address, reason, before, after, more]
}
