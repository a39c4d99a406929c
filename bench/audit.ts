import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { headName, headToText } from '../server/src/store/audit-chain.ts'
import {
  auditHead,
  listAuditEntries,
  listAuditEntriesAfter,
  saveWebhookPosition,
  webhookPosition,
} from '../server/src/store/audit-log.ts'
import { deleteOldPersonalFacts } from '../server/src/store/personal-facts.ts'
import { openDatabase, type Database, type Db } from '../server/src/store/database.ts'
import { copyPostgresBeforeMigration } from '../server/src/store/open/copy-before-migration.ts'
import { startPostgres } from '../server/test/support/store/postgres.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { numberOption, textOption } from './options.ts'
import { numbersUpTo, withoutTimeouts } from './accounts-store.ts'

/**
 * The audit log with 1,000,000 entries of 90 days: what the webhook reads, pages with each filter, and the retention of personal
 * facts, on both databases; and the copy of PostgreSQL before a migration. `npm run bench:audit`, `-- --entries=100000`,
 * `-- --only=SQLite`.
 */
const entries = numberOption('entries', 1_000_000)
const rounds = 20
const period = 90 * 86_400_000

for (const kind of ['SQLite', 'PostgreSQL'].filter((name) => name.includes(textOption('only') ?? '')))
  await measure(kind)

async function measure(kind: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-audit-'))
  const postgres = kind === 'SQLite' ? undefined : await startPostgres()
  const url = postgres?.url ?? null
  try {
    const database = await openDatabase(url, folder)
    await fill(database, url)
    report(`${kind}, ${entries} entries, median of ${rounds}`, await figuresOf(database))
    if (url !== null) report('PostgreSQL, plan of the webhook', { '': await planOfWebhook(database.db) })
    await database.close()
    if (url !== null) report('PostgreSQL', { 'copy before a migration': await timeOfCopy(url) })
  } finally {
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In the order in which they were written; half of them by one administrator, one in 100,000 of a rare action. */
async function fill(database: Database, url: string | null): Promise<void> {
  const db = url === null ? database.db : await withoutTimeouts(url)
  const start = Date.now() - period
  const at = `${start} + n * ${Math.floor(period / entries)}`
  const numbers = numbersUpTo(entries, url !== null)
  const statements = [
    `${numbers} insert into audit_log (at, actor_id, actor_email, action, target, detail, position, hash)
      select ${at}, 1 + n % 2, 'admin' || (n % 2) || '@x.org',
        case when n % 100000 = 0 then 'keys.rotate' when n % 3 = 0 then 'container.block' else 'user.block' end,
        'container:' || (n % 50000), '{"reason":"bench of the log"}', n, 'hash' || n from numbers`,
    `${numbers} insert into audit_personal_facts (position, at, salt, facts)
      select n, ${at}, 'salt' || n, '{"address":"192.0.2.1"}' from numbers`,
  ]
  for (const each of statements) await sql.raw(each).execute(db)
  const value = headToText({ entries, hash: `hash${entries}` })
  await db.updateTable('installation').set({ value }).where('name', '=', headName).execute()
  await saveWebhookPosition(db, entries - 1)
  if (url === null) return
  await sql`analyze`.execute(db)
  await db.destroy()
}

async function figuresOf({ db }: Database): Promise<Record<string, string>> {
  const hour = { since: new Date(Date.now() - period / 2), until: new Date(Date.now() - period / 2 + 3_600_000) }
  const works: Record<string, () => Promise<unknown>> = {
    'webhook: position': () => webhookPosition(db),
    'webhook: what waits (head)': () => auditHead(db),
    'webhook: the last entry': () => listAuditEntriesAfter(db, entries - 1, 100),
    'webhook: 100 entries, half of the log waits': () => listAuditEntriesAfter(db, entries / 2, 100),
    'webhook: 100 entries, all of the log waits': () => listAuditEntriesAfter(db, 0, 100),
    'webhook: position is saved': () => saveWebhookPosition(db, entries - 1),
    'page: newest 101': () => listAuditEntries(db, { limit: 101 }),
    'page: in the middle': () => listAuditEntries(db, { limit: 101, before: entries / 2 }),
    'page: by an administrator': () => listAuditEntries(db, { limit: 101 }, { actorEmail: 'admin1@x.org' }),
    'page: by an address without entries': () => listAuditEntries(db, { limit: 101 }, { actorEmail: 'none@x.org' }),
    'page: of a container': () => listAuditEntries(db, { limit: 101 }, { target: 'container:77' }),
    'page: of a frequent action': () => listAuditEntries(db, { limit: 101 }, { action: 'user.block' }),
    'page: of a rare action (10 entries)': () => listAuditEntries(db, { limit: 101 }, { action: 'keys.rotate' }),
    'page: of actions that are none': () => listAuditEntries(db, { limit: 101 }, { action: 'none.' }),
    'page: of an hour': () => listAuditEntries(db, { limit: 101 }, hour),
  }
  const figures: Record<string, string> = {}
  for (const [name, work] of Object.entries(works)) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push((await timed(work)).ms)
    figures[name] = `${milliseconds(median(times))}, at most ${milliseconds(Math.max(...times))}`
  }
  const nothingOld = await timed(() => deleteOldPersonalFacts(db, new Date(Date.now() - 2 * period)))
  figures['personal facts: none are old'] = milliseconds(nothingOld.ms)
  const old = await timed(() => deleteOldPersonalFacts(db, new Date(Date.now() - period + period / 100)))
  figures['personal facts: one in a hundred is old'] = milliseconds(old.ms)
  return figures
}

async function planOfWebhook(db: Db): Promise<string> {
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (analyze, buffers)
    select * from audit_log where position > ${entries / 2} order by position limit 100`.execute(db)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** As before the last migration. */
async function timeOfCopy(url: string): Promise<string> {
  const db = await withoutTimeouts(url)
  await sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(db)
  await db.destroy()
  const { ms } = await timed(() => copyPostgresBeforeMigration(url, new Date()))
  return `${(ms / 1_000).toFixed(1)} s`
}
