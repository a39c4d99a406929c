// Part of npm run test:more: thousands of links; clock.test.ts states the same of a few.
// Needs a process of its own: it takes the time of ten others, and moves the clock.
import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteOldLinkRequests,
  findUsableLink,
  insertLink,
  insertLinkRequest,
  linkRequestsSince,
} from '#/store/magic-links.ts'
import { insertUser } from '#/store/users.ts'
import { movableClock } from '../support/clock.ts'
import { extent, firstOfList, timeLimit, waitLimit } from '../support/extent.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { waitFor } from '../support/program.ts'

/**
 * A paused virtual machine, and 100,000 links. They were moved in one statement, which PostgreSQL ended after four
 * seconds; it was repeated without end, and each request waited five seconds for it. `LINKS=100000` is the whole of it, on
 * both databases, on a machine that has nothing else to do.
 */
const isWhole = process.env.LINKS !== undefined
/** How long a jump may take, in ms. */
const limit = isWhole ? 5_000 : timeLimit(5_000)
const count = Number(process.env.LINKS ?? extent(5_000, 20_000))
const hour = 3_600_000
const postgres = await startPostgres()
after(() => postgres.stop())

/** Links that work for a while still, and requests of the last minutes, for one account each. */
async function fill({ db }: Database, now: number): Promise<void> {
  const user = await insertUser(db, { email: 'many@x.org', slug: 'many', isAdmin: false, now: new Date(now) })
  const rows = 1_000
  for (let from = 0; from < count; from += rows) {
    const numbers = Array.from({ length: Math.min(rows, count - from) }, (_, each) => from + each)
    await db
      .insertInto('link_requests')
      .values(
        numbers.map((n) => ({ email: `u${n}@x.org`, mailbox: `u${n}@x.org`, requested_at: now - (n % 1_000_000) })),
      )
      .execute()
    await db
      .insertInto('magic_links')
      .values(
        numbers.map((n) => ({
          user_id: user.id,
          token_hash: `hash ${n}`,
          token_type: 'login' as const,
          expires_at: now + (n % 2 === 0 ? 900_000 : -1),
          ip_address: '::1',
          used_at: null,
          created_at: now - 1_000,
        })),
      )
      .execute()
  }
}

let databases = 0
/** Each test has a store of its own: the clock of the others is put back behind them. */
async function startOn(t: TestContext, dialect: 'SQLite' | 'PostgreSQL') {
  if (dialect === 'SQLite') return startEnginelessBerth(t, { env: { REQUESTS_PER_MINUTE: '0' } })
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`create database clock${++databases}`)
  await client.end()
  const DATABASE_URL = postgres.url.replace(/postgres$/, `clock${databases}`)
  return startEnginelessBerth(t, { env: { REQUESTS_PER_MINUTE: '0', DATABASE_URL } })
}

for (const [index, dialect] of (['PostgreSQL', 'SQLite'] as const).entries())
  describe(dialect, isWhole ? {} : firstOfList(index), () => {
    test('while rows are still being moved they are read as if they had been', async (t) => {
      const { database } = await startOn(t, dialect)
      const now = Date.now()
      const user = await insertUser(database.db, {
        email: 'ann@x.org',
        slug: 'ann',
        isAdmin: false,
        now: new Date(now),
      })
      await insertLinkRequest(database.db, 'ann@x.org', new Date(now - 60_000))
      const link = (tokenHash: string, lives: number) =>
        insertLink(database.db, {
          userId: user.id,
          tokenHash,
          purpose: 'login',
          ipAddress: '::1',
          now: new Date(now - 900_000),
          expiresAt: new Date(now + lives),
        })
      await link('expired', -1)
      await link('valid', 60_000)
      const usable = async (hash: string, at: number) =>
        (await findUsableLink(database.db, hash, 'login', new Date(at))) !== undefined
      const requests = async (at: number) =>
        (await linkRequestsSince(database.db, 'ann@x.org', new Date(at - hour))).map((each) => at - each.getTime())

      await beginClockJump(database, -hour, new Date(now - hour))
      // By mistake once more, as after an answer that got lost.
      await beginClockJump(database, -hour, new Date(now - hour))
      for (const isFinished of [false, true]) {
        assert.equal(await usable('expired', now - hour), false, `finished: ${isFinished}`)
        assert.equal(await usable('valid', now - hour), true)
        assert.equal(await usable('valid', now - hour + 60_000), false)
        assert.deepEqual(await requests(now - hour), [60_000])
        await finishClockJump(database)
      }
      await beginClockJump(database, 24 * hour, new Date(now + 23 * hour))
      await deleteOldLinkRequests(database.db, new Date(now + 21 * hour))
      // Asked for after the clock was moved: that one is as old as it says.
      await insertLinkRequest(database.db, 'ann@x.org', new Date(now + 23 * hour))
      for (let times = 0; times < 2; times++) {
        assert.deepEqual(await requests(now + 23 * hour), [60_000, 0])
        await finishClockJump(database)
      }
    })

    for (const by of [hour, -hour] as const)
      test(
        `a jump by ${by / hour} h with ${count} links is taken in within five seconds, and no request waits for it`,
        { timeout: waitLimit(200_000) },
        async (t) => {
          const berth = await startOn(t, dialect)
          const { database } = berth
          const clock = movableClock(t)
          await fill(database, Date.now())
          const signIn = async () => {
            await berth.call('POST', '/api/auth/link', { body: { email: 'eve@x.org' } })
            const mail = berth.mails.at(-1)
            assert.ok(mail)
            const [, purpose] = /verify-(signup|login)/.exec(mail.text) ?? []
            return berth.call('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)
          }
          const { access_token: token } = (await signIn()).body as { access_token: string }
          const ask = async () => {
            const begun = performance.now()
            const { status } = await berth.call('GET', '/api/user/me', { token })
            assert.ok(status < 500)
            return performance.now() - begun
          }
          const usual = Math.max(...(await Promise.all(Array.from({ length: 20 }, ask))))
          clock.set(by)
          const begun = performance.now()
          const times: number[] = []
          const isMoving = async () => (await sql`select 1 as n from clock_moves`.execute(database.db)).rows.length > 0
          await waitFor('the clock to be noticed', async () => (times.push(await ask()), isMoving()), 20_000)
          const cpu = process.cpuUsage()
          // A request every few milliseconds: without a pause the client alone takes most of the time of this process.
          while (await isMoving()) times.push(await sleep(5).then(ask))
          const took = performance.now() - begun
          const { user, system } = process.cpuUsage(cpu)
          t.diagnostic(
            `${Math.round(took)} ms, CPU ${Math.round((user + system) / 1_000)} ms; of ${times.length} requests meanwhile the slowest ${Math.round(Math.max(...times))} ms, else ${Math.round(usual)} ms`,
          )
          assert.ok(took < limit, `the jump took ${Math.round(took)} ms`)
          assert.ok(Math.max(...times) < 2_500, `a request waited ${Math.max(...times)} ms`)
          assert.equal((await signIn()).status, 200)
          const { rows } = await sql<{
            n: number
          }>`select count(*) as n from magic_links where token_hash like 'hash %' and expires_at > ${Date.now()}`.execute(
            database.db,
          )
          assert.equal(Number(rows[0]?.n), by < 0 ? count / 2 : 0)
        },
      )
  })
