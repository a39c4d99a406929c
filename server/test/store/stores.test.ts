import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { auditHead, insertAuditEntries, listAuditEntries } from '#/store/audit/audit-log.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import { installationName } from '#/store/installation.ts'
import { forgetHomes, keepHomes, listDueOwners, postponeHomes } from '#/store/containers/kept-homes.ts'
import {
  deleteExpiredRevocations,
  insertRevokedTokens,
  isTokenRevoked,
  listRevokedTokens,
  onceOnlyId,
  useUpToken,
} from '#/store/users/revoked-tokens.ts'
import { deleteRemovals, insertRemovals, listRemovals, pendingRemovals } from '#/store/containers/removals.ts'
import { extendSession, noteSessionUses } from '#/store/users/session-changes.ts'
import {
  countTakeovers,
  endBlockedSessions,
  endTakeoversBy,
  endTakeoversOf,
  findSessionsAtProvider,
  markSessionsEnded,
} from '#/store/users/session-ends.ts'
import { insertProviderSession } from '#/store/users/provider-sessions.ts'
import { deleteOldSessions, findSessionBySid, insertSession, listSessions } from '#/store/users/sessions.ts'
import {
  blockContainers,
  blockContainersOf,
  listBlockedContainers,
  unblockContainersOf,
} from '#/store/containers/container-blocks.ts'
import { deleteContainer, ensureContainer, findContainer } from '#/store/containers/user-containers.ts'
import {
  deleteUser,
  findUser,
  insertUser,
  listBlockedUserIds,
  setUsersBlocked,
  type User,
} from '#/store/users/users.ts'
import { dialects, useStore } from '../support/store/both-databases.ts'
import { onlyLong } from '#test/support/extent.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
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
const later = (ms: number) => new Date(now.getTime() + ms)

for (const dialect of dialects) {
  describe(dialect, () => {
    let database: Database
    const open = useStore(dialect, (store) => (database = store))

    let count = 0
    const newUser = (fields: Partial<User> = {}): Promise<User> => {
      const name = `user${++count}`
      return insertUser(database.db, { email: `${name}@x.org`, slug: name, isAdmin: false, now, ...fields })
    }

    test('an update of the tables that was cut off is finished at the next start', async () => {
      const kept = await newUser()
      await sql`delete from kysely_migration where name >= '002'`.execute(database.db)
      const again = await open()
      assert.deepEqual(await findUser(again.db, kept.id), kept)
      await again.close()
    })

    test('a user has one record per type, however many ask for it at once', async () => {
      const user = await newUser()
      const records = await Promise.all(
        Array.from({ length: 8 }, () => ensureContainer(database.db, user.id, 'dev', 'image', now)),
      )
      assert.equal(new Set(records.map(({ id }) => id)).size, 1)
      assert.equal(records[0]?.containerId, null)
    })

    test('a record keeps its first block, and a cascade releases only what it blocked', async () => {
      const [admin, other, user] = [await newUser(), await newUser(), await newUser()]
      const dev = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      const prod = await ensureContainer(database.db, user.id, 'prod', 'image', now)
      await blockContainers(database.db, [dev.id], { by: admin.id, at: now })
      assert.deepEqual(await blockContainersOf(database.db, [user.id], { by: other.id, at: later(1) }), [prod.id])
      const blocked = await findContainer(database.db, user.id, 'dev')
      assert.deepEqual([blocked?.isBlocked, blocked?.blockedAt, blocked?.blockedBy], [true, now, admin.id])
      assert.deepEqual(await unblockContainersOf(database.db, [user.id]), [prod.id])
      const released = await findContainer(database.db, user.id, 'prod')
      assert.deepEqual([released?.isBlocked, released?.blockedAt, released?.blockedBy], [false, null, null])
    })

    test('a block outlives the administrator who made it, without their id', async () => {
      const [admin, user] = [await newUser(), await newUser()]
      const record = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      await blockContainers(database.db, [record.id], { by: admin.id, at: now })
      await deleteUser(database.db, admin.id)
      const left = await findContainer(database.db, user.id, 'dev')
      assert.deepEqual([left?.isBlocked, left?.blockedBy], [true, null])
    })

    test('records go with their user', async () => {
      const user = await newUser()
      await ensureContainer(database.db, user.id, 'dev', 'image', now)
      await deleteUser(database.db, user.id)
      assert.equal(await findContainer(database.db, user.id, 'dev'), undefined)
    })

    test('what must not run is found by the block of its record or of its user', async () => {
      const [admin, user, owner, free] = [await newUser(), await newUser(), await newUser(), await newUser()]
      const { id } = await ensureContainer(database.db, owner.id, 'dev', 'image', now)
      const other = await ensureContainer(database.db, free.id, 'dev', 'image', now)
      await blockContainers(database.db, [id], { by: admin.id, at: now })
      await setUsersBlocked(database.db, [user.id], true)
      const records = (await listBlockedContainers(database.db)).map((record) => record.id)
      const users = await listBlockedUserIds(database.db)
      assert.ok(records.includes(id) && !records.includes(other.id))
      assert.ok(users.includes(user.id) && !users.includes(free.id))
    })

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

    test('a record is deleted once, and what the engine has to do for it is kept until it is done', async () => {
      const user = await newUser()
      const owned = { userId: user.id, slug: user.slug, type: 'dev', containerId: 'c1' }
      const record = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      const deleted = await Promise.all(Array.from({ length: 4 }, () => deleteContainer(database.db, record.id)))
      assert.deepEqual(
        deleted.filter((each) => each !== undefined),
        [record],
      )
      await insertRemovals(database.db, [owned, { ...owned, type: 'prod' }], { isPurge: false, now })
      await insertRemovals(database.db, [owned], { isPurge: true, now })
      const pending = await pendingRemovals(database.db, owned)
      assert.deepEqual(pending.map(({ isPurge }) => isPurge).sort(), [false, true])
      assert.deepEqual(new Set(pending.map(({ containerId }) => containerId)), new Set(['c1']))
      assert.deepEqual(await pendingRemovals(database.db, { ...owned, slug: 'other' }), [])
      const types = async (limit: number) => (await listRemovals(database.db, limit)).map(({ type }) => type)
      assert.deepEqual([await types(1), await types(10)], [['dev'], ['dev', 'prod', 'dev']])
      await deleteUser(database.db, user.id)
      await deleteRemovals(
        database.db,
        pending.map(({ id }) => id),
      )
      assert.deepEqual(await types(10), ['prod'])
    })

    test('homes are due by their former owner, the longest kept first, until they are forgotten', async () => {
      const owner = (userId: number) => ({ userId, slug: `s${userId}` })
      const home = (userId: number, type: string) => ({ ...owner(userId), type, volume: `v-${userId}-${type}` })
      await keepHomes(database.db, [home(1, 'dev'), home(1, 'prod')], later(2_000))
      await keepHomes(database.db, [home(2, 'dev')], later(1_000))
      const due = (at: number) => listDueOwners(database.db, later(at), 10)
      assert.deepEqual(await due(999), [])
      assert.deepEqual(await due(1_000), [owner(2)])
      assert.deepEqual(await due(2_000), [owner(2), owner(1)])
      assert.deepEqual(await listDueOwners(database.db, later(2_000), 1), [owner(2)])
      await postponeHomes(database.db, owner(2), later(3_000))
      assert.deepEqual(await due(3_000), [owner(1), owner(2)])
      await keepHomes(database.db, [home(2, 'dev')], later(500))
      assert.deepEqual(await due(500), [owner(2)])
      await forgetHomes(database.db, owner(1))
      await forgetHomes(database.db, { ...owner(2), slug: 'other' })
      assert.deepEqual(await due(9_000), [owner(2)])
      await beginClockJump(database, 60_000, later(60_000))
      await finishClockJump(database)
      assert.deepEqual(await due(60_499), [], 'a clock that jumps ahead is no reason to remove them earlier')
      assert.deepEqual(await due(60_500), [owner(2)])
    })

    test('a revocation is there until its token would have expired', async () => {
      await insertRevokedTokens(database.db, [{ jti: 'j', expiresAt: later(1000) }])
      await insertRevokedTokens(database.db, [{ jti: 'j', expiresAt: later(1000) }])
      assert.deepEqual(await listRevokedTokens(database.db, now), [{ jti: 'j', expiresAt: later(1000) }])
      assert.deepEqual(await listRevokedTokens(database.db, later(1000)), [])
    })

    test('audit entries survive the people in them', async () => {
      const admin = await newUser()
      const actor = { id: admin.id, email: admin.email, address: '::1' }
      await insertAuditEntries(database.db, [
        { at: now, actor, action: 'user.block', target: 'user:1', detail: { n: 1 } },
      ])
      await deleteUser(database.db, admin.id)
      const [entry] = await listAuditEntries(database.db, { limit: 1 })
      assert.deepEqual(entry, {
        id: (await auditHead(database.db)).entries,
        at: now,
        actor: { id: admin.id, email: admin.email },
        action: 'user.block',
        target: 'user:1',
        detail: { n: 1, address: '::1' },
      })
    })

    test("opening the store again finds its tables, its data and the installation's name", async () => {
      const user = await newUser()
      const name = await installationName(database.db, () => 'first')
      const again = await open()
      assert.deepEqual(await findUser(again.db, user.id), user)
      assert.equal(await installationName(again.db, () => 'second'), name)
      await again.close()
    })
  })
}
