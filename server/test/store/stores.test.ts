import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { auditHead, insertAuditEntries, listAuditEntries } from '#/store/audit-log.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import { installationName, type Database } from '#/store/database.ts'
import {
  deleteRemovals,
  forgetHomes,
  insertRemovals,
  keepHomes,
  keptAmong,
  listDueOwners,
  listRemovals,
  notKept,
  notKeptUntil,
  pendingRemovals,
  postponeHomes,
} from '#/store/removals.ts'
import { insertRevokedTokens, listRevokedTokens } from '#/store/session-ends.ts'
import { blockContainers, blockContainersOf, unblockContainersOf } from '#/store/container-blocks.ts'
import { deleteUser, findUser, findUsers, listRecentUsersOf, setUsersBlocked, type User } from '#/store/users.ts'
import {
  deleteContainer,
  ensureContainer,
  findContainer,
  findContainers,
  touchContainer,
} from '#/store/user-containers.ts'
import { dialects, later, newUsers, now, useStore } from '../support/store/both-databases.ts'

for (const dialect of dialects) {
  describe(dialect, () => {
    let database: Database
    const open = useStore(dialect, (store) => (database = store))

    const newUser = newUsers(() => database.db, now)

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

    test('recent users of a type are found page by page, without those who are blocked', async () => {
      const type = `lab-${dialect}`
      const users: User[] = []
      for (let number = 0; number < 6; number++) {
        const user = await newUser()
        const { id } = await ensureContainer(database.db, user.id, type, 'image', now)
        if (number !== 0) await touchContainer(database.db, id, later(number === 1 ? -1 : number))
        users.push(user)
      }
      await setUsersBlocked(database.db, [users[2]?.id ?? 0], true)
      const pageAfter = async (after: number, limit: number) =>
        (await listRecentUsersOf(database.db, type, now, { after, limit })).map(({ id }) => id)
      const recent = users.slice(3).map(({ id }) => id)
      assert.deepEqual(await pageAfter(0, 10), recent)
      assert.deepEqual(await pageAfter(0, 2), recent.slice(0, 2))
      assert.deepEqual(await pageAfter(recent[1] ?? 0, 2), recent.slice(2))
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
      const records = await findContainers(database.db, [id, other.id])
      const users = await findUsers(database.db, [user.id, free.id])
      assert.deepEqual(
        records.filter(({ isBlocked }) => isBlocked).map((record) => record.id),
        [id],
      )
      assert.deepEqual(
        users.filter(({ isBlocked }) => isBlocked).map((each) => each.id),
        [user.id],
      )
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
      await keepHomes(database.db, [home(3, 'dev'), home(4, 'dev')], notKept)
      await postponeHomes(database.db, owner(3), later(3_000))
      assert.deepEqual(await listDueOwners(database.db, notKeptUntil, 10), [owner(4), owner(3)])
      for (const each of [3, 4]) await forgetHomes(database.db, owner(each))
      await keepHomes(database.db, [home(2, 'dev')], later(500))
      assert.deepEqual(await due(500), [owner(2)])
      assert.deepEqual(await keptAmong(database.db, ['v-1-dev', 'v-9-dev']), new Set(['v-1-dev']))
      assert.deepEqual(await keptAmong(database.db, []), new Set())
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
      const [entry] = (await listAuditEntries(database.db, { limit: 1 })).entries
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
