import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '#/store/database.ts'
import {
  acceptGroupInvitations,
  findMembership,
  setGroupInvitation,
  setMember,
  type GroupRole,
} from '#/store/group-members.ts'
import { insertGroup, type Group } from '#/store/groups.ts'
import { insertUser, setUsersBlocked, type User } from '#/store/users.ts'
import { dialects, now, useStore } from '../support/store/both-databases.ts'

const fields = { description: '', types: null, expiresAt: null }
const noLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

for (const dialect of dialects) {
  describe(`authors of invitations in ${dialect}`, () => {
    let database: Database
    let count = 0
    useStore(dialect, (store) => (database = store))

    const newUser = (): Promise<User> => {
      const slug = `user${++count}`
      return insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    }
    const newGroup = async (): Promise<Group> => {
      const group = await insertGroup(database.db, {
        ...fields,
        limits: noLimits,
        name: 'g',
        source: 'local',
        createdAt: now,
      })
      assert.ok(group)
      return group
    }
    const join = (group: Group, user: User, role: GroupRole) =>
      setMember(database.db, { groupId: group.id, userId: user.id, role, source: 'local', now })

    // A manager could come back by an invitation to another address of theirs.
    test('an invitation as manager makes a member alone when its author may make none any more', async () => {
      const [group, manager, former] = [await newGroup(), await newUser(), await newUser()]
      await join(group, manager, 'manager')
      await join(group, former, 'member')
      const blocked = await newUser()
      await join(group, blocked, 'manager')
      await setUsersBlocked(database.db, [blocked.id], true)
      const roleBy = async (by: string) => {
        const user = await newUser()
        await setGroupInvitation(database.db, { groupId: group.id, email: user.email, role: 'manager', by, now })
        const [accepted] = await acceptGroupInvitations(database.db, user, now)
        assert.equal((await findMembership(database.db, group.id, user.id))?.role, accepted?.role)
        return accepted?.role
      }
      assert.equal(await roleBy(manager.email), 'manager')
      for (const operator of ['operator', 'operator root', 'operator root@corp.example'])
        assert.equal(await roleBy(operator), 'manager', operator)
      for (const author of [former.email, blocked.email, 'nobody@x.org', 'user:99999'])
        assert.equal(await roleBy(author), 'member', author)
    })
  })
}
