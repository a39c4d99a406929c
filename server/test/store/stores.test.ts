import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { auditHead, insertAuditEntries, listAuditEntries } from '#/store/audit/audit-log.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { deleteExpiredUnverifiedUser, listExpiredUnverifiedUsers } from '#/store/users/unverified-users.ts'
import { installationName } from '#/store/installation.ts'
import { forgetHomes, keepHomes, listDueOwners, postponeHomes } from '#/store/containers/kept-homes.ts'
import {
  consumeLink,
  deleteUnknownAddressRequests,
  findUsableLink,
  insertLink,
  insertLinkRequest,
  linkRequestsSince,
} from '#/store/users/magic-links.ts'
import { links } from '#/store/migrations/007-links.ts'
import { deleteExpiredRevocations, insertRevokedTokens, listRevokedTokens } from '#/store/users/revoked-tokens.ts'
import { deleteRemovals, insertRemovals, listRemovals, pendingRemovals } from '#/store/containers/removals.ts'
import {
  deleteOldSessions,
  endTakeoversBy,
  insertSession,
  listSessions,
  markSessionsEnded,
} from '#/store/users/sessions.ts'
import {
  blockContainers,
  blockContainersOf,
  deleteContainer,
  ensureContainer,
  findContainer,
  listBlockedContainers,
  noteStopped,
  noteUse,
  touchContainer,
  unblockContainersOf,
} from '#/store/containers/user-containers.ts'
import {
  claimSlug,
  claimSlugs,
  deleteUser,
  findUser,
  findUserByEmail,
  hasUsers,
  insertUser,
  listBlockedUserIds,
  noteUserActive,
  listReachableUsers,
  moveUserState,
  setUsersBlocked,
  type User,
} from '#/store/users/users.ts'
import { listUsers } from '#/store/users/user-list.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const later = (ms: number) => new Date(now.getTime() + ms)

let postgres: Postgres
let folder: string
before(async () => {
  postgres = await startPostgres()
  folder = await mkdtemp(path.join(tmpdir(), 'berth-stores-'))
})
after(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

for (const dialect of ['SQLite', 'PostgreSQL']) {
  describe(dialect, () => {
    let database: Database
    const open = () => openDatabase(dialect === 'SQLite' ? null : postgres.url, folder)
    before(async () => {
      database = await open()
    })
    after(() => database.close())

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

    test('a user comes back as stored', async () => {
      const user = await newUser({ isAdmin: true })
      assert.deepEqual(await findUser(database.db, user.id), user)
      assert.deepEqual(await findUserByEmail(database.db, user.email), user)
      assert.deepEqual(user.createdAt, now)
      assert.equal(user.isAdmin, true)
      assert.equal(user.isBlocked, false)
      assert.equal(user.lastUsed, null)
    })

    test('the id of a deleted user is not given again', async () => {
      const old = await newUser()
      await deleteUser(database.db, old.id)
      assert.ok((await newUser()).id > old.id)
    })

    test('an address is registered once', async () => {
      const user = await newUser()
      await assert.rejects(newUser({ email: user.email }))
    })

    test('a state moves on only from where it is thought to be', async () => {
      const user = await newUser()
      await moveUserState(database.db, user.id, 'verified', 'active')
      assert.equal((await findUser(database.db, user.id))?.state, 'registered')
      await moveUserState(database.db, user.id, 'registered', 'verified')
      assert.equal((await findUser(database.db, user.id))?.state, 'verified')
    })

    test('of many who claim a slug at once one gets it', async () => {
      const claims = await Promise.all(Array.from({ length: 8 }, () => claimSlug(database.db, 'popular')))
      assert.equal(claims.filter(Boolean).length, 1)
    })

    test('people are those who verified their address or own a record, page by page', async () => {
      const [stranger, verified, owner] = [await newUser(), await newUser(), await newUser()]
      await moveUserState(database.db, verified.id, 'registered', 'verified')
      await ensureContainer(database.db, owner.id, 'dev', 'image', now)
      const after = stranger.id - 1
      const ids = (users: User[]) => users.map(({ id }) => id)
      assert.deepEqual(ids(await listReachableUsers(database.db, { limit: 10, after })), [verified.id, owner.id])
      assert.deepEqual(ids(await listReachableUsers(database.db, { limit: 1, after: verified.id })), [owner.id])
    })

    test('last_used moves forward only, and a start forgets that Berth had stopped it', async () => {
      const { id } = await newUser()
      const made = await ensureContainer(database.db, id, 'dev', 'image', now)
      const record = () => findContainer(database.db, id, 'dev')
      await noteUse(database.db, id, 'dev', later(2_000))
      await noteUse(database.db, id, 'dev', later(1_000))
      assert.deepEqual((await record())?.lastUsed, later(2_000))
      await noteStopped(database.db, id, 'dev', later(3_000))
      assert.deepEqual((await record())?.stoppedAt, later(3_000))
      await touchContainer(database.db, made.id, later(4_000))
      assert.deepEqual([(await record())?.lastUsed, (await record())?.stoppedAt], [later(4_000), null])
    })

    // An administrator once read "last used 3 weeks ago" of a person whose container was used an hour ago.
    test('the last use of a user is at most a minute behind that of their containers, and never moves back', async () => {
      const { id } = await newUser()
      await ensureContainer(database.db, id, 'dev', 'image', now)
      const lastUsed = async () => (await findUser(database.db, id))?.lastUsed
      await noteUserActive(database.db, id, later(100_000))
      assert.deepEqual(await lastUsed(), later(100_000))
      await noteUse(database.db, id, 'dev', later(130_000))
      assert.deepEqual(await lastUsed(), later(100_000))
      await noteUse(database.db, id, 'dev', later(161_000))
      assert.deepEqual(await lastUsed(), later(161_000))
      await noteUse(database.db, id, 'dev', later(50_000))
      assert.deepEqual(await lastUsed(), later(161_000))
    })

    test('a search finds parts of addresses and takes % and _ as they are', async () => {
      const user = await newUser({ email: 'who_knows%@x.org' })
      await newUser({ email: 'whoxknows@x.org' })
      const page = { order: { by: 'id', isDescending: false }, limit: 10 } as const
      const find = async (q: string) => (await listUsers(database.db, page, { q })).map(({ id }) => id)
      assert.deepEqual(await find('WHO_'), [user.id])
      assert.deepEqual(await find('knows%'), [user.id])
      assert.deepEqual(await find('\\'), [])
    })

    test('of many who use a link at once exactly one does', async () => {
      const user = await newUser()
      const link = await insertLink(database.db, {
        userId: user.id,
        tokenHash: 'h1',
        purpose: 'login',
        ipAddress: '::1',
        now,
        expiresAt: later(1000),
      })
      const used = await Promise.all(Array.from({ length: 20 }, () => consumeLink(database.db, link.id, now)))
      assert.equal(used.filter(Boolean).length, 1)
      assert.equal(await findUsableLink(database.db, 'h1', 'login', now), undefined)
    })

    test('a link is usable for its purpose only, and until the millisecond before it expires', async () => {
      const user = await newUser()
      await insertLink(database.db, {
        userId: user.id,
        tokenHash: 'h2',
        purpose: 'signup',
        ipAddress: '::1',
        now,
        expiresAt: later(1000),
      })
      assert.equal(await findUsableLink(database.db, 'h2', 'login', now), undefined)
      assert.ok(await findUsableLink(database.db, 'h2', 'signup', later(999)))
      assert.equal(await findUsableLink(database.db, 'h2', 'signup', later(1000)), undefined)
    })

    test('requests are counted by address and within the time asked for', async () => {
      await insertLinkRequest(database.db, 'a@x.org', later(-2000))
      await insertLinkRequest(database.db, 'a@x.org', later(-1000))
      await insertLinkRequest(database.db, 'b@x.org', now)
      assert.deepEqual(await linkRequestsSince(database.db, 'a@x.org', later(-2000)), [later(-1000)])
    })

    test('requests are counted by mailbox, whatever the tag of the address, also those of before that was known', async () => {
      const { db } = database
      for (const email of ['m@x.org', 'm+1@x.org', 'm+2+3@x.org', '+m@x.org', 'm@y.org'])
        await insertLinkRequest(db, email, now)
      const count = async () => (await linkRequestsSince(db, 'm@x.org', later(-1), 'mailbox')).length
      assert.equal(await count(), 3)
      const rows = () => db.selectFrom('link_requests').selectAll().orderBy('id').execute()
      const stored = await rows()
      await db.updateTable('link_requests').set({ mailbox: '' }).execute()
      assert.equal(await count(), 0)
      await links(dialect === 'PostgreSQL').up(db)
      assert.deepEqual(await rows(), stored)
    })

    test('of requests for addresses that nobody has only the newest stay', async () => {
      const { db } = database
      await insertUser(db, { email: 'owner@x.org', slug: 'owner', isAdmin: false, now })
      for (const name of ['stranger', 'owner', 'stranger', 'stranger'])
        await insertLinkRequest(db, `${name}@x.org`, now)
      await deleteUnknownAddressRequests(db, 1)
      for (const name of ['stranger', 'owner'])
        assert.equal((await linkRequestsSince(db, `${name}@x.org`, later(-1))).length, 1, name)
    })

    test('an account is forgotten when it is old, not verified and no link of it works', async () => {
      const { db } = database
      const [old, young] = [later(-2000), later(-500)]
      const add = (name: string, at: Date) =>
        insertUser(db, { email: `${name}@forgotten.org`, slug: `${name}forgotten`, isAdmin: false, now: at })
      const [gone, waits, verified] = [await add('gone', old), await add('waits', old), await add('verified', old)]
      await add('young', young)
      await moveUserState(db, verified.id, 'registered', 'verified')
      const link = { purpose: 'signup', ipAddress: '', now: old } as const
      await insertLink(db, { ...link, userId: gone.id, tokenHash: 'gone', expiresAt: now })
      await insertLink(db, { ...link, userId: waits.id, tokenHash: 'waits', expiresAt: later(1) })
      const forgotten = { before: later(-1000), now }
      const listed = await listExpiredUnverifiedUsers(db, { ...forgotten, limit: 1_000 })
      const mine = listed.filter(({ email }) => email.endsWith('@forgotten.org')).map(({ id }) => id)
      assert.deepEqual(mine, [gone.id])
      assert.equal(await deleteExpiredUnverifiedUser(db, waits.id, forgotten), undefined)
      assert.equal(await deleteExpiredUnverifiedUser(db, gone.id, forgotten), gone.slug)
      assert.equal(await findUser(db, gone.id), undefined)
    })

    test('a locked transaction sees what the one before it wrote', async () => {
      const reserve = () =>
        database.transaction(async (tx) => {
          await database.lock(tx, 'limit')
          const earlier = await linkRequestsSince(tx, 'race@x.org', later(-1))
          if (earlier.length < 3) await insertLinkRequest(tx, 'race@x.org', now)
          return earlier.length < 3
        })
      const reserved = await Promise.all(Array.from({ length: 12 }, reserve))
      assert.equal(reserved.filter(Boolean).length, 3)
    })

    test('a transaction that throws leaves nothing behind', async () => {
      const broken = database.transaction(async (tx) => {
        await insertUser(tx, { email: 'ghost@x.org', slug: 'ghost', isAdmin: false, now })
        throw new Error('cut off')
      })
      await assert.rejects(broken, /cut off/)
      assert.equal(await findUserByEmail(database.db, 'ghost@x.org'), undefined)
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
      const session = { userId: user.id, address: '192.0.2.1', browser: null, acting: null, createdAt: now }
      const acting = { id: admin.id, email: admin.email, reason: 'help' }
      await insertSession(database.db, { ...session, jti: `${dialect} 1`, expiresAt: later(1_000) })
      await insertSession(database.db, { ...session, jti: `${dialect} 2`, expiresAt: later(2_000), acting })
      await insertSession(database.db, { ...session, jti: `${dialect} 3`, expiresAt: later(-1) })
      const list = (at = window) => listSessions(database.db, user.id, at)
      assert.deepEqual(
        (await list()).map(({ jti, acting: by, endedAt }) => [jti, by, endedAt]),
        [
          [`${dialect} 2`, acting, null],
          [`${dialect} 1`, null, null],
        ],
      )
      const ended = await database.transaction((tx) => endTakeoversBy(tx, [admin.id], later(5)))
      assert.deepEqual(
        ended.map(({ jti, userId }) => [jti, userId]),
        [[`${dialect} 2`, user.id]],
      )
      assert.ok((await listRevokedTokens(database.db, now)).some(({ jti }) => jti === `${dialect} 2`))
      await markSessionsEnded(database.db, [`${dialect} 1`, `${dialect} 2`], later(9))
      const [left, ...more] = await list()
      assert.deepEqual([left?.endedAt, more.length], [later(5), 0], 'the first end counts')
      await deleteOldSessions(database.db, later(5_000), later(-1))
      assert.deepEqual(
        (await list()).map(({ jti }) => jti),
        [`${dialect} 2`],
      )
      await deleteOldSessions(database.db, later(5_000), now)
      assert.deepEqual(await list(), [])
      await deleteExpiredRevocations(database.db, later(5_000))
    })

    test('takeovers, however many, push none of the sessions of its owner out of the list', async () => {
      const user = await newUser()
      const session = { userId: user.id, address: '', browser: null, createdAt: now, expiresAt: later(1_000) }
      await insertSession(database.db, { ...session, jti: `${dialect} own`, acting: null })
      const acting = { id: null, email: 'operator', reason: 'help' }
      for (const name of ['a', 'b', 'c']) await insertSession(database.db, { ...session, jti: dialect + name, acting })
      const listed = await listSessions(database.db, user.id, { now, takeoversSince: later(-1), limit: 2 })
      assert.deepEqual(
        listed.map(({ jti }) => jti),
        [`${dialect}c`, `${dialect}b`, `${dialect} own`],
      )
    })

    test('the takeovers of one administrator end in one step, however many there are', async () => {
      const [user, admin] = [await newUser(), await newUser()]
      // A statement may have 32,766 values with SQLite, 65,535 with PostgreSQL; a revocation has two.
      const many = 33_000
      const jti = sql<string>`${`${dialect} many `} || n`
      await sql`
        with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(many)})
        insert into sessions (user_id, jti, created_at, expires_at, address, acting_admin_id, acting_admin_email, reason)
        select ${sql.lit(user.id)}, ${jti}, ${sql.lit(now.getTime())}, ${sql.lit(later(1_000).getTime())}, '',
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
      const owned = { userId: user.id, slug: user.slug, type: 'dev' }
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

    test('homes are due by their former owner, whoever waits longest first, until they are forgotten', async () => {
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

    test('slugs that stand somewhere are taken, however often that is seen', async () => {
      const user = await newUser()
      await claimSlug(database.db, user.slug)
      assert.equal(await claimSlugs(database.db, [user.slug, 'seen1', 'seen2']), 2)
      assert.equal(await claimSlugs(database.db, [user.slug, 'seen1', 'seen2']), 0)
      assert.equal(await claimSlug(database.db, 'seen1'), false)
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

test('when SQLite ended a transaction by itself, as on a full disk, the reason is what is reported', async (t) => {
  const here = await mkdtemp(path.join(tmpdir(), 'berth-full-'))
  const database = await openDatabase(null, here)
  t.after(async () => {
    await database.close()
    await rm(here, { recursive: true })
  })
  const filling = database.transaction(async (tx) => {
    await insertUser(tx, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
    // What SQLite does of its own accord when it cannot write.
    await sql`rollback`.execute(tx)
    throw new Error('database or disk is full')
  })
  await assert.rejects(filling, /disk is full/)
  assert.equal(await hasUsers(database.db), false)
})
