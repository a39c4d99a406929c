// Part of npm run test:more: commands over what specification/sessions/api-tokens states.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'
import { extent } from '#test/support/extent.ts'

test('the operator creates API tokens for accounts, lists them and removes them, with or without a running service', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-tokens-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'tokens', ...args)
  const create = (email: string, scope: string, ...more: string[]) =>
    berth('create', email, '--name', 'backup', '--scope', scope, ...more)

  const made = await create('boss@x.org', 'admin:read', '--days', '7')
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^berth_[\w-]{43}\n$/)
  assert.match(made.stderr, /API token 1 of boss@x\.org, valid until .* UTC/)

  const listed = await berth('list', '--user', 'boss@x.org')
  assert.match(listed.stdout, /^1 +boss@x\.org +backup +admin:read .*never$/m)
  assert.ok(!listed.stdout.includes('berth_'))
  assert.match((await berth('list', '--user', 'ann@x.org')).stderr, /None/)
  const json = JSON.parse((await berth('list', '--json')).stdout)
  assert.deepEqual([json.id, json.user.email, json.scopes], [1, 'boss@x.org', ['admin:read']])

  const refusals = [
    ['ann@x.org', 'containers:read', /not verified/, 1],
    ['other@x.org', 'containers:read', /no such user/, 1],
    ['boss@x.org', 'admin:all', /is not a scope/, 2],
  ] as const
  for (const [email, scope, reason, code] of refusals.slice(0, extent(1, 3))) {
    const refused = await create(email, scope)
    assert.equal(refused.code, code, refused.stderr)
    assert.match(refused.stderr, reason)
  }
  assert.equal((await create('boss@x.org', 'admin:read', '--days', '366')).code, 2)

  const removed = await berth('remove', '1', '99')
  assert.equal(removed.code, 1)
  assert.match(removed.stdout, /1: The API token is removed/)
  assert.match(removed.stderr, /99: There is no such API token/)
  assert.match((await berth('list')).stderr, /None/)
})
