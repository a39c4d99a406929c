import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#/store/database.ts'
import { takeStoreSnapshot } from '#/store/open/copy-store.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

// The version of the store before the last tables: as of nodes that are upgraded one after the other, or between the
// installation of a version and its first start.
const older = '017-parameters'

test('a backup of a PostgreSQL store that this version has not migrated yet has what is in it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-older-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const { db, close } = await openDatabase(postgres.url, '', { until: older })
  await sql`insert into users (email, slug, state, is_admin, created_at) values ('ann@x.org', 'ann', 'verified', 1, 0)`.execute(
    db,
  )
  await close()
  const spool = path.join(folder, 'spool')
  mkdirSync(spool)
  const { migration, rows } = await takeStoreSnapshot({ url: postgres.url }, spool)
  assert.equal(migration, older)
  assert.equal(rows.users, 1)
  assert.equal(rows.user_groups, undefined, 'a table of later versions')
})
