import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { auditHead, insertAuditEntries, listAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { verifyAuditLog } from '#/store/verify-audit-log.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'
import { firstOfList } from '#test/support/extent.ts'

/** The chain itself, and what an attacker with full access to the store can do to it. */

const entry = (n: number): AuditEntry => ({
  at: new Date(1_700_000_000_000 + n),
  actor: { id: n % 3, email: `admin${n % 3}@x.org`, address: '192.0.2.1' },
  action: n % 2 === 0 ? 'user.block' : 'container.block',
  target: `user:${n}`,
  reason: 'because "they" wanted it \n\u2028 \ud800',
  before: { is_blocked: false },
  after: { is_blocked: true },
  detail: { n },
})

for (const [index, dialect] of ['SQLite', 'PostgreSQL'].entries()) {
  describe(dialect, firstOfList(index), () => {
    let database: Database
    let folder: string
    const open = () => openDatabase(postgres?.url ?? null, folder)
    let postgres: Postgres | undefined
    before(async () => {
      if (dialect === 'PostgreSQL') postgres = await startPostgres()
      folder = await mkdtemp(path.join(tmpdir(), 'berth-audit-'))
      database = await open()
    })
    after(async () => {
      await database.close()
      await postgres?.stop()
      await rm(folder, { recursive: true, force: true })
    })
    beforeEach(async () => {
      await forge(
        'delete from audit_log',
        'delete from audit_personal_facts',
        "delete from installation where name = 'audit head'",
      )
    })

    const write = (...ns: number[]) => database.transaction((tx) => insertAuditEntries(tx, ns.map(entry)))
    const run = (statement: string) => sql.raw(statement).execute(database.db)
    const triggers =
      dialect === 'SQLite'
        ? "select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'audit_log'"
        : `select tgname as name, pg_get_triggerdef(oid) as sql from pg_trigger
           where tgrelid = 'audit_log'::regclass and not tgisinternal`
    async function dropTriggers(): Promise<string[]> {
      const { rows } = await sql.raw<{ name: string; sql: string }>(triggers).execute(database.db)
      assert.ok(rows.length > 0)
      for (const { name } of rows) await run(`drop trigger ${name}${dialect === 'SQLite' ? '' : ' on audit_log'}`)
      return rows.map((row) => row.sql)
    }
    /** As the owner of the store can: without the triggers, which are made again afterwards. */
    async function forge(...statements: string[]): Promise<void> {
      const dropped = await dropTriggers()
      for (const statement of [...statements, ...dropped]) await run(statement)
    }
    /** The same in the store of an older Berth, which is brought up to date afterwards. */
    async function forgeInOlder(...statements: string[]): Promise<void> {
      await dropTriggers()
      for (const statement of [...statements, "delete from kysely_migration where name >= '005'"]) await run(statement)
      await (await open()).close()
    }
    const firstBroken = async () => (await verifyAuditLog(database.db)).firstBroken

    test('an empty log is whole, and so is one with entries of several transactions', async () => {
      assert.deepEqual(await verifyAuditLog(database.db), { ...(await auditHead(database.db)), firstBroken: null })
      await write(1, 2, 3)
      await write(4)
      const verdict = await verifyAuditLog(database.db)
      assert.deepEqual(verdict, { ...(await auditHead(database.db)), firstBroken: null })
      assert.equal(verdict.entries, 4)
      assert.match(verdict.hash, /^[0-9a-f]{64}$/)
    })

    test('what was written comes back, the newest first, with reason, before, after and address in its detail', async () => {
      await write(1, 2)
      const [second, first] = (await listAuditEntries(database.db, { limit: 10 })).entries
      assert.deepEqual([first?.id, second?.id], [1, 2])
      const { at, actor, action, target, reason, before: earlier, after: later } = entry(2)
      const detail = { n: 2, reason, before: earlier, after: later, address: '192.0.2.1' }
      assert.deepEqual(second, { id: 2, at, actor: { id: actor.id, email: actor.email }, action, target, detail })
    })

    test('a time has its entries, the newest first, page by page, also when a clock was set back, and of very many', async () => {
      const since = async (from: number | undefined, to: number | undefined, page = { limit: 100 }) => {
        const time = {
          ...(from === undefined ? {} : { since: entry(from).at }),
          ...(to === undefined ? {} : { until: entry(to).at }),
        }
        return (await listAuditEntries(database.db, page, time)).entries.map(({ id }) => id)
      }
      await write(10, 20, 30, 15, 25, 40)
      assert.deepEqual(await since(15, 30), [5, 4, 2])
      assert.deepEqual(await since(undefined, 15), [1])
      assert.deepEqual(await since(30, undefined), [6, 3])
      assert.deepEqual(await since(41, undefined), [])
      assert.deepEqual(await since(15, 30, { limit: 2 }), [5, 4])
      assert.deepEqual(await since(15, 30, { limit: 2, before: 4 } as { limit: number }), [2])
      await run(`
        insert into audit_log (at, actor_email, action, target, detail, position, hash)
        with recursive many(n) as (select 7 union all select n + 1 from many where n < 12000)
        select ${entry(100).at.getTime()} + n, 'a', 'user.block', 'user:1', '{}', n, '' from many`)
      assert.deepEqual(await since(15, 30), [5, 4, 2])
      assert.deepEqual(await since(20, undefined, { limit: 3 }), [12_000, 11_999, 11_998])
      assert.deepEqual(await since(20, 100 + 9, { limit: 4 }), [8, 7, 6, 5])
      assert.deepEqual(await since(100 + 7, 100 + 11_991, { limit: 2 }), [11_990, 11_989])
    })

    test('no line can be changed or deleted, nor with PostgreSQL all of them at once', async () => {
      await write(1, 2)
      const changes = ["update audit_log set action = 'x' where id > 0", 'delete from audit_log']
      for (const change of dialect === 'SQLite' ? changes : [...changes, 'truncate audit_log'])
        await assert.rejects(run(change), /append-only/)
      assert.equal((await verifyAuditLog(database.db)).entries, 2)
    })

    test('of many who write at once each has the line before its own; what fails leaves no gap', async () => {
      const failing = () =>
        database.transaction(async (tx) => {
          await insertAuditEntries(tx, [entry(0)])
          throw new Error('cut off')
        })
      const work = Array.from({ length: 24 }, (_, n) => (n % 4 === 0 ? failing() : write(n, n + 100)))
      const outcomes = await Promise.allSettled(work)
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 18)
      assert.deepEqual(await verifyAuditLog(database.db), { ...(await auditHead(database.db)), firstBroken: null })
      assert.equal((await auditHead(database.db)).entries, 36)
    })

    const columns = { at: '1', actor_id: '99', actor_email: "'x@x.org'", action: "'x'", target: "'x'", detail: "'{}'" }
    for (const [column, value] of Object.entries({ ...columns, hash: "'x'" }))
      test(`a changed ${column} is found`, async () => {
        await write(1, 2, 3)
        await forge(`update audit_log set ${column} = ${value} where position = 2`)
        assert.deepEqual(await firstBroken(), { id: 2, what: 'changed' })
      })

    test('a missing line is found: the first, one in the middle, the last, and all', async () => {
      for (const missing of ['= 1', '= 2', '= 3', '> 0']) {
        await write(1, 2, 3)
        await forge(`delete from audit_log where position ${missing}`)
        const id = missing === '> 0' ? 1 : Number(missing.slice(2))
        assert.deepEqual(await firstBroken(), { id, what: 'missing' }, missing)
        await forge('delete from audit_log', "delete from installation where name = 'audit head'")
      }
    })

    test('an inserted line is found: at the end, with the right hash, and as the second of its place', async () => {
      const copy = (position: string) =>
        `insert into audit_log (at, actor_id, actor_email, action, target, detail, position, hash)
         select at, actor_id, actor_email, action, target, detail, ${position}, hash from audit_log where position = 1`
      await write(1, 2, 3)
      await forge(copy('2'))
      assert.deepEqual(await firstBroken(), { id: 2, what: 'inserted' })
      await forge('delete from audit_log', "delete from installation where name = 'audit head'")
      // Written by Berth's own means, and the head set back as if it had not been.
      await write(1, 2)
      const { rows } = await sql<{ value: string }>`select value from installation where name = 'audit head'`.execute(
        database.db,
      )
      await write(3)
      await forge(`update installation set value = '${rows[0]?.value}' where name = 'audit head'`)
      assert.deepEqual(await firstBroken(), { id: 3, what: 'inserted' })
    })

    test('lines that were spoilt by hand do not keep the others from being read', async () => {
      await write(1, 2, 3)
      const foreign = `insert into audit_log (at, actor_id, actor_email, action, target, detail)
        select at, actor_id, actor_email, action, target, detail from audit_log where position = 1`
      await forgeInOlder("update audit_log set detail = 'x' where position = 2", foreign)
      const { entries: listed } = await listAuditEntries(database.db, { limit: 10 })
      assert.deepEqual(
        listed.map(({ id }) => id),
        [3, 2, 1],
      )
      assert.deepEqual(listed[1]?.detail, { unreadable: 'x' })
    })

    test('a log whose head is lost is not whole, and goes on being written', async () => {
      await write(1)
      await run("delete from installation where name = 'audit head'")
      assert.deepEqual(await firstBroken(), { id: 1, what: 'inserted' })
      await write(2)
      assert.equal((await listAuditEntries(database.db, { limit: 10 })).entries.length, 2)
    })

    test('a log that was rewritten with all its hashes is detected by a head kept elsewhere, and only by it', async () => {
      await write(1, 2)
      const kept = await auditHead(database.db)
      await write(3)
      assert.equal((await verifyAuditLog(database.db, { kept })).firstBroken, null)
      await forge('delete from audit_log', "delete from installation where name = 'audit head'")
      await write(7, 2, 3)
      assert.equal(await firstBroken(), null)
      assert.deepEqual((await verifyAuditLog(database.db, { kept })).firstBroken, { id: 2, what: 'changed' })
      await forge('delete from audit_log', "delete from installation where name = 'audit head'")
      await write(1)
      assert.deepEqual((await verifyAuditLog(database.db, { kept })).firstBroken, { id: 2, what: 'missing' })
    })

    test('a long log is verified page by page, with word of how far it is, until it is given up', async () => {
      for (let page = 0; page < 3; page++) await write(...Array.from({ length: 400 }, (_, n) => n))
      const seen: number[] = []
      const verdict = await verifyAuditLog(database.db, { onProgress: (entries) => void seen.push(entries) })
      assert.deepEqual([verdict.entries, verdict.firstBroken], [1200, null])
      assert.deepEqual(seen, [500, 1000, 1200, 1200])
      const giveUp = new AbortController()
      const givenUp = verifyAuditLog(database.db, { signal: giveUp.signal, onProgress: () => giveUp.abort() })
      await assert.rejects(givenUp, { name: 'AbortError' })
    })

    test('entries that are added while it is verified are no fault', async () => {
      await write(...Array.from({ length: 600 }, (_, n) => n))
      let more = 0
      const added: Promise<void>[] = []
      const onProgress = () => void (more < 5 && added.push(write(1000 + more++)))
      assert.equal((await verifyAuditLog(database.db, { onProgress })).firstBroken, null)
      await Promise.all(added)
      assert.equal((await verifyAuditLog(database.db)).entries, 600 + more)
    })

    test('entries of an older Berth are chained when its store is brought up to date, also when that is cut off', async () => {
      const value = (n: number) => `(${n}, ${n}, 'boss@x.org', 'user.block', 'user:${n}', '{}')`
      const numbers = Array.from({ length: 1500 }, (_, n) => n + 1)
      const old = `insert into audit_log (at, actor_id, actor_email, action, target, detail) values ${numbers.map(value).join()}`
      await forgeInOlder(old, "delete from installation where name = 'audit head'")
      assert.deepEqual(await verifyAuditLog(database.db), { ...(await auditHead(database.db)), firstBroken: null })
      // As if the process had ended before the head was written.
      const cutOff = 'update audit_log set hash = null, position = null where position > 1000'
      await forgeInOlder(cutOff, "delete from installation where name = 'audit head'")
      const verdict = await verifyAuditLog(database.db)
      assert.deepEqual([verdict.entries, verdict.firstBroken], [1500, null])
      await assert.rejects(run('delete from audit_log'), /append-only/)
    })
  })
}
