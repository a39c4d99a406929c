// Part of npm run test:more: what a command does when its reader ends, which is a matter of comfort.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { insertUser } from '#/store/users.ts'
import { makeStore, noEngine, startCommand } from '#test/support/command-line.ts'
import { waitLimit } from '#test/support/extent.ts'

test('a long list ends when its reader does, such as head, and says nothing about it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-output-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = await makeStore(folder)
  const { db, close } = await openDatabase(null, dataDir)
  // More than the buffer of a socket holds: it takes a thousand users before anything is read.
  for (let number = 0; number < 3_000; number++)
    await insertUser(db, { email: `u${number}@x.org`, slug: `u${number}`, isAdmin: false, now: new Date() })
  await close()
  const child = startCommand({ ...noEngine, DATA_DIR: dataDir }, ['users', 'list', '--json'])
  assert.ok(child.stdout && child.stderr)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  await once(child.stdout, 'data')
  const began = performance.now()
  child.stdout.destroy()
  await once(child, 'exit')
  assert.equal(child.exitCode, 1)
  assert.equal(said, '')
  assert.ok(performance.now() - began < waitLimit(20_000), 'without its time limit')
})
