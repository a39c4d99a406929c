import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Scope } from '@berth/api/scopes.ts'
import { ApiTokens } from '#/accounts/api-tokens.ts'
import type { Refusal } from '#/refusals/errors.ts'
import { beginClockJump } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteApiToken,
  deleteExpiredApiTokens,
  findApiToken,
  insertApiToken,
  listApiTokens,
  listApiTokensOf,
  noteApiTokenUsed,
} from '#/store/api-tokens.ts'
import { deleteUser, insertUser, setUserAdmin, setUsersBlocked, type User } from '#/store/users.ts'
import { dialects, later, now, useStore } from '../support/store/both-databases.ts'

const hour = 3_600_000

for (const dialect of dialects) {
  describe(`API tokens in ${dialect}`, () => {
    let database: Database
    let users = 0
    useStore(dialect, (store) => (database = store))

    const newUser = (): Promise<User> => {
      const slug = `user${++users}`
      return insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: true, now })
    }
    const add = (
      { id }: User,
      tokenHash: string,
      scopes: readonly Scope[] = ['containers:read'],
      expiresAt = later(hour),
    ) => insertApiToken(database.db, { userId: id, tokenHash, name: 'x', scopes, createdAt: now, expiresAt })
    const idsOf = async ({ id }: User) => (await listApiTokensOf(database.db, id)).map((token) => token.id)

    test('a token is found by its hash with its owner, until it expires', async () => {
      const user = await newUser()
      const token = await add(user, 'found', ['containers:read', 'admin:write'])
      assert.deepEqual(await findApiToken(database.db, 'found', now), { token, owner: user })
      assert.deepEqual(token.scopes, ['containers:read', 'admin:write'])
      assert.equal(token.lastUsed, null)
      assert.equal(await findApiToken(database.db, 'found', later(hour)), undefined)
      assert.equal(await findApiToken(database.db, 'another', now), undefined)
      await assert.rejects(add(user, 'found'))
    })

    test('lists are newest first, of one user or of all, page by page', async () => {
      const [ann, bob] = [await newUser(), await newUser()]
      const ids = [await add(ann, 'l1'), await add(bob, 'l2'), await add(ann, 'l3')].map(({ id }) => id)
      assert.deepEqual(await idsOf(ann), [ids[2], ids[0]])
      const all = await listApiTokens(database.db, { limit: 2 })
      assert.deepEqual(
        all.map(({ id, email }) => [id, email]),
        [
          [ids[2], ann.email],
          [ids[1], bob.email],
        ],
      )
      const [next] = await listApiTokens(database.db, { limit: 1, before: ids[1] })
      assert.equal(next?.id, ids[0])
      const [ofBob] = await listApiTokens(database.db, { limit: 5 }, bob.id)
      assert.equal(ofBob?.id, ids[1])
    })

    test('the last use moves forward only when the one before is old enough', async () => {
      const token = await add(await newUser(), 'used')
      assert.equal(await noteApiTokenUsed(database.db, token.id, now, later(-60_000)), true)
      assert.equal(await noteApiTokenUsed(database.db, token.id, later(30_000), later(-30_000)), false)
      assert.equal(await noteApiTokenUsed(database.db, token.id, later(60_000), now), true)
      assert.deepEqual((await findApiToken(database.db, 'used', now))?.token.lastUsed, later(60_000))
    })

    test("deletion is of one's own only where that is asked for, and of what expired before an instant", async () => {
      const [ann, bob] = [await newUser(), await newUser()]
      const [first, second] = [await add(ann, 'd1'), await add(ann, 'd2', ['containers:read'], later(-hour))]
      assert.equal(await deleteApiToken(database.db, first.id, bob.id), undefined)
      await deleteExpiredApiTokens(database.db, now)
      assert.deepEqual(await idsOf(ann), [first.id])
      assert.equal((await deleteApiToken(database.db, first.id, ann.id))?.id, first.id)
      assert.equal(await deleteApiToken(database.db, second.id), undefined)
    })

    test('a block deletes all, a demotion those of administrators, a deletion of the user all', async () => {
      const [ann, bob, eve] = [await newUser(), await newUser(), await newUser()]
      await add(ann, 'b1')
      const plain = await add(bob, 'b2')
      const admin = await add(bob, 'b3', ['containers:read', 'admin:read'])
      await add(eve, 'b4')
      await setUsersBlocked(database.db, [ann.id], true)
      assert.deepEqual(await idsOf(ann), [])
      await setUsersBlocked(database.db, [bob.id], false)
      assert.deepEqual(await setUserAdmin(database.db, bob.id, true), [])
      assert.deepEqual(await setUserAdmin(database.db, bob.id, false), [{ id: admin.id, userId: bob.id }])
      assert.deepEqual(await idsOf(bob), [plain.id])
      await deleteUser(database.db, eve.id)
      assert.equal(await findApiToken(database.db, 'b4', now), undefined)
    })

    test('a clock that is set back leaves a token its remaining lifetime, and revives none', async () => {
      const user = await newUser()
      await add(user, 'c1', ['containers:read'], later(hour))
      await add(user, 'c2', ['containers:read'], later(-1))
      await beginClockJump(database, -hour, later(-hour))
      assert.equal(await findApiToken(database.db, 'c2', later(-2 * hour)), undefined)
      assert.deepEqual((await findApiToken(database.db, 'c1', later(-hour)))?.token.expiresAt, now)
    })

    test('of many that are made at once an account gets no more than it may have, and each other is refused with words', async () => {
      const { id, email } = await newUser()
      await database.db.updateTable('users').set({ state: 'verified' }).where('id', '=', id).execute()
      for (let at = 0; at < 97; at++) await add({ id } as User, `many ${at}`)
      const tokens = new ApiTokens(database, { endSession: () => undefined })
      const wanted = { name: 'x', scopes: ['containers:read'], expiresIn: 60 } as const
      const make = () => tokens.create({ id, email, address: '127.0.0.1' }, id, wanted, now)
      const made = await Promise.allSettled(Array.from({ length: 20 }, make))
      const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason as Refusal] : []))
      assert.equal(refused.length, 17)
      for (const { status, sentence } of refused)
        assert.deepEqual([status, sentence.key], [409, 'requests.tooManyTokens'])
      assert.equal((await idsOf({ id } as User)).length, 100)
    })
  })
}
