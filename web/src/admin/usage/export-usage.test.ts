import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { exportUsage, usageFileName, type UsagePageQuery } from './export-usage.ts'
import { nothing } from './usage-view.ts'

const row = (key: string, name: string): UsageRow => ({ ...nothing, key, name, running_hours: 1.5 })
const pages = [
  { rows: [row('1', 'ann@x.org'), row('2', '=1+1@x.org')], next_cursor: '2' },
  { rows: [row('7', 'a "b", c')], next_cursor: null },
]

test('a file has a header row, every page once, and no cell that a spreadsheet would execute', async () => {
  const asked: UsagePageQuery[] = []
  const counts: number[] = []
  const blob = await exportUsage(
    async (page) => pages[asked.push(page) - 1]!,
    (count) => counts.push(count),
  )
  const lines = (await blob.text()).split('\r\n')
  assert.deepEqual(asked, [
    { limit: '1000', sort: 'key' },
    { limit: '1000', sort: 'key', cursor: '2' },
  ])
  assert.match(lines[0] ?? '', /^key,name,running_hours,.*,cpu_hours,.*,idle_5_hours,.*,idle_240_hours,gpu_hours$/)
  assert.match(lines[1] ?? '', /^1,ann@x\.org,1\.5,0,/)
  assert.match(lines[2] ?? '', /^2,'=1\+1@x\.org,/)
  assert.match(lines[3] ?? '', /^7,"a ""b"", c",/)
  assert.deepEqual([lines.length, counts], [5, [2, 3]])
})

test('a failed export gives no file', async () => {
  await assert.rejects(
    exportUsage(
      async () => Promise.reject(new Error('given up')),
      () => undefined,
    ),
    /given up/,
  )
})

test('a file is named for what is in it', () => {
  assert.equal(usageFileName('user', '2026-11', '2026-11'), 'berth-usage-user-2026-11.csv')
  assert.equal(usageFileName('type', '2026-11-01', '2026-11-30'), 'berth-usage-type-2026-11-01-to-2026-11-30.csv')
})
