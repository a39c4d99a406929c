import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, suite, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { openParts } from '#/start/adapters.ts'
import { readConfig } from '#/config/config.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import {
  copyBeforeMigration,
  copyPostgresBeforeMigration,
  forgetMigration,
} from '#/store/open/copy-before-migration.ts'
import { noEngine, runCommand } from '#test/support/command-line.ts'
import { dialects, useStore } from '#test/support/store/both-databases.ts'
import { startPostgres, type Postgres } from '#test/support/store/postgres.ts'

/** Last migration of an older version. */
const older = '012-clock-moves'

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-upgrade-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const copiesIn = (dataDir: string) =>
  readdirSync(path.join(dataDir, 'before-migration'))
    .filter((name) => name.endsWith('.sqlite'))
    .sort()

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
  assert.equal(copied?.place, path.join(dataDir, 'before-migration/20261123T013000Z-012-clock-moves.sqlite'))
  assert.ok(copied?.pending.includes('013-lasting-sessions'))
  assert.equal(statSync(copied.place).mode & 0o777, 0o600)
  await (await openDatabase(null, dataDir)).close()

  const before = folder(t)
  renameSync(copied.place, path.join(before, 'berth.sqlite'))
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
  for (const day of [1, 2, 3, 4]) {
    await copyBeforeMigration(dataDir, new Date(Date.UTC(2026, 10, day)))
    // The older version was put back.
    forgetMigration(dataDir)
  }
  const days = copiesIn(dataDir).map((name) => name.slice(0, 8))
  assert.deepEqual(days, ['20261102', '20261103', '20261104'])
  await (await openDatabase(null, dataDir)).close()
  assert.equal(await copyBeforeMigration(dataDir, new Date()), undefined)
})

// The copy had the name that sorts first, so that it was removed at once, and the start went on to migrate the only store.
test('the copy that was just made stays, although others are of a clock that was set back since', async (t) => {
  const dataDir = folder(t)
  await olderStore(dataDir)
  const copies = path.join(dataDir, 'before-migration')
  mkdirSync(copies)
  for (const year of [2031, 2032, 2033])
    writeFileSync(path.join(copies, `${year}0101T000000Z-012-clock-moves.sqlite`), '')
  const copied = await copyBeforeMigration(dataDir, new Date('2026-11-23T01:30:00Z'))
  assert.ok(existsSync(copied?.place ?? ''))
  assert.deepEqual(
    copiesIn(dataDir).map((name) => name.slice(0, 4)),
    ['2026', '2032', '2033'],
  )
})

// The log that names the copy is silent in a command, and "Read-only" stands in the help of this one.
test('a command without a service names the copy of the store that it migrates on standard error', async (t) => {
  const dataDir = folder(t)
  await olderStore(dataDir)
  const settings = { ...noEngine, DATA_DIR: dataDir }
  const first = await runCommand(settings, 'users', 'list')
  assert.equal(first.code, 0, first.stderr)
  const [copy = ''] = copiesIn(dataDir)
  assert.match(first.stderr, /^the store is changed for this version \(.*an older version needs the copy, /)
  assert.ok(first.stderr.includes(path.join(dataDir, 'before-migration', copy)))
  assert.equal((await runCommand(settings, 'users', 'list')).stderr, '')
})

// Each start copied the store anew, half migrated as it was by then, and the third of those took the place of the only good copy.
test('a migration that fails at each start leaves the copy from before it, until one start opens the store', async (t) => {
  const dataDir = folder(t)
  await olderStore(dataDir)
  const file = path.join(dataDir, 'berth.sqlite')
  const change = (...statements: string[]) => {
    const database = new DatabaseSync(file)
    for (const each of statements) database.exec(each)
    database.close()
  }
  // 013 is done, and 014 finds a table that it did not make.
  change('create table api_tokens (unknown text)')
  const { config } = readConfig({ DATA_DIR: dataDir, DOCKER_HOST: 'unix:///nowhere/docker.sock' }, () => '')
  assert.ok(config)
  const start = () => openParts(config, pino({ level: 'silent' }))
  for (let count = 0; count < 5; count++) await assert.rejects(start(), /migrate the store/)
  const [copy = '', ...others] = copiesIn(dataDir)
  assert.match(copy, /-012-clock-moves\.sqlite$/)
  assert.deepEqual(others, [])
  const again = await copyBeforeMigration(dataDir, new Date())
  assert.equal(again?.place, path.join(dataDir, 'before-migration', copy))
  assert.ok(!again.pending.includes('013-lasting-sessions'))

  change('drop table api_tokens')
  const { database } = await start()
  await database.close()
  assert.deepEqual(readdirSync(path.join(dataDir, 'before-migration')), [copy])

  // Who goes back and upgrades again has another store, and another copy of it.
  const goBack = () => {
    renameSync(file, path.join(dataDir, `newer-${randomUUID()}.sqlite`))
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    copyFileSync(path.join(dataDir, 'before-migration', copy), file)
  }
  goBack()
  await assert.rejects(start(), /migrate the store/)
  goBack()
  const later = await copyBeforeMigration(dataDir, new Date('2027-01-01T00:00:00Z'))
  assert.match(later?.place ?? '', /20270101T000000Z-012-clock-moves\.sqlite$/)
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

suite('a PostgreSQL store', () => {
  let postgres: Postgres
  before(async () => void (postgres = await startPostgres()))
  after(() => postgres.stop())

  const now = new Date('2026-11-23T01:30:00Z')
  const copyName = 'public_before_20261123t013000z'
  const asked = async <T>(...statements: string[]): Promise<T[]> => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    try {
      let rows: unknown[] = []
      for (const each of statements) ({ rows } = await client.query(each))
      return rows as T[]
    } finally {
      await client.end()
    }
  }
  const indexes = (schema: string) =>
    asked(
      `select tablename, replace(indexdef, '${schema}.', '') as text from pg_indexes where schemaname = '${schema}' order by 1, 2`,
    )
  const renameSchemas = (one: string, other: string, from: string, to: string) =>
    asked(`alter schema ${one} rename to ${other}`, `alter schema ${from} rename to ${to}`)

  test('is copied before it is migrated, and the older version goes on with the copy', async () => {
    await (await openDatabase(postgres.url, '', { until: older })).close()
    await asked(`insert into users (email, slug, state, is_admin, created_at)
      values ('gone@x.org', 'gone', 'active', 1, 0), ('ann@x.org', 'ann', 'active', 1, 0)`)
    await asked(`insert into user_containers (user_id, container_type, template_image, created_at, blocked_by)
      values (2, 'dev', 'x', 0, 1)`)
    await asked(`delete from users where id = 1`)
    const before = await indexes('public')
    const copied = await copyPostgresBeforeMigration(postgres.url, now)
    assert.equal(copied?.place, `the schema ${copyName}`)
    assert.ok(copied.pending.includes('013-lasting-sessions'))
    await (await openDatabase(postgres.url, '')).close()
    assert.deepEqual(await indexes(copyName), before)
    await renameSchemas('public', 'newer', copyName, 'public')
    assert.deepEqual(await asked('select id, email from users'), [{ id: '2', email: 'ann@x.org' }])
    assert.deepEqual(await asked('select id, user_id from user_containers'), [{ id: '1', user_id: '2' }])
    // Ids are not given again, rows that belong together go together, and the audit log cannot be changed.
    const added = `insert into users (email, slug, state, is_admin, created_at) values ('zoe@x.org', 'zoe', 'active', 1, 0)`
    assert.deepEqual(await asked(`${added} returning id`), [{ id: '3' }])
    await asked('delete from users where id = 2')
    assert.deepEqual(await asked('select id from user_containers'), [])
    await assert.rejects(asked('truncate audit_log'), /append/i)
    await renameSchemas('public', copyName, 'newer', 'public')
  })

  test('that is up to date is not copied, and of copies the last one stays', async () => {
    await (await openDatabase(postgres.url, '')).close()
    assert.equal(await copyPostgresBeforeMigration(postgres.url, now), undefined)
    await renameSchemas('public', 'newer', copyName, 'public')
    await copyPostgresBeforeMigration(postgres.url, new Date('2026-11-24T01:30:00Z'))
    await copyPostgresBeforeMigration(postgres.url, new Date('2026-11-25T01:30:00Z'))
    const names = await asked<{ name: string }>(`select nspname as name from pg_namespace where nspname like 'public%'`)
    assert.deepEqual(names.map(({ name }) => name).sort(), ['public', 'public_before_20261125t013000z'])
  })

  // The advice on rights and room of a copy was given for a wrong password, too.
  test('that cannot be reached is reported as such, and not as one that cannot be copied', async () => {
    const url = new URL(postgres.url)
    url.port = '1'
    await assert.rejects(copyPostgresBeforeMigration(url.href, now), ({ name, message }: Error) => {
      assert.equal(name, 'StoreFailure')
      assert.doesNotMatch(message, /copied|GRANT/)
      return true
    })
  })

  test('that cannot be copied stays as it was, and the start fails in words', async () => {
    await asked(`create role guest login password 'guest'; grant usage on schema public to guest;
      grant select on all tables in schema public to guest`)
    const url = new URL(postgres.url)
    url.username = 'guest'
    url.password = 'guest'
    await assert.rejects(
      copyPostgresBeforeMigration(url.href, now),
      /the store was not changed.*GRANT CREATE ON DATABASE/,
    )
  })
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
