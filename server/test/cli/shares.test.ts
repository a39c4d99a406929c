// Part of npm run test:more: a command over what specification/sharing states.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { ensureContainer } from '#/store/user-containers.ts'
import { openDatabase } from '#/store/database.ts'
import { setShare } from '#/store/container-shares.ts'
import { findUserByEmail } from '#/store/users.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

test('the operator lists shares and ends them, without a running service', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-shares-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  await shareWithBen(dataDir)
  const berth = (...args: string[]) =>
    runCommand({ ...noEngine, DATA_DIR: dataDir, SHARING: 'people' }, 'shares', ...args)

  const listed = await berth('list', '--user', 'ann@x.org')
  assert.match(listed.stdout, /1 +ann@x\.org +dev +ben@x\.org +look/, listed.stderr)
  const ended = await berth('end', '1')
  assert.match(ended.stdout, /1: The share has ended/, ended.stderr)
  assert.match((await berth('list')).stderr, /None/)
})

async function shareWithBen(dataDir: string): Promise<void> {
  const { db, close } = await openDatabase(null, dataDir)
  const ann = await findUserByEmail(db, 'ann@x.org')
  assert.ok(ann)
  const now = new Date()
  const { id: recordId } = await ensureContainer(db, ann.id, 'dev', 'image', now)
  const expiresAt = new Date(now.getTime() + 3_600_000)
  await setShare(db, { recordId, to: { email: 'ben@x.org' }, may: 'look', now, expiresAt })
  await close()
}
