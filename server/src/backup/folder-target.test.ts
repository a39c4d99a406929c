import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { folderTarget, pruneBackups } from './folder-target.ts'

test('--keep leaves the backup that was just made, although others lie in the future', async (t) => {
  // After one night with a wrong clock, each later backup was removed as soon as it was made, and the command succeeded.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const store = { from: 'SQLite', migration: '001', rows: {} } as const
  const backUp = async (day: string, keep: number) => {
    const now = new Date(`${day}T02:00:00Z`)
    const target = await folderTarget(folder, 'berth-ghkmn', { recipients: [], encrypt: (content) => content }, now)
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation: 'berth-ghkmn' } as const
    const name = await target.finish({ ...made, store, recipients: [], parts: [], missing: [] })
    await pruneBackups(folder, 'berth-ghkmn', keep, name)
    return readdirSync(folder).map((each) => each.slice('berth-'.length, -'T020000Z'.length))
  }
  await backUp('2027-12-01', 2)
  await backUp('2027-12-02', 2)
  assert.deepEqual(await backUp('2026-11-27', 2), ['20261127', '20271202'])
  assert.deepEqual(await backUp('2026-11-28', 2), ['20261127', '20261128'])
  assert.deepEqual(await backUp('2026-11-29', 1), ['20261129'])
})

test('a backup removes what a killed one of its installation left, and no backup of another machine', async (t) => {
  // Of two machines with one folder, the one that began later removed what the other one was writing, which then failed.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // Above the largest process id of Linux.
  const gone = 2 ** 22 + 1
  for (const name of ['berth-ghkmn-', 'berth-pqrst-', '']) mkdirSync(path.join(folder, `.partial-${name}${gone}-1`))
  const target = await folderTarget(folder, 'berth-ghkmn', { recipients: [], encrypt: (content) => content })
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(`-${gone}-1`)),
    [`.partial-berth-pqrst-${gone}-1`],
  )
  await target.discard()
  assert.deepEqual(readdirSync(folder), [`.partial-berth-pqrst-${gone}-1`])
})
