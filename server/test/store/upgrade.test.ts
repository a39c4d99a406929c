import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { openDatabase, type Database } from '#/store/database.ts'
import { copyBeforeMigration } from '#/store/transfer/copy-before-migration.ts'
import { dialects, useStore } from '#test/support/store/both-databases.ts'

/** Last migration of an older version. */
const older = '012-clock-moves'

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-upgrade-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A store as an older version left it, with one user. */
async function olderStore(dataDir: string): Promise<void> {
  const { db, close } = await openDatabase(null, dataDir, { until: older })
  await sql`insert into users (email, slug, state, is_admin, created_at) values ('ann@x.org', 'ann', 'active', 1, 0)`.execute(
    db,
  )
  await close()
}

test('before a store is migrated it is copied, and the older version starts on the copy', async (t) => {
  const dataDir = folder(t)
  await olderStore(dataDir)
  const copied = await copyBeforeMigration(dataDir, new Date('2026-11-23T01:30:00Z'))
  assert.equal(copied?.file, path.join(dataDir, 'before-migration/20261123T013000Z-012-clock-moves.sqlite'))
  assert.ok(copied?.pending.includes('013-lasting-sessions'))
  assert.equal(statSync(copied.file).mode & 0o777, 0o600)
  await (await openDatabase(null, dataDir)).close()

  const before = folder(t)
  renameSync(copied.file, path.join(before, 'berth.sqlite'))
  const { db, close } = await openDatabase(null, before, { until: older })
  t.after(close)
  const { rows } = await sql<{ email: string }>`select email from users`.execute(db)
  assert.deepEqual(
    rows.map(({ email }) => email),
    ['ann@x.org'],
  )
})

test('a store that is new or up to date is not copied, and of the copies the last three stay', async (t) => {
  const dataDir = folder(t)
  assert.equal(await copyBeforeMigration(dataDir, new Date()), undefined)
  await olderStore(dataDir)
  for (const day of [1, 2, 3, 4]) await copyBeforeMigration(dataDir, new Date(Date.UTC(2026, 10, day)))
  const days = readdirSync(path.join(dataDir, 'before-migration')).map((name) => name.slice(0, 8))
  assert.deepEqual(days.sort(), ['20261102', '20261103', '20261104'])
  await (await openDatabase(null, dataDir)).close()
  assert.equal(await copyBeforeMigration(dataDir, new Date()), undefined)
})

test('where no copy can be made, the start fails in words and the store stays as it was', async (t) => {
  const dataDir = folder(t)
  await olderStore(dataDir)
  // A file in the place of the folder: permissions do not keep root from writing.
  const blocker = path.join(dataDir, 'before-migration')
  writeFileSync(blocker, '')
  await assert.rejects(copyBeforeMigration(dataDir, new Date()), /the store was not changed.*Make room/)
  rmSync(blocker)
  assert.ok(await copyBeforeMigration(dataDir, new Date()))
})

for (const dialect of dialects)
  describe(`a store of a newer version in ${dialect}`, () => {
    let database: Database
    const open = useStore(dialect, (opened) => void (database = opened))

    test('is refused by an older one, which names the migration and says what to do', async () => {
      const future = sql`insert into kysely_migration (name, timestamp) values ('999-future', '2027-01-01')`
      await future.execute(database.db)
      await assert.rejects(open, ({ name, message }: Error) => {
        assert.equal(name, 'NewerStore')
        assert.match(
          message,
          /a newer version of Berth changed the store \(999-future;.*Start the newer version again; or/,
        )
        return true
      })
    })
  })
