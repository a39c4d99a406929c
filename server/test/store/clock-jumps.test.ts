// Needs a process of its own: it moves the clock.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import { keepHomes, listDueOwners, notKept, notKeptUntil } from '#/store/removals.ts'
import { ensureContainer, touchContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { findApiToken, insertApiToken } from '#/store/api-tokens.ts'
import { deleteExpiredLinks, findUsableLink, insertLink } from '#/store/magic-links.ts'
import { findUser, insertUser, listExpiredUnverifiedUsers, moveUserState } from '#/store/users.ts'
import { movableClock } from '../support/clock.ts'
import { dialects, useStore } from '../support/store/both-databases.ts'

const [hour, day] = [3_600_000, 86_400_000]
const inTime = (ms: number) => new Date(Date.now() + ms)

for (const dialect of dialects) {
  describe(`clock jumps in ${dialect}`, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))
    let count = 0

    const newUser = () => {
      const slug = `user${++count}`
      return insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now: new Date() })
    }
    const newToken = async (userId: number, lives: number) => {
      const fields = { userId, name: 'x', scopes: ['containers:read'], createdAt: new Date() } as const
      await insertApiToken(database.db, { ...fields, tokenHash: `hash ${userId}`, expiresAt: inTime(lives) })
      return async () => (await findApiToken(database.db, `hash ${userId}`, new Date()))?.token.expiresAt.getTime()
    }
    function jumps(t: TestContext) {
      const clock = movableClock(t)
      const begin = async (by: number) => {
        clock.set(by)
        await beginClockJump(database, by, new Date())
      }
      const jump = async (by: number) => {
        await begin(by)
        await finishClockJump(database)
      }
      return { begin, jump, pass: clock.pass }
    }

    // A board without a battery of its clock starts in the past, and the time server corrects it seconds later: every API token
    // had lost the years between, invitations were void, and the invited accounts were deleted.
    test('a clock that was behind at the boot, and is corrected, takes nothing from API tokens, links and accounts', async (t) => {
      const { begin, jump, pass } = jumps(t)
      const boot = Date.now()
      const invited = await newUser()
      const expiry = await newToken(invited.id, hour)
      const expires = await expiry()
      const link = { userId: invited.id, tokenHash: 'invitation', purpose: 'signup', ipAddress: '::1' } as const
      await insertLink(database.db, { ...link, now: new Date(), expiresAt: inTime(2 * hour) })
      const { id } = await ensureContainer(database.db, invited.id, 'dev', 'image', inTime(-100 * day))
      await touchContainer(database.db, id, new Date())

      await jump(-1_000 * day)
      pass(5_000)
      const late = await newUser()
      await begin(1_000 * day)
      for (const isFinished of [false, true]) {
        // Housekeeping runs meanwhile.
        await deleteExpiredLinks(database.db, new Date())
        assert.ok(await findUsableLink(database.db, 'invitation', 'signup', new Date()), `finished: ${isFinished}`)
        assert.deepEqual(
          await listExpiredUnverifiedUsers(database.db, { before: inTime(-day), now: new Date(), limit: 10 }),
          [],
        )
        assert.equal(await expiry(), expires)
        await finishClockJump(database)
      }
      const users = await database.db.selectFrom('users').select(['id', 'created_at']).execute()
      for (const user of [invited, late])
        assert.ok((users.find((each) => each.id === user.id)?.created_at ?? 0) >= boot, user.email)
      const container = await database.db
        .selectFrom('user_containers')
        .select(['created_at', 'last_used'])
        .executeTakeFirstOrThrow()
      assert.ok((container.last_used ?? 0) >= boot && (container.last_used ?? 0) <= Date.now())
      assert.ok(container.created_at < boot - 99 * day, 'what was right stays')
    })

    test('a jump forward gives back what jumps back have taken, once, and not what really passed', async (t) => {
      const { jump } = jumps(t)
      const { id } = await newUser()
      const expiry = await newToken(id, 10 * day)
      const expires = await expiry()
      assert.ok(expires)
      await jump(-2 * hour)
      await jump(hour)
      assert.equal(await expiry(), expires - hour)
      await jump(2 * hour)
      assert.equal(await expiry(), expires, 'an hour of the second jump has passed')
      await jump(hour)
      assert.equal(await expiry(), expires)
      await jump(10 * day)
      assert.equal(await expiry(), undefined)
    })

    // A token that is older than its account is that of another user: their sessions ended with the correction.
    test('a correction of the clock leaves the registration of who has signed in as it is', async (t) => {
      const { jump } = jumps(t)
      await jump(-hour)
      const [member, invited] = [await newUser(), await newUser()]
      await moveUserState(database.db, member.id, 'registered', 'verified')
      await jump(hour)
      const createdAt = async (id: number) => (await findUser(database.db, id))?.createdAt.getTime()
      assert.equal(await createdAt(member.id), member.createdAt.getTime())
      assert.equal(await createdAt(invited.id), invited.createdAt.getTime() + hour)
    })

    // A machine without a battery begins at 1970, and the dates of homes that were kept were those of homes that are not.
    test('no jump makes a home that is kept one that is not, nor the other way round', async (t) => {
      const { jump } = jumps(t)
      const owner = (userId: number) => ({ userId, slug: `s${userId}` })
      const home = (userId: number) => ({ ...owner(userId), type: 'dev', volume: `v-${userId}-dev` })
      await keepHomes(database.db, [home(1)], new Date(Date.now() + 20 * hour))
      await keepHomes(database.db, [home(2)], notKept)
      const unkept = () => listDueOwners(database.db, notKeptUntil, 10)
      for (const by of [60_000 - Date.now(), 60 * 365 * day]) {
        await jump(by)
        assert.deepEqual(await unkept(), [owner(2)])
      }
    })

    test('a jump forward long after a jump back gives nothing back: the machine has slept', async (t) => {
      const { jump, pass } = jumps(t)
      const { id } = await newUser()
      const expiry = await newToken(id, 30 * day)
      await jump(-hour)
      const expires = await expiry()
      pass(2 * hour)
      await jump(hour)
      assert.equal(await expiry(), expires)
    })
  })
}
