// Part of npm run test:more: what the command says before; specification/groups/term-end has what is removed and kept.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

// A year that was mistyped removed accounts and homes as soon as they were archived.
test('an end of term names its dates before it begins, and no removal is set for a day that is over', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-term-dates-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'groups', ...args)
  assert.equal((await berth('create', 'Physics 7b')).code, 0)
  const endTerm = (...args: string[]) =>
    berth('end-term', 'Physics 7b', '--keep-until', '2097-01-31T00:00:00Z', ...args)

  const over = await endTerm('--remove-at', '2025-08-07T00:00:00Z', '--yes')
  assert.equal(over.code, 2)
  assert.match(over.stderr, /--remove-at 2025-08-07T00:00:00Z is over/)

  // `Date` does not read it: the removal began at once, under the words "when all is archived and mailed".
  const unreadable = await endTerm('--remove-at', '2096-08-07T00:00:00+01', '--yes')
  assert.equal(unreadable.code, 2)
  assert.match(unreadable.stderr, /--remove-at: "2096-08-07T00:00:00\+01" is no instant such as/)
  assert.equal((await berth('create', 'Never made', '--ends', '2096-08-07T00:00:00+01')).code, 2)

  const later = await endTerm('--remove-at', '2096-08-07T02:00:00+02:00')
  assert.match(later.stderr, /The removal begins 2096-08-07 00:00 UTC; archives are kept until 2097-01-31 00:00 UTC\./)
  const today = await endTerm('--remove-at', new Date().toISOString())
  assert.match(today.stderr, /The removal begins when all is archived and mailed;/)
})
