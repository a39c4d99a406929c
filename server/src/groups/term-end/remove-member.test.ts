import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Deletion } from '#/admin/deletion.ts'
import { ensureContainer, noteStopped } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { setMember } from '#/store/group-members.ts'
import { findGroup, insertGroup, localSource } from '#/store/groups.ts'
import { noteHomeWritten, setHomeArchive } from '#/store/home-archives.ts'
import { findTermEnd, insertTermEnd, insertTermEndMembers, listTermEndMembers } from '#/store/term-ends.ts'
import { findUser, insertUser, setUserAdmin } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { homeStateOf } from './archive-member.ts'
import { MemberOutcomes } from './member-outcomes.ts'
import { RemoveMember } from './remove-member.ts'

/** Between a plan and the removal by it there are a look at files and other people's requests. */
const now = new Date('2027-07-31T20:00:00Z')
const nothing = async () => undefined

async function makeGroup(db: Db, name: string): Promise<number> {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const fields = { name, description: '', types: ['lab'], limits, expiresAt: null, source: localSource }
  return (await insertGroup(db, { ...fields, createdAt: now }))!.id
}

/** Ann is in one group, with an archived home, and planned; `change` happens then. @returns whether her account is left */
async function removeAfter(t: TestContext, change: (db: Db, userId: number) => Promise<unknown>): Promise<boolean> {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const user = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const groupId = await makeGroup(db, 'Course')
  await setMember(db, { groupId, userId: user.id, role: 'member', source: localSource, now })
  await ensureContainer(db, user.id, 'lab', 'image', now)
  await noteStopped(db, user.id, 'lab', now)
  const fields = { groupId, groupName: 'Course', removesAccounts: true, removeAt: now, keepUntil: now, groupEnd: null }
  const by = { startedAt: now, actorId: null, actorName: 'operator root', language: 'en' } as const
  const id = await insertTermEnd(db, { ...fields, ...by })
  await insertTermEndMembers(db, id, [{ userId: user.id, email: user.email, slug: user.slug, stays: null }])
  const [member] = await listTermEndMembers(db, id, { limit: 1, after: 0 })
  const group = await findGroup(db, groupId)
  const termEnd = await findTermEnd(db, id)
  assert.ok(member && group && termEnd)
  const home = { volume: 'home', owner: { userId: user.id, slug: user.slug, type: 'lab' } }
  const { names } = unsharedHomes()
  const outcomes = new MemberOutcomes({
    db,
    runtime: { homes: async () => [home] },
    directory: { find: (ids) => [group].filter((each) => ids.includes(each.id)) },
    templates: { get: () => undefined },
    names,
    installation: 'berth',
  })
  const [planned] = await outcomes.of(group, [{ user, role: 'member' }], true, now)
  assert.ok(planned)
  const recordState = homeStateOf(planned.records, ['lab'])
  await setHomeArchive(db, { memberId: member.id, type: 'lab', file: 'f', bytes: 1, recordState, now })
  await change(db, user.id)
  const deletion = new Deletion({
    database,
    settings: {
      keepHomes: 0,
      types: ['lab'],
      homeOf: () => 'home',
      typesWith: (type) => [type],
      sharesHome: () => false,
    },
    containers: { publishUsers: nothing, finishRemovals: async () => true },
    revocations: { revokeStored: nothing },
    archives: { remove: nothing },
  })
  const files = { has: async () => true }
  const removal = new RemoveMember({ database, deletion, files, names, activate: nothing, onMembers: nothing })
  await removal.run(termEnd, member, planned, now).catch((error: unknown) => assert.match(String(error), /again/))
  return (await findUser(db, user.id)) !== undefined
}

test('a member whom the plan still describes is removed', async (t) => {
  assert.equal(await removeAfter(t, nothing), false)
})

// The deletion asked nothing of the plan: one who joined the next course at that moment lost account and home.
test('one who joined another group, became an administrator or used a home since the plan is planned again', async (t) => {
  const joins = async (db: Db, userId: number) =>
    setMember(db, { groupId: await makeGroup(db, 'Next course'), userId, role: 'member', source: localSource, now })
  assert.equal(await removeAfter(t, joins), true, 'in another group')
  assert.equal(await removeAfter(t, (db, id) => setUserAdmin(db, id, true)), true, 'an administrator')
  assert.equal(
    await removeAfter(t, (db, id) => ensureContainer(db, id, 'dev', 'image', now)),
    true,
    'another container',
  )
  assert.equal(await removeAfter(t, (db, id) => noteStopped(db, id, 'lab', null)), true, 'started')
  assert.equal(await removeAfter(t, (db, id) => noteHomeWritten(db, id, 'lab')), true, 'uploaded')
})
