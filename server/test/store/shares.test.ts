import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ensureContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { deleteMember, setMember } from '#/store/group-members.ts'
import { deleteGroup, insertGroup } from '#/store/groups.ts'
import {
  deleteEndedShares,
  deleteGroundlessLooks,
  deleteShare,
  findShare,
  listEffectiveShares,
  listMemberEmails,
  listSharedWith,
  listShares,
  listSharesOf,
  setShare,
  type ShareTarget,
} from '#/store/container-shares.ts'
import { deleteUser, insertUser, type User } from '#/store/users.ts'
import { dialects, later, now, useStore } from '../support/store/both-databases.ts'

const noLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

for (const dialect of dialects) {
  describe(`shares in ${dialect}`, () => {
    let database: Database
    let count = 0
    useStore(dialect, (store) => (database = store))

    const newUser = (): Promise<User> => {
      const slug = `sharer${++count}`
      return insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    }
    const newRecord = async (owner: User) => ensureContainer(database.db, owner.id, 'dev', 'image', now)
    const newGroup = async (members: readonly User[], expiresAt: Date | null = null) => {
      const fields = { name: `sharers ${++count}`, description: '', types: null, limits: noLimits, expiresAt }
      const group = await insertGroup(database.db, { ...fields, source: 'local', createdAt: now })
      assert.ok(group)
      const { id } = group
      for (const { id: userId } of members)
        await setMember(database.db, { groupId: id, userId, role: 'member', source: 'local', now })
      return id
    }
    const share = async (owner: User, to: ShareTarget, ms = 1_000) => {
      const { id: recordId } = await newRecord(owner)
      await setShare(database.db, { recordId, to, may: 'use', now, expiresAt: later(ms) })
    }
    const withVisitor = async (visitor: User, at = now) =>
      (await listSharedWith(database.db, visitor, at, 10)).map(({ owner }) => owner.email)

    test('one share for each address and container: later terms replace earlier ones', async () => {
      const [owner, visitor] = [await newUser(), await newUser()]
      await share(owner, { email: visitor.email })
      await share(owner, { email: visitor.email }, 5_000)
      const [found, ...others] = await listSharesOf(database.db, owner.id, 'dev', now)
      assert.equal(others.length, 0)
      assert.ok(found)
      assert.deepEqual([found.email, found.may, found.expiresAt], [visitor.email, 'use', later(5_000)])
      assert.deepEqual(await findShare(database.db, found.id), found)
      assert.equal(await deleteShare(database.db, found.id), true)
      assert.equal(await deleteShare(database.db, found.id), false)
    })

    test('a visitor sees what is shared by address or group, until it ends, and nothing of one’s own', async () => {
      const [owner, visitor] = [await newUser(), await newUser()]
      await share(owner, { email: visitor.email })
      await share(owner, { groupId: await newGroup([owner, visitor]) })
      assert.deepEqual(await withVisitor(visitor), [owner.email, owner.email])
      assert.deepEqual(await withVisitor(visitor, later(1_000)), [])
      assert.deepEqual(await withVisitor(owner), [])
    })

    test('a share with a group counts while its owner is a member and the group has not ended', async () => {
      const [owner, visitor] = [await newUser(), await newUser()]
      const groupId = await newGroup([owner, visitor], later(500))
      await share(owner, { groupId })
      const effective = async (at: Date) =>
        (await listEffectiveShares(database.db, { limit: 1_000, after: 0 }, at)).filter(
          (each) => each.owner.id === owner.id,
        ).length
      assert.deepEqual([await effective(now), await effective(later(500))], [1, 0])
      assert.deepEqual(
        (await listMemberEmails(database.db, groupId, { limit: 10, after: 0 })).map(({ email }) => email),
        [owner.email, visitor.email],
      )
      await deleteMember(database.db, groupId, owner.id)
      assert.equal(await effective(now), 0)
      assert.deepEqual(await withVisitor(visitor), [])
      await deleteGroup(database.db, groupId)
      assert.equal((await listShares(database.db, { limit: 10, after: 0 }, now, owner.id)).length, 0)
    })

    test('a look counts while its visitor manages the group and its owner is in it, and a later promotion does not bring it back', async () => {
      const [owner, manager] = [await newUser(), await newUser()]
      const askedInId = await newGroup([owner], later(500))
      const setRole = (role: 'member' | 'manager') =>
        setMember(database.db, { groupId: askedInId, userId: manager.id, role, source: 'local', now })
      await setRole('manager')
      const look = () => share(owner, { managerId: manager.id, askedInId })
      const effective = async (at = now) =>
        (await listEffectiveShares(database.db, { limit: 1_000, after: 0 }, at)).filter(
          (each) => each.owner.id === owner.id,
        ).length
      await look()
      await look()
      const [found, ...others] = await listSharesOf(database.db, owner.id, 'dev', now)
      assert.equal(others.length, 0)
      assert.deepEqual(
        [found?.email, found?.askedIn?.id, found?.groupExpiresAt],
        [manager.email, askedInId, later(500)],
      )
      assert.deepEqual([await effective(), await effective(later(500))], [1, 0])
      assert.deepEqual(await withVisitor(manager), [owner.email])
      await setRole('member')
      assert.equal(await effective(), 0)
      assert.deepEqual(await withVisitor(manager), [])
      await deleteGroundlessLooks(database.db, now)
      await setRole('manager')
      assert.equal(await effective(), 0)
      await look()
      await deleteGroundlessLooks(database.db, now)
      assert.equal(await effective(), 1)
      await deleteUser(database.db, manager.id)
      assert.deepEqual(await listSharesOf(database.db, owner.id, 'dev', now), [])
    })

    test('a look is no share with the address of the manager, and neither replaces the other', async () => {
      const [owner, manager] = [await newUser(), await newUser()]
      const askedInId = await newGroup([owner, manager])
      await share(owner, { email: manager.email })
      await share(owner, { managerId: manager.id, askedInId })
      const found = await listSharesOf(database.db, owner.id, 'dev', now)
      assert.deepEqual(
        found.map(({ email, askedIn }) => [email, askedIn?.id]),
        [
          [manager.email, undefined],
          [manager.email, askedInId],
        ],
      )
      await deleteGroup(database.db, askedInId)
      assert.equal((await listSharesOf(database.db, owner.id, 'dev', now)).length, 1)
    })

    test('shares go with their container and its owner, and when their time is over', async () => {
      const [owner, other, visitor] = [await newUser(), await newUser(), await newUser()]
      await share(owner, { email: visitor.email })
      await share(other, { email: visitor.email }, 10)
      await deleteUser(database.db, owner.id)
      assert.deepEqual(await withVisitor(visitor), [other.email])
      await deleteEndedShares(database.db, later(10))
      assert.equal((await listShares(database.db, { limit: 10, after: 0 }, new Date(0), other.id)).length, 0)
    })
  })
}
