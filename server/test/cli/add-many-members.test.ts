import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

// A list had 40 s for 500 mails: with a mail server that takes a second for each, the last ones were refused, and a
// repetition mailed the first ones again.
test('a long list of members is added in calls of which each has time for its mails', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-members-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'groups', ...args)
  assert.equal((await berth('create', 'Physics 7b')).code, 0)
  const csv = path.join(dataDir, 'class.csv')
  await writeFile(csv, `email\n${Array.from({ length: 120 }, (_, number) => `new${number}@x.org\n`).join('')}`)
  const added = await berth('add', 'Physics 7b', '--csv', csv, '--json')
  assert.equal(added.code, 0, added.stderr)
  const outcomes = added.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    outcomes.map(({ invited }) => invited.length),
    [50, 50, 20],
  )
})
