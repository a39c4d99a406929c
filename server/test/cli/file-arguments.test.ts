import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

// The program changes to its own folder, where these commands looked for the files that an operator named.
test('file arguments are relative to the folder that the operator is in', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-files-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const dataDir = await makeStore(path.join(folder, 'data'))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir, BERTH_FOLDER: folder }, ...args)

  const exported = await berth('users', 'export', 'ann@x.org', '--output', 'ann.json')
  assert.equal(exported.code, 0, exported.stderr)
  assert.equal(JSON.parse(await readFile(path.join(folder, 'ann.json'), 'utf8')).account.email, 'ann@x.org')

  await berth('groups', 'create', 'Physics 7b')
  const hours = { time_zone: 'Europe/Berlin', lessons: [], stop_at: '22:00', exceptions: [] }
  await writeFile(path.join(folder, 'hours.json'), JSON.stringify(hours))
  const set = await berth('groups', 'timetable', 'Physics 7b', '--set', 'hours.json')
  assert.match(set.stdout, /Stop: 22:00/, set.stderr)
  assert.match(
    (await berth('groups', 'timetable', 'Physics 7b', '--set', 'none.json')).stderr,
    /none\.json cannot be read/,
  )

  await writeFile(path.join(folder, 'address'), 'mysql://db.example.org/berth', { mode: 0o600 })
  assert.match((await berth('store', 'copy', '--to', 'address')).stderr, /--to: address holds no address postgres:/)
})
