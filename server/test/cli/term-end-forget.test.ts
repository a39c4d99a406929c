import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

// They may be the last copy of a home that is removed already, and were deleted without a question.
test('archives of a member are deleted before their date after a confirmation only', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-forget-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'groups', ...args)
  assert.equal((await berth('create', 'Physics 7b')).code, 0)
  const archives = await endTermOf(dataDir)

  const unconfirmed = await berth('end-term', 'Physics 7b', '--forget', 'Ann@x.org')
  assert.equal(unconfirmed.code, 1)
  assert.match(unconfirmed.stderr, /add --yes to confirm/)
  assert.deepEqual(await readdir(archives), ['ann-dev.tar.gz'])

  const forgotten = await berth('end-term', 'Physics 7b', '--forget', 'Ann@x.org', '--yes')
  assert.equal(forgotten.code, 0, forgotten.stderr)
  assert.deepEqual(await readdir(archives), [])
})

/** An end of term that has removed the account of ann@x.org. @returns the folder of its archives */
async function endTermOf(dataDir: string): Promise<string> {
  const { db, close } = await openDatabase(null, dataDir)
  const archives = path.join(dataDir, 'archives', '1')
  await mkdir(archives, { recursive: true })
  await writeFile(path.join(archives, 'ann-dev.tar.gz'), 'files')
  const [now, later] = [Date.now(), Date.now() + 86_400_000]
  const dates = { remove_at: now, keep_until: later, group_end: null, started_at: now, finished_at: now }
  const actor = { actor_id: null, actor_name: 'operator root', language: 'en', problem: null } as const
  const termEnd = { group_id: 1, group_name: 'Physics 7b', phase: 'done', removes_accounts: 1 } as const
  await db
    .insertInto('term_ends')
    .values({ ...termEnd, ...dates, ...actor })
    .execute()
  const ann = { user_id: 99, email: 'ann@x.org', slug: 'ann', stays: null, state: 'done', problem: null } as const
  const counts = { attempts: 0, retry_at: 0, downloads: 0 }
  await db
    .insertInto('term_end_members')
    .values({ term_end_id: 1, ...ann, ...counts })
    .execute()
  const archive = { member_id: 1, container_type: 'dev', file: '1/ann-dev.tar.gz', bytes: 5, record_state: '' }
  await db
    .insertInto('home_archives')
    .values({ ...archive, created_at: now })
    .execute()
  await close()
  return archives
}
