// Part of npm run test:more: a command over what store/usage.test.ts states.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { addUsage } from '#/store/usage-sums.ts'
import { sumsOf } from '#/usage/usage-recorder.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

test('the operator reads sums of use as a table and as CSV, and what an idle stop would have saved', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-usage-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const database = await openDatabase(null, dataDir)
  const sums = sumsOf({
    seconds: 7_200,
    isPaused: false,
    isUsed: false,
    idleFor: 3_600,
    cores: 2,
    memory: 2_147_483_648,
    gpus: 2,
  })
  const row = { unit: 'month', period: '2026-10', container_type: 'dev', ...sums } as const
  await addUsage(database.db, [
    { ...row, kind: 'all', subject_id: 0 },
    { ...row, kind: 'user', subject_id: 1 },
  ])
  await database.close()
  const usage = (...args: string[]) =>
    runCommand({ ...noEngine, DATA_DIR: dataDir }, 'usage', '--unit', 'month', ...args)
  const table = await usage('--from', '2026-10', '--until', '2026-10', '--by', 'type')
  assert.equal(table.code, 0, table.stderr)
  assert.match(table.stdout, /^dev +2\.00 +0\.00 +0\.00 +4\.00 +0\.00 +4\.00 +0\.00 +0\.00 +2\.00 +4\.00$/m)
  assert.match(table.stderr, /after 30 minutes would have saved 2\.0 of 2\.0 hours \(100 %\)/)
  const csv = await usage('--from', '2026-10', '--by', 'user', '--csv')
  assert.match(csv.stdout, /^key,name,running_hours,.*\r\n1,boss@x\.org,2,0,0,4,4,0,0,0,0,2,2,2,2,0,0,4\r\n$/)
  const refused = await usage('--from', '2026-09', '--until', '2026-10', '--by', 'user')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /of one day or month/)
})
