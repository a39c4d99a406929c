import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '#/store/database.ts'
import {
  countTakeovers,
  deleteExpiredRevocations,
  endBlockedSessions,
  endTakeoversBy,
  endTakeoversOf,
  findSessionsAtProvider,
  isTokenRevoked,
  listRevokedTokens,
  markSessionsEnded,
  onceOnlyId,
  useUpToken,
} from '#/store/session-ends.ts'
import {
  deleteOldSessions,
  extendSession,
  findSessionBySid,
  insertSession,
  listSessions,
  noteSessionUses,
} from '#/store/sessions.ts'
import { insertProviderSession } from '#/store/identities.ts'
import { deleteUser } from '#/store/users.ts'
import { dialects, later, newUsers, now, useStore } from '../support/store/both-databases.ts'
import { onlyLong } from '#test/support/extent.ts'

/** One of a second, without a cookie. */
const newSession = (userId: number) => ({
  userId,
  sid: '',
  address: '',
  browser: null,
  acting: null,
  began: null,
  createdAt: now,
  expiresAt: new Date(now.getTime() + 1_000),
  tokenExpiresAt: new Date(now.getTime() + 1_000),
  cookieHash: null,
})

for (const dialect of dialects) {
  describe(dialect, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))

    const newUser = newUsers(() => database.db, now)

    test('sessions are listed newest first while they live, end once, and takeovers stay for a while', async () => {
      const [user, admin] = [await newUser(), await newUser()]
      const window = { now, takeoversSince: later(-1_000), limit: 10 }
      const session = { ...newSession(user.id), address: '192.0.2.1' }
      const acting = { id: admin.id, email: admin.email, reason: 'help' }
      await insertSession(database.db, { ...session, sid: `${dialect} 1`, expiresAt: later(1_000) })
      await insertSession(database.db, { ...session, sid: `${dialect} 2`, expiresAt: later(2_000), acting })
      await insertSession(database.db, { ...session, sid: `${dialect} 3`, expiresAt: later(-1) })
      const list = (at = window) => listSessions(database.db, user.id, at)
      assert.deepEqual(
        (await list()).map(({ sid, acting: by, endedAt }) => [sid, by, endedAt]),
        [
          [`${dialect} 2`, acting, null],
          [`${dialect} 1`, null, null],
        ],
      )
      const ended = await database.transaction((tx) => endTakeoversBy(tx, [admin.id], later(5)))
      assert.deepEqual(
        ended.map(({ sid, userId }) => [sid, userId]),
        [[`${dialect} 2`, user.id]],
      )
      assert.ok((await listRevokedTokens(database.db, now)).some(({ jti }) => jti === `${dialect} 2`))
      await markSessionsEnded(database.db, [`${dialect} 1`, `${dialect} 2`], later(9), 'ended')
      const [left, ...more] = await list()
      assert.deepEqual([left?.endedAt, more.length], [later(5), 0], 'the first end counts')
      await deleteOldSessions(database.db, later(5_000), later(-1))
      assert.deepEqual(
        (await list()).map(({ sid }) => sid),
        [`${dialect} 2`],
      )
      await deleteOldSessions(database.db, later(5_000), now)
      assert.deepEqual(await list(), [])
      await deleteExpiredRevocations(database.db, later(5_000))
    })

    test('takeovers of a user are ended and revoked, their own sessions and takeovers of others are not', async () => {
      const [user, admin, other] = [await newUser(), await newUser(), await newUser()]
      const acting = { id: admin.id, email: admin.email, reason: 'help' }
      const names = ['blocked own', 'of user', 'by operator', 'of other'].map((name) => `${dialect} ${name}`)
      const [own = '', ofUser = '', byOperator = '', ofOther = ''] = names
      await insertSession(database.db, { ...newSession(user.id), sid: own })
      await insertSession(database.db, { ...newSession(user.id), sid: ofUser, acting })
      await insertSession(database.db, { ...newSession(user.id), sid: byOperator, acting: { ...acting, id: null } })
      await insertSession(database.db, { ...newSession(other.id), sid: ofOther, acting })
      assert.equal(await countTakeovers(database.db, user.id, later(5)), 2)
      assert.equal(await countTakeovers(database.db, admin.id, later(5)), 2)
      const ended = await database.transaction((tx) => endTakeoversOf(tx, [user.id], later(5)))
      assert.deepEqual(ended.map(({ sid }) => sid).sort(), [byOperator, ofUser])
      const revoked = (await listRevokedTokens(database.db, now)).map(({ jti }) => jti)
      assert.deepEqual(
        names.map((sid) => revoked.includes(sid)),
        [false, true, true, false],
      )
      assert.equal(await countTakeovers(database.db, user.id, later(5)), 0)
      await deleteExpiredRevocations(database.db, later(5_000))
    })

    test('what counts once is used up by the first of two, and stands in no list of revoked tokens', async () => {
      const used = { jti: onceOnlyId('attempt', dialect), expiresAt: later(60) }
      const results = await Promise.all([useUpToken(database.db, used), useUpToken(database.db, used)])
      assert.deepEqual(results.sort(), [false, true])
      assert.ok(await isTokenRevoked(database.db, used.jti))
      assert.ok(!(await listRevokedTokens(database.db, now)).some(({ jti }) => jti === used.jti))
      await deleteExpiredRevocations(database.db, later(61))
      assert.ok(!(await isTokenRevoked(database.db, used.jti)))
    })

    test('of several rotations of one cookie one wins, and none after the session has ended', async () => {
      const user = await newUser()
      const sid = `${dialect} rotated`
      await insertSession(database.db, { ...newSession(user.id), sid, cookieHash: 'first' })
      const extension = { now: later(10), expiresAt: later(5_000), tokenExpiresAt: later(900) }
      const rotate = (cookieHash: string) => extendSession(database.db, sid, extension, { from: 0, cookieHash })
      const won = (await Promise.all(['a', 'b', 'c'].map(rotate))).filter((each) => each !== undefined)
      assert.equal(won.length, 1)
      assert.deepEqual(
        [won[0]?.generation, won[0]?.rotatedAt, won[0]?.expiresAt, won[0]?.tokenExpiresAt, won[0]?.lastUsed],
        [1, later(10), later(5_000), later(1_000), later(10)],
      )
      const earlier = { now: later(5), expiresAt: later(2_000), tokenExpiresAt: later(800) }
      const again = await extendSession(database.db, sid, earlier)
      assert.deepEqual([again?.expiresAt, again?.lastUsed, again?.generation], [later(5_000), later(10), 1])
      const blocked = await endBlockedSessions(database.db, [user.id], later(20))
      assert.deepEqual(
        blocked.map((each) => [each.sid, each.endedWhy]),
        [[sid, 'blocked']],
      )
      const marks = (await listRevokedTokens(database.db, later(20))).filter(({ jti }) => jti.endsWith(sid))
      assert.deepEqual(marks, [{ jti: `ended ${sid}`, expiresAt: later(1_000) }])
      assert.deepEqual(await endBlockedSessions(database.db, [user.id], later(21)), [])
      await deleteExpiredRevocations(database.db, later(5_000))
      assert.equal(await extendSession(database.db, sid, extension), undefined)
      const stored = await findSessionBySid(database.db, sid)
      assert.deepEqual([stored?.endedAt, stored?.endedWhy], [later(20), 'blocked'])
    })

    test('a use makes a session with a cookie last longer, up to its maximum, and no other', async () => {
      const user = await newUser()
      const names = ['used', 'short', 'ended'].map((name) => `${dialect} ${name}`)
      const [used = '', short = '', over = ''] = names
      for (const sid of names)
        await insertSession(database.db, { ...newSession(user.id), sid, cookieHash: sid === short ? null : sid })
      await markSessionsEnded(database.db, [over], later(1), 'ended')
      const note = (at: Date) =>
        noteSessionUses(
          database.db,
          names.map((sid) => ({ sid, at })),
          { idle: 2, max: 3 },
        )
      await note(later(500))
      const read = async (sid: string) => {
        const found = await findSessionBySid(database.db, sid)
        return [found?.lastUsed, found?.expiresAt]
      }
      assert.deepEqual(await read(used), [later(500), later(2_500)])
      assert.deepEqual(await read(short), [later(500), later(1_000)])
      assert.deepEqual(await read(over), [now, later(1_000)])
      await note(later(2_000))
      assert.deepEqual(await read(used), [later(2_000), later(3_000)])
      await note(later(100))
      assert.deepEqual(await read(used), [later(2_000), later(3_000)])
    })

    test('the live sessions that a provider began for a subject are found, all or that of one of its own sessions', async () => {
      const user = await newUser()
      const [issuer, subject] = [`https://${dialect}.example`, 'ann']
      for (const providerSid of ['p1', 'p2', 'p3'])
        await database.transaction(async (tx) => {
          const sid = `${dialect} ${providerSid}`
          await insertSession(tx, { ...newSession(user.id), sid, began: 'oidc:main' })
          await insertProviderSession(tx, sid, { provider: 'main', issuer, subject, sid: providerSid, idToken: 'x' })
        })
      await markSessionsEnded(database.db, [`${dialect} p3`], now, 'provider')
      const find = async (providerSid?: string) =>
        (await findSessionsAtProvider(database.db, { issuer, subject, sid: providerSid }, { now, limit: 9 })).length
      assert.deepEqual([await find(), await find('p2'), await find('p3')], [2, 1, 0])
      const bySid = { issuer, subject: undefined, sid: 'p2' }
      assert.equal((await findSessionsAtProvider(database.db, bySid, { now, limit: 9 })).length, 1)
      const unnamed = { issuer, subject: undefined, sid: undefined }
      assert.equal((await findSessionsAtProvider(database.db, unnamed, { now, limit: 9 })).length, 0)
      // After the unblock their tokens are answered until they expire.
      await endBlockedSessions(database.db, [user.id], now)
      assert.deepEqual([await find(), await find('p2'), await find('p3')], [2, 1, 0])
      await markSessionsEnded(database.db, [`${dialect} p2`], now, 'provider')
      assert.deepEqual([await find(), await find('p2')], [1, 0])
    })

    test('takeovers, however many, push none of the sessions of its owner out of the list', async () => {
      const user = await newUser()
      const session = newSession(user.id)
      await insertSession(database.db, { ...session, sid: `${dialect} own`, acting: null })
      const acting = { id: null, email: 'operator', reason: 'help' }
      for (const name of ['a', 'b', 'c']) await insertSession(database.db, { ...session, sid: dialect + name, acting })
      const listed = await listSessions(database.db, user.id, { now, takeoversSince: later(-1), limit: 2 })
      assert.deepEqual(
        listed.map(({ sid }) => sid),
        [`${dialect}c`, `${dialect}b`, `${dialect} own`],
      )
    })

    test('the takeovers of one administrator end in one step, however many there are', onlyLong, async () => {
      const [user, admin] = [await newUser(), await newUser()]
      // A statement may have 32,766 values with SQLite, 65,535 with PostgreSQL; a revocation has two.
      const many = 33_000
      const sid = sql<string>`${`${dialect} many `} || n`
      await sql`
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(many)})
        insert into sessions (user_id, sid, created_at, expires_at, address, acting_admin_id, acting_admin_email, reason)
        select ${sql.lit(user.id)}, ${sid}, ${sql.lit(now.getTime())}, ${sql.lit(later(1_000).getTime())}, '',
          ${sql.lit(admin.id)}, 'admin', 'help' from numbers`.execute(database.db)
      const ended = await database.transaction((tx) => endTakeoversBy(tx, [admin.id], later(5)))
      assert.equal(ended.length, many)
      assert.ok((await listRevokedTokens(database.db, now)).length >= many)
      assert.deepEqual(await database.transaction((tx) => endTakeoversBy(tx, [admin.id], later(6))), [])
      await deleteUser(database.db, user.id)
      await deleteExpiredRevocations(database.db, later(5_000))
    })
  })
}
