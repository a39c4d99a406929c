import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  blockContainers,
  blockContainersOf,
  blockContainersOfGroup,
  unblockContainers,
  unblockContainersOf,
  unblockContainersOfGroup,
} from '#/store/container-blocks.ts'
import { ensureContainer, findContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import {
  acceptGroupInvitations,
  deleteGroupInvitation,
  deleteGroupInvitations,
  deleteMember,
  findMembership,
  listGroupIdsOf,
  listGroupIdsOfAll,
  listGroupsOf,
  listMemberIds,
  listMembers,
  listMembershipsOf,
  setGroupInvitation,
  setMember,
  type GroupRole,
} from '#/store/group-members.ts'
import {
  deleteGroup,
  findGroup,
  findGroupByJoinCode,
  findGroupByName,
  insertGroup,
  listAllGroups,
  listGroups,
  setJoinCode,
  setTimetable,
  updateGroup,
  type Group,
} from '#/store/groups.ts'
import { deleteUser, insertUser, setUsersBlocked, type User } from '#/store/users.ts'
import { dialects, later, now, useStore } from '../support/store/both-databases.ts'

const noLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

for (const dialect of dialects) {
  describe(`groups in ${dialect}`, () => {
    let database: Database
    let count = 0
    useStore(dialect, (store) => (database = store))

    const newUser = (): Promise<User> => {
      const slug = `user${++count}`
      return insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    }
    const fields = (name: string) => ({ name, description: '', types: null, limits: noLimits, expiresAt: null })
    const newGroup = async (name = `group ${++count}`): Promise<Group> => {
      const group = await insertGroup(database.db, { ...fields(name), source: 'local', createdAt: now })
      assert.ok(group)
      return group
    }
    const join = (group: Group, user: User, role: GroupRole = 'member', source = 'local') =>
      setMember(database.db, { groupId: group.id, userId: user.id, role, source, now })

    test('a group is read as it was stored, with the number of its members', async () => {
      const all = {
        name: 'Physik 7b',
        description: 'Herr Berg',
        types: ['dev', 'ümlaut'],
        limits: { running: 2, memory: 4 * 1024 ** 3, cpus: 1.5, gpus: 3, disk: 10 ** 12 },
        expiresAt: later(1),
      }
      const made = await insertGroup(database.db, { ...all, source: 'school', createdAt: now })
      assert.ok(made)
      assert.deepEqual(made, { ...all, id: made.id, source: 'school', createdAt: now, timetable: null, folder: null })
      await join(made, await newUser())
      assert.deepEqual(await findGroup(database.db, made.id), { ...made, memberCount: 1 })
      assert.deepEqual(await findGroupByName(database.db, 'Physik 7b'), made)
      await updateGroup(database.db, made.id, fields('Physik 8b'))
      assert.deepEqual(await findGroup(database.db, made.id), { ...made, ...fields('Physik 8b'), memberCount: 1 })
      assert.equal(await findGroupByName(database.db, 'Physik 7b'), undefined)
    })

    test('hours of a group are read as they were stored, stay when the group is changed, and are removed', async () => {
      const made = await newGroup()
      const timetable = {
        timeZone: 'Europe/Berlin',
        lessons: [{ days: [1, 7], minutes: 485, type: 'ümlaut' }],
        stopAt: 0,
        exceptions: [{ date: '2026-12-24', lessons: [{ minutes: 1, type: 'dev' }], stops: false }],
      }
      await setTimetable(database.db, made.id, timetable)
      await updateGroup(database.db, made.id, fields('with hours'))
      assert.deepEqual((await findGroup(database.db, made.id))?.timetable, timetable)
      await setTimetable(database.db, made.id, null)
      assert.equal((await findGroup(database.db, made.id))?.timetable, null)
    })

    test('of two groups of one name the second is not stored', async () => {
      await newGroup('twice')
      assert.equal(await insertGroup(database.db, { ...fields('twice'), source: 'local', createdAt: now }), undefined)
      await assert.rejects(updateGroup(database.db, (await newGroup()).id, fields('twice')))
    })

    test('groups are listed page by page, also by a part of the name whose wildcards count as themselves', async () => {
      const [one, two] = [await newGroup('Listed_100%'), await newGroup('listed-100')]
      const first = await listGroups(database.db, { limit: 1, after: one.id - 1 })
      assert.deepEqual(first, [{ ...one, memberCount: 0 }])
      const after = await listGroups(database.db, { limit: 9, after: one.id })
      assert.deepEqual(after[0], { ...two, memberCount: 0 })
      const found = await listGroups(database.db, { limit: 9, after: 0 }, 'STED_100%')
      assert.deepEqual(
        found.map(({ id }) => id),
        [one.id],
      )
      assert.ok((await listAllGroups(database.db)).length > 1)
    })

    test('a join code finds its group until it expires, is replaced or removed', async () => {
      const group = await newGroup()
      const find = (hash: string, at = now) => findGroupByJoinCode(database.db, hash, at)
      await setJoinCode(database.db, group.id, { hash: 'h1', expiresAt: later(5) })
      assert.equal((await find('h1', later(4)))?.id, group.id)
      assert.equal(await find('h1', later(5)), undefined)
      await setJoinCode(database.db, group.id, { hash: 'h2', expiresAt: later(5) })
      assert.equal(await find('h1'), undefined)
      assert.equal((await find('h2'))?.id, group.id)
      await setJoinCode(database.db, group.id, null)
      assert.equal(await find('h2'), undefined)
    })

    test('a member is in a group once, with the role and source that were set last', async () => {
      const [group, user] = [await newGroup(), await newUser()]
      await join(group, user, 'member', 'school')
      await join(group, user, 'manager')
      const membership = { groupId: group.id, userId: user.id, role: 'manager', source: 'local', name: null }
      assert.deepEqual(await findMembership(database.db, group.id, user.id), membership)
      assert.deepEqual(await listMembershipsOf(database.db, user.id), [membership])
      assert.deepEqual(await listGroupIdsOf(database.db, user.id), [group.id])
      assert.deepEqual(await listGroupIdsOfAll(database.db, [user.id, 0]), new Map([[user.id, [group.id]]]))
      assert.deepEqual(await listGroupsOf(database.db, user.id), [{ id: group.id, name: group.name, role: 'manager' }])
      assert.equal(await deleteMember(database.db, group.id, user.id), true)
      assert.equal(await deleteMember(database.db, group.id, user.id), false)
      assert.equal(await findMembership(database.db, group.id, user.id), undefined)
    })

    test('members are listed page by page', async () => {
      const group = await newGroup()
      const users = [await newUser(), await newUser(), await newUser()]
      for (const user of users) await join(group, user)
      const ids = users.map(({ id }) => id)
      assert.deepEqual(await listMemberIds(database.db, group.id, { limit: 2, after: 0 }), ids.slice(0, 2))
      const rest = await listMembers(database.db, group.id, { limit: 2, after: ids[1] ?? 0 })
      assert.deepEqual(rest, [{ user: users[2], role: 'member', name: null }])
    })

    test('members are listed page by page by whether a container of these types is blocked', async () => {
      const [group, ann, ben] = [await newGroup(), await newUser(), await newUser()]
      for (const user of [ann, ben]) await join(group, user)
      const { id } = await ensureContainer(database.db, ann.id, 'dev', 'image', now)
      await ensureContainer(database.db, ben.id, 'dev', 'image', now)
      await blockContainers(database.db, [id], { by: ann.id, at: now })
      const page = { limit: 9, after: 0 }
      const listed = async (isBlocked: boolean, types: string[] | null) =>
        (await listMembers(database.db, group.id, page, { isBlocked, types })).map(({ user }) => user.id)
      for (const types of [['dev'], null]) assert.deepEqual(await listed(true, types), [ann.id])
      assert.deepEqual(await listed(false, ['dev']), [ben.id])
      for (const types of [['prod'], []])
        assert.deepEqual([await listed(true, types), await listed(false, types)], [[], [ann.id, ben.id]])
    })

    test('memberships and invitations end with the user, or with the group', async () => {
      const [one, two, user] = [await newGroup(), await newGroup(), await newUser()]
      await join(one, user)
      await deleteUser(database.db, user.id)
      assert.equal((await findGroup(database.db, one.id))?.memberCount, 0)
      const invited = await newUser()
      await setGroupInvitation(database.db, {
        groupId: two.id,
        email: invited.email,
        role: 'member',
        by: 'b@x.org',
        now,
      })
      await deleteGroup(database.db, two.id)
      assert.deepEqual(await acceptGroupInvitations(database.db, invited, now), [])
    })

    test('an invited address becomes a member once, and a membership that is there already stays', async () => {
      const [one, two, three, user] = [await newGroup(), await newGroup(), await newGroup(), await newUser()]
      const invite = (group: Group, role: GroupRole) =>
        setGroupInvitation(database.db, { groupId: group.id, email: user.email, role, by: 'operator root', now })
      const named = {
        groupId: one.id,
        email: user.email,
        role: 'member' as const,
        by: 'operator root',
        name: 'Ann Lee',
      }
      await setGroupInvitation(database.db, { ...named, now })
      await invite(one, 'manager')
      await invite(two, 'member')
      await invite(three, 'member')
      await join(two, user, 'manager')
      await deleteGroupInvitation(database.db, three.id, user.email)
      const accepted = await acceptGroupInvitations(database.db, user, now)
      assert.deepEqual(accepted, [{ groupId: one.id, email: user.email, role: 'manager', by: 'operator root' }])
      const roles = (await listMembershipsOf(database.db, user.id)).map(({ groupId, role }) => [groupId, role])
      assert.deepEqual(roles, [
        [two.id, 'manager'],
        [one.id, 'manager'],
      ])
      const member = { groupId: one.id, userId: user.id, role: 'member' as const, source: 'local', now }
      await setMember(database.db, member)
      assert.equal((await findMembership(database.db, one.id, user.id))?.name, 'Ann Lee')
      await setMember(database.db, { ...member, name: null })
      assert.equal((await findMembership(database.db, one.id, user.id))?.name, null)
      assert.deepEqual(await acceptGroupInvitations(database.db, user, now), [])
    })

    test('an invitation that was not accepted for long is forgotten', async () => {
      const [group, user] = [await newGroup(), await newUser()]
      const invite = () =>
        setGroupInvitation(database.db, { groupId: group.id, email: user.email, role: 'member', by: 'b@x.org', now })
      await invite()
      await deleteGroupInvitations(database.db, later(1))
      assert.deepEqual(await acceptGroupInvitations(database.db, user, now), [])
      await invite()
      await deleteGroupInvitations(database.db, now)
      assert.equal((await acceptGroupInvitations(database.db, user, now)).length, 1)
    })

    test('unblocking a group releases what its own block has blocked, and nothing else', async () => {
      const [group, other, user] = [await newGroup(), await newGroup(), await newUser()]
      const record = (type: string) => ensureContainer(database.db, user.id, type, 'image', now)
      const [dev, prod, test, more] = [
        await record('dev'),
        await record('prod'),
        await record('test'),
        await record('m'),
      ]
      const block = { by: user.id, at: now }
      await blockContainers(database.db, [dev.id], block)
      const blocked = await blockContainersOfGroup(
        database.db,
        { id: group.id, types: ['dev', 'prod'] },
        [user.id],
        block,
      )
      assert.deepEqual(blocked, [prod.id])
      const others = await blockContainersOfGroup(database.db, { id: other.id, types: null }, [user.id], block)
      assert.deepEqual(others.toSorted(), [prod.id, test.id, more.id].toSorted())
      assert.deepEqual(await blockContainersOfGroup(database.db, { id: other.id, types: null }, [user.id], block), [])
      assert.equal((await findContainer(database.db, user.id, 'prod'))?.blockSource, `group:${group.id}`)
      assert.deepEqual(await unblockContainersOf(database.db, [user.id]), [])
      const unblocked = async (id: number, limit: number) =>
        (await unblockContainersOfGroup(database.db, id, limit)).released
      assert.deepEqual(await unblockContainersOfGroup(database.db, group.id, 10), { released: [], kept: [prod.id] })
      assert.equal((await findContainer(database.db, user.id, 'prod'))?.blockSource, `group:${other.id}`)
      assert.equal((await unblocked(other.id, 1)).length, 1)
      assert.equal((await unblocked(other.id, 9)).length, 2)
      assert.equal((await findContainer(database.db, user.id, 'dev'))?.isBlocked, true)
    })

    // One source was stored: the unblock of the first group released what the second one had blocked as well.
    test('what several groups have blocked is free when the last of them is unblocked, in whichever order', async () => {
      const [user, boss] = [await newUser(), await newUser()]
      const groups = [await newGroup(), await newGroup(), await newGroup()]
      const { id } = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      const { db } = database
      for (const order of [
        [0, 1, 2],
        [2, 1, 0],
        [1, 2, 0],
      ]) {
        for (const [at, group] of groups.entries())
          await blockContainersOfGroup(db, { id: group.id, types: null }, [user.id], { by: boss.id, at: later(at) })
        const [first, second, last] = order.map((at) => groups[at]?.id ?? 0)
        for (const each of [first, second]) {
          assert.deepEqual(await unblockContainersOfGroup(db, each ?? 0, 10), { released: [], kept: [id] })
          const found = await findContainer(db, user.id, 'dev')
          assert.deepEqual([found?.isBlocked, found?.blockedBy, found?.blockedAt], [true, boss.id, later(0)])
        }
        assert.deepEqual(await unblockContainersOfGroup(db, last ?? 0, 10), { released: [id], kept: [] })
        assert.equal((await findContainer(db, user.id, 'dev'))?.blockSource, null)
      }
      for (const group of groups)
        await blockContainersOfGroup(db, { id: group.id, types: null }, [user.id], { by: boss.id, at: now })
      assert.deepEqual(await unblockContainers(db, [id]), [id])
      for (const group of groups)
        assert.deepEqual(await unblockContainersOfGroup(db, group.id, 10), { released: [], kept: [] })
    })

    // With the owner's block as the only source, the unblock of the owner released what an administrator had blocked by itself.
    test('an administrator takes over what a group or a user has blocked, with its date; a block of theirs stays', async () => {
      const [user, boss, group] = [await newUser(), await newUser(), await newGroup()]
      const [dev, prod] = [
        await ensureContainer(database.db, user.id, 'dev', 'image', now),
        await ensureContainer(database.db, user.id, 'prod', 'image', now),
      ]
      const ids = [dev.id, prod.id]
      await blockContainersOfGroup(database.db, { id: group.id, types: ['dev'] }, [user.id], { by: user.id, at: now })
      assert.deepEqual(await blockContainersOf(database.db, [user.id], { by: user.id, at: now }), [prod.id])
      const block = { by: boss.id, at: later(1) }
      assert.deepEqual((await blockContainers(database.db, ids, block)).toSorted(), ids.toSorted())
      assert.deepEqual(await blockContainers(database.db, ids, block), [])
      const found = await findContainer(database.db, user.id, 'dev')
      assert.deepEqual([found?.blockSource, found?.blockedBy, found?.blockedAt], ['container', boss.id, now])
      assert.deepEqual(await unblockContainersOfGroup(database.db, group.id, 10), { released: [], kept: [] })
      assert.deepEqual(await unblockContainersOf(database.db, [user.id]), [])
      assert.equal((await findContainer(database.db, user.id, 'prod'))?.blockSource, 'container')
    })

    test('what a user and a group have blocked is free when both are unblocked, whichever was blocked and unblocked first', async () => {
      const [user, boss, group] = [await newUser(), await newUser(), await newGroup()]
      const { id } = await ensureContainer(database.db, user.id, 'dev', 'image', now)
      await ensureContainer(database.db, user.id, 'prod', 'image', now)
      const { db } = database
      const blockUser = async () => {
        await setUsersBlocked(db, [user.id], true)
        await blockContainersOf(db, [user.id], { by: boss.id, at: now })
      }
      const unblockUser = async () => {
        await setUsersBlocked(db, [user.id], false)
        await unblockContainersOf(db, [user.id])
      }
      const types = { id: group.id, types: ['dev'] }
      const blockGroup = () => blockContainersOfGroup(db, types, [user.id], { by: user.id, at: later(1) })
      const unblockGroup = () => unblockContainersOfGroup(db, group.id, 10)
      const state = async () => {
        const found = await findContainer(db, user.id, 'dev')
        return [found?.blockSource, found?.blockedBy, found?.blockedAt]
      }
      const ofGroup = `group:${group.id}`
      for (const isGroupFirst of [false, true]) {
        const first = isGroupFirst ? [user.id, later(1)] : [boss.id, now]
        for (const isGroupReleasedFirst of [false, true]) {
          if (isGroupFirst) await blockGroup()
          await blockUser()
          if (!isGroupFirst) assert.deepEqual(await blockGroup(), [id])
          assert.deepEqual(await state(), [ofGroup, ...first])
          if (isGroupReleasedFirst) {
            assert.deepEqual(await unblockGroup(), { released: [], kept: [id] })
            assert.deepEqual(await state(), ['user', ...first])
            await unblockUser()
          } else {
            await unblockUser()
            assert.deepEqual(await state(), [ofGroup, ...first])
            assert.equal((await findContainer(db, user.id, 'prod'))?.isBlocked, false)
            assert.deepEqual(await unblockGroup(), { released: [id], kept: [] })
          }
          assert.deepEqual(await state(), [null, null, null])
        }
      }
    })
  })
}
