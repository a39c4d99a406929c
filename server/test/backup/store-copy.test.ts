import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#/store/database.ts'
import { insertUser } from '#/store/users.ts'
import { copyStore, summarizeStore } from '#/store/open/copy-store.ts'
import { noEngine, runCommand } from '#test/support/command-line.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'
import { startPostgres } from '#test/support/store/postgres.ts'
import { onlyLong } from '#test/support/extent.ts'

const users = ['boss@x.org', 'ann@x.org', 'zoë@x.org']

/** An empty folder, and an empty PostgreSQL database. */
async function begin(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-copy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  return { folder, postgres }
}

test('berth store copy moves a store to PostgreSQL and back, with the same counts, hashes and next ids', async (t) => {
  const { folder, postgres } = await begin(t)
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const before = await summarizeStore({ folder: dataDir })
  const address = path.join(folder, 'address')
  writeFileSync(address, `${postgres.url}\n`, { mode: 0o600 })
  const settings = { ...noEngine, DATA_DIR: dataDir }

  const there = await runCommand(settings, 'store', 'copy', '--to', address)
  assert.equal(there.code, 0, there.stderr)
  assert.deepEqual(await summarizeStore({ url: postgres.url }), before)
  const again = await runCommand(settings, 'store', 'copy', '--to', address)
  assert.match(again.stderr, /the PostgreSQL database is not empty; nothing was copied/)

  renameSync(path.join(dataDir, 'berth.sqlite'), path.join(folder, 'old'))
  const back = await runCommand({ ...settings, DATABASE_URL: postgres.url }, 'store', 'copy', '--to', 'sqlite')
  assert.equal(back.code, 0, back.stderr)
  assert.deepEqual(await summarizeStore({ folder: dataDir }), before)
  assert.deepEqual(await addressesIn(null, dataDir), users)

  // The id of the user who was deleted is not given again, in either.
  for (const [url, place] of [
    [null, dataDir],
    [postgres.url, dataDir],
  ] as const) {
    const { db, close } = await openDatabase(url, place)
    const late = await insertUser(db, { email: 'late@x.org', slug: 'late', isAdmin: false, now: new Date() })
    assert.equal(late.id, 5)
    // The audit log is append-only in the copy, too.
    await close()
  }
})

// The target was migrated in place, without a copy, before "nothing was copied" was said.
test('a copy onto a store of an older version in use leaves it as that version needs it', async (t) => {
  const { folder, postgres } = await begin(t)
  const [source, target] = [path.join(folder, 'source'), path.join(folder, 'target')]
  await fillSmallStore(null, source, 'berth-ghkmn')
  const older = '017-parameters'
  const last = sql<{ name: string }>`select max(name) as name from kysely_migration`
  for (const [url, from] of [
    [postgres.url, { folder: source }],
    [null, { url: postgres.url }],
  ] as const) {
    const { db, close } = await openDatabase(url, target, { until: older })
    await sql`insert into users (email, slug, state, is_admin, created_at) values ('old@x.org', 'old', 'verified', 1, 0)`.execute(
      db,
    )
    const to = url === null ? { folder: target } : { url }
    await assert.rejects(copyStore(from, to), {
      name: 'StoreCopyProblem',
      message: /is not empty; nothing was copied$/,
    })
    assert.equal((await last.execute(db)).rows[0]?.name, older)
    await close()
  }
})

test(
  'a copy of a PostgreSQL store in use is one snapshot, and a copy onto it with rows keeps those in a schema',
  onlyLong,
  async (t) => {
    const { folder, postgres } = await begin(t)
    await fillSmallStore(postgres.url, folder, 'berth-ghkmn')
    const { db, close } = await openDatabase(postgres.url, folder)
    const end = new AbortController()
    let number = 0
    const writing = (async () => {
      for (; !end.signal.aborted; number++)
        await db.transaction().execute(async (tx) => {
          await insertUser(tx, { email: `late${number}@x.org`, slug: `late${number}`, isAdmin: false, now: new Date() })
          await tx
            .insertInto('used_slugs')
            .values({ slug: `late-${number}` })
            .execute()
        })
    })()
    const copy = path.join(folder, 'copy')
    mkdirSync(copy)
    const summary = await copyStore({ url: postgres.url }, { folder: copy })
    end.abort()
    await writing
    // Both rows of a transaction or none: one slug for each user, and that of the deleted one.
    assert.equal(summary.used_slugs?.rows, (summary.users?.rows ?? 0) + 1)
    assert.deepEqual(await summarizeStore({ folder: copy }), summary)

    await copyStore({ folder: copy }, { url: postgres.url }, { moveAside: 'before_restore_x' })
    assert.deepEqual(await summarizeStore({ url: postgres.url }), summary)
    const old = await db
      .withSchema('before_restore_x')
      .selectFrom('users')
      .select(({ fn }) => fn.countAll().as('n'))
      .execute()
    assert.equal(Number(old[0]?.n), 3 + number)
    await close()
    // Migrations do not take the tables aside for those in use.
    assert.equal((await addressesIn(postgres.url, folder)).length, summary.users?.rows)
  },
)

test(
  'a copy onto a PostgreSQL store that has given ids in a table the source never used takes these ids back',
  onlyLong,
  async (t) => {
    // A restore with --force of a backup from before the first API token ended with "the copy differs from the store in:
    // api_tokens", at each attempt, and Berth did not start any more: the next id of the target stayed as it was.
    const { folder, postgres } = await begin(t)
    const source = path.join(folder, 'source')
    await fillSmallStore(null, source, 'berth-ghkmn')
    await fillSmallStore(postgres.url, folder, 'berth-ghkmn')
    const { db, close } = await openDatabase(postgres.url, folder)
    await sql`select nextval(pg_get_serial_sequence('api_tokens', 'id'))`.execute(db)
    await close()
    const summary = await copyStore({ folder: source }, { url: postgres.url }, { moveAside: 'before_restore_x' })
    assert.equal(summary.api_tokens?.lastId, 0)
    assert.deepEqual(await summarizeStore({ url: postgres.url }), summary)
  },
)
