// Part of npm run test:more: PgBouncer of Debian; postgres.test.ts states what holds without a pooler.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { checkStore } from '#/store/check-store.ts'
import { openDatabase } from '#/store/database.ts'
import { holdNodeLock, UnfitPooler } from '#/store/database-lock.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { runProgram } from '../support/program.ts'
import { startPgBouncer, withPgBouncer, type PoolerSettings } from '../support/store/pgbouncer.ts'
import { startPostgres } from '../support/store/postgres.ts'

/** Berth behind the pooler that most installations of PostgreSQL have. */

const postgres = await startPostgres()
after(() => postgres.stop())

async function poolerWith(t: TestContext, settings: PoolerSettings) {
  const pooler = await startPgBouncer(postgres, settings)
  t.after(() => pooler.stop())
  return pooler
}

async function storeBehind(t: TestContext, url: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-pooled-'))
  const database = await openDatabase(url, folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  return database
}

// PgBouncer refuses parameters of the start message that it does not know, and drops them where it is told to.
for (const settings of [{}, { ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout' }])
  test(
    `a pooler that keeps sessions keeps the limits of the store, ${JSON.stringify(settings)}`,
    withPgBouncer,
    async (t) => {
      const pooler = await poolerWith(t, { pool_mode: 'session', ...settings })
      const { db } = await storeBehind(t, pooler.url)
      const { rows } = await sql<{ name: string; setting: string }>`
      select name, setting from pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name desc`.execute(db)
      assert.deepEqual(
        rows.map(({ setting }) => Number(setting)),
        [4_000, 30_000],
      )
      await assert.rejects(sql`select pg_sleep(6)`.execute(db), (error) => {
        assert.ok(error instanceof StoreFailure)
        return /statement timeout/.test(error.message)
      })
      const onTaken = () => assert.fail('it was free')
      const lock = await holdNodeLock(pooler.url, 'alone', { onTaken })
      await lock.release()
    },
  )

for (const pool_mode of ['transaction', 'statement'])
  test(`a Berth behind pool_mode = ${pool_mode} does not start, and says what to set`, withPgBouncer, async (t) => {
    const pooler = await poolerWith(t, { pool_mode })
    const folder = mkdtempSync(path.join(tmpdir(), 'berth-pooled-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const berth = runProgram(t, { DATABASE_URL: pooler.url }, folder)
    assert.equal(await berth.ended(), 1)
    assert.match(berth.output(), /pool_mode = session/)
    const direct = new Client({ connectionString: postgres.url })
    await direct.connect()
    t.after(() => direct.end())
    // A lock that stayed with a connection of the pooler kept the next Berth from starting.
    const { rows } = await direct.query(`select 1 from pg_locks where locktype = 'advisory'`)
    assert.equal(rows.length, 0)
  })

test('a pool that goes round its connections, and one that is busy, are recognized, too', withPgBouncer, async (t) => {
  const pooler = await poolerWith(t, { pool_mode: 'transaction', server_round_robin: 1, min_pool_size: 3 })
  const others = Array.from({ length: 4 }, () => new Client({ connectionString: pooler.url }))
  const end = new AbortController()
  const work = others.map(async (other) => {
    await other.connect()
    while (!end.signal.aborted) await other.query('select pg_sleep(0.005)')
    await other.end()
  })
  const onTaken = () => undefined
  for (let each = 0; each < 10; each++)
    await assert.rejects(holdNodeLock(pooler.url, 'alone', { onTaken, timeout: 500 }), UnfitPooler)
  end.abort()
  await Promise.all(work)
})

test('a lock whose pooler stops keeping sessions is told', withPgBouncer, async (t) => {
  const pooler = await poolerWith(t, { pool_mode: 'session', default_pool_size: 20 })
  const { promise: taken, resolve: onTaken } = Promise.withResolvers<Error>()
  const lock = await holdNodeLock(pooler.url, 'alone', { onTaken })
  t.after(() => lock.release())
  await pooler.set('pool_mode', 'transaction')
  const direct = new Client({ connectionString: postgres.url })
  await direct.connect()
  await direct.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted`)
  await direct.end()
  assert.ok((await taken) instanceof UnfitPooler)
})

test(
  'a Berth that gets fewer connections than it may need starts, and says which number is too small',
  withPgBouncer,
  async (t) => {
    const pooler = await startPgBouncer(postgres, { pool_mode: 'session', default_pool_size: 5 })
    const berth = runProgram(t, { DATABASE_URL: pooler.url })
    // After the program, which cleans its database up.
    t.after(() => pooler.stop())
    await berth.said(/gives 5 connections of the 11 that this Berth may need/)
    await berth.said(/Berth is ready/)
    const enough = await poolerWith(t, { pool_mode: 'session', default_pool_size: 11 })
    const scarce: string[] = []
    berth.process.kill('SIGTERM')
    await berth.ended()
    const onScarce = (reason: string) => void scarce.push(reason)
    const lock = await holdNodeLock(enough.url, 'alone', { onTaken: () => undefined, onScarce })
    await lock.release()
    assert.deepEqual(scarce, [])
  },
)

/** A certificate for 127.0.0.1 that it issued itself. */
function ownCertificate(t: TestContext): { key: string; cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-certificate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=database', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  // The pooler has another account.
  for (const [file, mode] of [
    [folder, 0o755],
    [key, 0o644],
  ] as const)
    chmodSync(file, mode)
  return { key, cert }
}

test(
  'sslmode says whether connections are encrypted, and sslrootcert whose certificate counts',
  withPgBouncer,
  async (t) => {
    const { key, cert } = ownCertificate(t)
    const tls = { client_tls_sslmode: 'require', client_tls_key_file: key, client_tls_cert_file: cert }
    const pooler = await poolerWith(t, { pool_mode: 'session', ...tls })
    const reached = (query: string) => checkStore(pooler.url + query, '')
    await assert.rejects(reached(''), /SSL required/)
    await assert.rejects(reached('?sslmode=verify-full'), /self-signed certificate/)
    assert.match(await reached(`?sslmode=verify-full&sslrootcert=${cert}`), /answers/)
    assert.match(await reached('?sslmode=no-verify'), /answers/)
    const otherName = pooler.url.replace('127.0.0.1', 'localhost')
    await assert.rejects(checkStore(`${otherName}?sslmode=verify-full&sslrootcert=${cert}`, ''), /altnames/)
  },
)
