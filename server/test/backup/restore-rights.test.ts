import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import type { Manifest } from '@berth/cli/backup/backup-format.ts'
import { installStore, requireNoStore } from '@berth/cli/backup/restore-store.ts'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { openDatabase } from '#/store/database.ts'
import { noEngine, resultOf, runCommand, signedBy, startCommand } from '#test/support/command-line.ts'
import { extent } from '#test/support/extent.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

/** What a restore does that PostgreSQL, or the store in it, does not let through. */

const manifest = { createdAt: '2026-11-27T02:00:00Z' } as Manifest

const users = ['boss@x.org', 'ann@x.org', 'zoë@x.org']

const postgres = await startPostgres()
after(() => postgres.stop())
let databases = 0

/** An empty data folder and PostgreSQL database, and a store in a folder as it is unpacked from a backup. */
async function begin(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-rights-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [dataDir, staged] = [path.join(folder, 'data'), path.join(folder, 'staged')]
  mkdirSync(dataDir)
  await fillSmallStore(null, staged, 'berth-ghkmn')
  const name = `rights_${++databases}`
  await queryAt(postgres.url, `create database ${name}`)
  const url = Object.assign(new URL(postgres.url), { pathname: name }).href
  const query = (text: string) => queryAt(url, text)
  return { folder, dataDir, staged, url, query }
}

async function queryAt(url: string, text: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client.query<Record<string, unknown>>(text).finally(() => client.end())
}

// The restore moved the keys aside, failed at the schema with the words "this is a bug", and Berth did not start any more.
test('a restore with --force says before it changes anything that the store cannot be moved aside', async (t) => {
  const { dataDir, url, query } = await begin(t)
  await query('create role tenant login; grant all on schema public to tenant')
  const databaseUrl = url.replace('//berth@', '//tenant@')
  await assert.rejects(requireNoStore({ databaseUrl, dataDir, force: true }, manifest), /GRANT CREATE ON DATABASE/)
  await requireNoStore({ databaseUrl: url, dataDir, force: true }, manifest)
  assert.deepEqual(readdirSync(dataDir), [])
})

// It moved the keys aside and failed at the migrations, again at each attempt; the newer version refused to start for the mark of it.
test('a restore over a PostgreSQL store of a newer version is refused in words, until that has another name', async (t) => {
  const { folder, dataDir, url, query } = await begin(t)
  await fillSmallStore(url, dataDir, 'berth-ghkmn')
  await query(`insert into kysely_migration (name, timestamp) values ('999-future', 'x')`)
  const destination = { databaseUrl: url, dataDir }
  const words = /^a newer version of Berth changed the store.*nothing was changed.*give its schema another name/
  for (const force of [true, false])
    await assert.rejects(requireNoStore({ ...destination, force }, manifest), { name: 'BackupProblem', message: words })
  assert.deepEqual(readdirSync(dataDir), ['signing-key.json'])

  const settings = { ...noEngine, DATA_DIR: dataDir, DATABASE_URL: url }
  const backup = await runCommand(settings, 'backup', path.join(folder, 'backups'), '--no-homes')
  assert.match(backup.stderr, /^berth: a newer version of Berth changed the store \(999-future/)

  // As the page says. Tables of another schema were taken for the store, and the restore failed at their absence.
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/how-to/back-up-and-restore.md'), 'utf8')
  await query(/^BEGIN;\n[^`]*^COMMIT;$/m.exec(page)?.[0] ?? '')
  await requireNoStore({ ...destination, force: false }, manifest)
})

/** Lets PostgreSQL refuse each transaction that has written to a table that copies fill, at its commit. */
const refuseCommits = `
  create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not today'; end $$;
  create constraint trigger refuse after insert on installation deferrable initially deferred
    for each row execute function refuse()`

// A full disk of the database, among others, left the keys aside and Berth refusing to start, although its store was as before.
test('a restore that PostgreSQL refuses leaves the store, the keys and the start as they were', async (t) => {
  const { dataDir, staged, url, query } = await begin(t)
  await fillSmallStore(url, dataDir, 'berth-pqrst')
  const { kid } = await loadSigningKeys(dataDir)
  const restore = () => installStore({ folder: staged }, { databaseUrl: url, dataDir, force: true }, 'x')
  await query('create schema before_restore_x')
  await assert.rejects(restore(), /schema "before_restore_x" already exists/)
  assert.deepEqual(readdirSync(dataDir), ['signing-key.json'])
  assert.equal((await loadSigningKeys(dataDir)).kid, kid)
  const name = async () => (await query(`select value from installation where name = 'instance'`)).rows[0]?.value
  assert.equal(await name(), 'berth-pqrst')

  // The same at the end of the transaction, when the mark is there: a deferred constraint is checked at the commit.
  await query('drop schema before_restore_x')
  await query(refuseCommits)
  await assert.rejects(restore(), /not today/)
  assert.deepEqual([readdirSync(dataDir), await name()], [['signing-key.json'], 'berth-pqrst'])

  await query('drop trigger refuse on installation')
  assert.equal(await restore(), `${path.join(dataDir, 'before-restore-x')}, schema before_restore_x`)
  assert.equal(await name(), 'berth-ghkmn')
  assert.notEqual((await loadSigningKeys(dataDir)).kid, kid)
  assert.deepEqual(readdirSync(dataDir), ['before-restore-x', 'signing-key.json'])
})

// It was migrated in place, without the copy that its own version needs.
test('a restore over a PostgreSQL store of an older version keeps that as its version left it', async (t) => {
  const { dataDir, staged, url, query } = await begin(t)
  const older = '017-parameters'
  await (await openDatabase(url, '', { until: older })).close()
  await query(
    `insert into users (email, slug, state, is_admin, created_at) values ('old@x.org', 'old', 'verified', 1, 0)`,
  )
  const places = await installStore({ folder: staged }, { databaseUrl: url, dataDir, force: true }, 'x')
  const [, copy] = /^schema before_restore_x, the schema (public_before_\w+)$/.exec(places ?? '') ?? []
  const { rows } = await query(`select max(name) as last from ${copy}.kysely_migration`)
  assert.equal(rows[0]?.last, older)
  assert.equal((await query(`select email from ${copy}.users`)).rows[0]?.email, 'old@x.org')
  assert.deepEqual(await addressesIn(url, dataDir), users)
})

test('a restore to PostgreSQL that is killed is completed by a second one, and nothing starts in between', async (t) => {
  const { folder, dataDir, staged, url } = await begin(t)
  const made = await runCommand(
    { ...noEngine, DATA_DIR: staged },
    'backup',
    path.join(folder, 'backups'),
    '--no-homes',
    '--json',
  )
  const { backup } = JSON.parse(made.stdout) as { backup: string }
  const orders = path.join(folder, 'orders')
  const settings = { ...noEngine, DATA_DIR: dataDir, DATABASE_URL: url }
  const { kid } = await loadSigningKeys(staged)
  for (const point of ['restore.after-mark', 'restore.after-aside', 'restore.after-store'].slice(0, extent(1, 3))) {
    writeFileSync(orders, point)
    const killed = startCommand({ ...settings, BERTH_CRASH_ORDERS: orders }, [
      'restore',
      backup,
      '--force',
      '--no-homes',
      ...(await signedBy(staged)),
    ])
    await resultOf(killed)
    assert.equal(killed.signalCode, 'SIGKILL', point)
    assert.match((await runCommand(settings, 'users', 'list')).stderr, /a restore into .* was interrupted/)
    const second = await runCommand(settings, 'restore', backup, '--no-homes', ...(await signedBy(staged)))
    assert.equal(second.code, 0, second.stderr)
    assert.deepEqual(await addressesIn(url, dataDir), users)
    assert.equal((await loadSigningKeys(dataDir)).kid, kid)
  }
})
