import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { type Database } from '#/store/database.ts'
import {
  claimSlug,
  claimSlugs,
  deleteExpiredUnverifiedUser,
  deleteUser,
  findUser,
  findUserByEmail,
  findUsers,
  hasUsers,
  insertUser,
  listExpiredUnverifiedUsers,
  listReachableUsers,
  listUsers,
  moveUserState,
  noteUserActive,
  type User,
} from '#/store/users.ts'
import {
  consumeLink,
  deleteUnknownAddressRequests,
  findUsableLink,
  insertLink,
  insertLinkRequest,
  linkRequestsSince,
} from '#/store/magic-links.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import {
  ensureContainer,
  findContainer,
  findContainers,
  noteStopped,
  noteUse,
  touchContainer,
} from '#/store/user-containers.ts'
import { dialects, later, newUsers, now, useStore } from '../support/store/both-databases.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

for (const dialect of dialects) {
  describe(dialect, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))

    const newUser = newUsers(() => database.db, now)

    test('a user comes back as stored', async () => {
      const user = await newUser({ isAdmin: true })
      assert.deepEqual(await findUser(database.db, user.id), user)
      assert.deepEqual(await findUserByEmail(database.db, user.email), user)
      assert.deepEqual(user.createdAt, now)
      assert.equal(user.isAdmin, true)
      assert.equal(user.isBlocked, false)
      assert.equal(user.lastUsed, null)
    })

    test('ids that no record can have are of none, up to what JSON carries', async () => {
      const user = await newUser()
      const record = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      const none = [0, -1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
      assert.deepEqual(await findUsers(database.db, [...none, user.id]), [user])
      assert.deepEqual(await findContainers(database.db, [...none, record.id]), [record])
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
      await migrations(dialect === 'PostgreSQL')['007-links']?.up(db)
      assert.deepEqual(await rows(), stored)
    })

    test('of requests for unknown addresses only the newest are kept', async () => {
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

    test('slugs that stand somewhere are taken, however often that is seen', async () => {
      const user = await newUser()
      await claimSlug(database.db, user.slug)
      assert.equal(await claimSlugs(database.db, [user.slug, 'seen1', 'seen2']), 2)
      assert.equal(await claimSlugs(database.db, [user.slug, 'seen1', 'seen2']), 0)
      assert.equal(await claimSlug(database.db, 'seen1'), false)
    })
  })
}

test('when SQLite ended a transaction by itself, as on a full disk, the reason is what is reported', async (t) => {
  const { database } = await openTemporaryStore(t)
  const filling = database.transaction(async (tx) => {
    await insertUser(tx, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
    // What SQLite does of its own accord when it cannot write.
    await sql`rollback`.execute(tx)
    throw new Error('database or disk is full')
  })
  await assert.rejects(filling, /disk is full/)
  assert.equal(await hasUsers(database.db), false)
})
