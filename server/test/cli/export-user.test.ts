// Part of npm run test:more: a command over what specification/personal-data.test.ts states.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

test('the operator exports what is kept about a user, into a file that only its owner reads; the audit log has it', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-export-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, ...args)
  const file = path.join(dataDir, 'boss.json')
  const exported = await berth('users', 'export', 'boss@x.org', '--output', file)
  assert.equal(exported.code, 0, exported.stderr)
  const { account, format } = JSON.parse(await readFile(file, 'utf8'))
  assert.deepEqual([format, account.email], [1, 'boss@x.org'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match((await berth('audit', 'list')).stdout, /user\.export +user:1/)
  const again = await berth('users', 'export', 'boss@x.org', '--output', file)
  assert.match(again.stderr, /is there already/)
  assert.equal((await berth('users', 'export', 'zoe@x.org')).code, 1)
})
