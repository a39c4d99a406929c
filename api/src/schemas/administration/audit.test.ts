import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { auditAsCsv, auditAsJsonLines, auditColumns, type AuditEntry } from './audit.ts'

const entry = (id: number, detail: Record<string, unknown> = {}): AuditEntry => ({
  id,
  at: '2026-01-02T03:04:05.678Z',
  actor: { id: 1, email: 'boss@x.org' },
  action: 'user.takeover',
  target: 'user:2',
  detail: { address: '192.0.2.1', ...detail },
})

const read = (csv: string): Record<string, string>[] => parse(csv, { columns: true, record_delimiter: '\r\n' })

test('the audit log as JSON lines is one entry a line, read back as it was, however many pages are put together', () => {
  const entries = [entry(1, { reason: 'two\nlines \u2028' }), entry(2), entry(3)]
  const text = auditAsJsonLines(entries.slice(0, 2)) + auditAsJsonLines(entries.slice(2)) + auditAsJsonLines([])
  assert.ok(text.endsWith('\n'))
  const lines = text.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    entries,
  )
})

test('the audit log as CSV has one column for each thing that is asked about, and names them once', () => {
  const changed = { before: { is_admin: false }, after: { is_admin: true }, reason: 'asked for', until: 'noon' }
  const csv = auditAsCsv([entry(1, changed)]) + auditAsCsv([entry(2)], false)
  const [first, second, ...more] = read(csv)
  assert.deepEqual(Object.keys(first ?? {}), [...auditColumns])
  assert.deepEqual(first, {
    id: '1',
    at: '2026-01-02T03:04:05.678Z',
    actor_id: '1',
    actor: 'boss@x.org',
    action: 'user.takeover',
    target: 'user:2',
    address: '192.0.2.1',
    reason: 'asked for',
    before: '{"is_admin":false}',
    after: '{"is_admin":true}',
    detail: '{"until":"noon"}',
  })
  assert.deepEqual([second?.id, second?.reason, second?.detail, more.length], ['2', '', '{}', 0])
})

test('words with commas, quotes and line breaks stay in their cell', () => {
  for (const reason of ['a, "b"\r\nc', '"', '\n', ',', ' spaces ', 'a\rb', 'x,=1+1']) {
    const [row] = read(auditAsCsv([entry(1, { reason })]))
    assert.equal(row?.reason?.replace(/^'/, ''), reason)
    assert.equal(row?.detail, '{}')
  }
})

test('what a spreadsheet would take for a formula begins with an apostrophe, and nothing else does', () => {
  const formulas = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '  =cmd|x',
    '\uFF1D1+1',
    '\n+1',
    '=HYPERLINK("x","y")',
  ]
  for (const reason of formulas)
    assert.equal(read(auditAsCsv([entry(1, { reason })]))[0]?.reason, `'${reason}`, JSON.stringify(reason))
  for (const reason of ['a=b', 'e-mail', "'quoted", '1+1'])
    assert.equal(read(auditAsCsv([entry(1, { reason })]))[0]?.reason, reason)
  const [operator] = read(auditAsCsv([{ ...entry(1), actor: { id: null, email: '=operator' } }]))
  assert.deepEqual([operator?.actor_id, operator?.actor], ['', "'=operator"])
})
