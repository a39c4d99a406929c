import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { LinkLimits } from '#/accounts/sign-up/link-limits.ts'
import { Refusal } from '#/refusals/errors.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

const now = new Date('2026-01-02T03:04:05.678Z')

async function openSqlite(t: TestContext): Promise<Database> {
  const { database } = await openTemporaryStore(t)
  return database
}

async function openPostgres(t: TestContext): Promise<Database> {
  const postgres = await startPostgres()
  const database = await openDatabase(postgres.url, '')
  t.after(async () => {
    await database.close()
    await postgres.stop()
  })
  return database
}

for (const [name, open] of [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
] as const) {
  test(`${name}: of many requests at once for the addresses of one mailbox exactly as many are granted as it has places`, async (t) => {
    const database = await open(t)
    const limits = new LinkLimits(database, { magicLinksPerHour: 2, mailboxLinksPerHour: 5 })
    const reserve = (email: string) => database.transaction((tx) => limits.reserve(tx, email, now))
    const emails = ['ann@x.org', 'ann+a@x.org', 'ann+b@x.org', 'ann+c@x.org']
    const results = await Promise.allSettled([...emails, ...emails, ...emails, ...emails].map(reserve))
    const granted = results.filter(({ status }) => status === 'fulfilled')
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    assert.equal(granted.length, 5)
    assert.ok(refused.every((reason) => reason instanceof Refusal && reason.status === 429))
    assert.ok(await reserve('ann@y.org'), 'another mailbox has places of its own')
  })
}
