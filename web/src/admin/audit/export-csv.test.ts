import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import { exportCsv, fileName, type ExportProgress } from './export-csv.ts'

const entry = (id: number, reason: string): AuditEntry => ({
  id,
  at: '2026-11-21T09:00:00.000Z',
  actor: { id: 1, email: 'ada@example.org' },
  action: 'user.takeover',
  target: 'user:12',
  detail: { reason },
})
const pages = [
  { entries: [entry(4, 'Zürich, "now"'), entry(3, '=1+1')], next_cursor: '3' },
  { entries: [entry(1, 'x')], next_cursor: null },
]

test('an export has a header row, every page once, and no cell that a spreadsheet would execute', async () => {
  const asked: unknown[] = []
  const progress: ExportProgress[] = []
  const blob = await exportCsv(
    async (page) => pages[asked.push(page) - 1]!,
    (each) => progress.push(each),
  )
  const lines = (await blob.text()).split('\r\n')
  assert.deepEqual(asked, [{ limit: '1000' }, { limit: '1000', cursor: '3' }])
  assert.equal(lines.length, 1 + 3 + 1)
  assert.match(lines[0]!, /^id,at,actor_id,actor,action/)
  assert.match(lines[1]!, /,"Zürich, ""now""",/)
  assert.match(lines[2]!, /,'=1\+1,/)
  assert.deepEqual(progress, [
    { entries: 2, share: 0.25 },
    { entries: 3, share: 1 },
  ])
})

test('an empty export has the header row, and a failed or cancelled one gives no file', async () => {
  const empty = await exportCsv(
    async () => ({ entries: [], next_cursor: null }),
    () => undefined,
  )
  assert.match(await empty.text(), /^id,at,[^\n]*\r\n$/)
  const given = async (page: object) => ('cursor' in page ? Promise.reject(new Error('given up')) : pages[0]!)
  await assert.rejects(
    exportCsv(given, () => undefined),
    /given up/,
  )
})

test('the file name has the day', () => {
  assert.equal(fileName(new Date(2026, 0, 5, 23, 59)), 'berth-audit-2026-01-05.csv')
})
