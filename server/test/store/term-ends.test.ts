import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '#/store/database.ts'
import { insertGroup, deleteGroup, localSource } from '#/store/groups.ts'
import {
  countTermEndMembers,
  deleteTermEnd,
  findTermEnd,
  findTermEndOf,
  giveUpTermEnd,
  hasOpenTermEnd,
  insertTermEnd,
  insertTermEndMembers,
  listDueMembers,
  listTermEndMembers,
  listTermEnds,
  moveTermEnd,
  postponeMember,
  retryMembers,
  setMemberState,
  setStartedBy,
  setTermEndProblem,
} from '#/store/term-ends.ts'
import {
  countDownload,
  findLinkedArchives,
  hasAcceptedLink,
  insertArchiveLink,
  listArchivesOf,
  listArchivesOfAll,
  noteHomeWritten,
  noteLinkAccepted,
  setHomeArchive,
  sumArchives,
} from '#/store/home-archives.ts'
import { insertUser, setUsersBlocked } from '#/store/users.ts'
import { dialects, useStore } from '../support/store/both-databases.ts'

const now = new Date('2027-07-31T20:00:00.123Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

for (const dialect of dialects) {
  describe(`ends of terms in ${dialect}`, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))

    async function begin(name: string, count = 1) {
      const { db } = database
      const fields = {
        name,
        description: '',
        types: null,
        limits,
        expiresAt: null,
        source: localSource,
        createdAt: now,
      }
      const group = await insertGroup(db, fields)
      assert.ok(group)
      const id = await insertTermEnd(db, {
        groupId: group.id,
        groupName: name,
        removesAccounts: true,
        removeAt: now,
        keepUntil: later(10_000),
        groupEnd: null,
        startedAt: now,
        actorId: null,
        actorName: 'operator root',
        language: 'de',
      })
      const members = Array.from({ length: count }, (_, at) => ({
        userId: 100 + at,
        email: `m${at}@x.org`,
        slug: `m${at}`,
        stays: at === 0 ? null : ('group' as const),
      }))
      await insertTermEndMembers(db, id, members)
      const all = await listTermEndMembers(db, id, { limit: 1_000, after: 0 })
      return { db, id, groupId: group.id, all, first: all[0]! }
    }

    test('one is found by its group until it is cancelled, moves on once, and outlives the group', async () => {
      const { db, id, groupId } = await begin('Moves')
      assert.equal((await findTermEndOf(db, groupId))?.id, id)
      assert.equal(await hasOpenTermEnd(db, groupId), true)
      assert.deepEqual(
        await Promise.all([
          moveTermEnd(db, id, ['archiving'], 'removing'),
          moveTermEnd(db, id, ['archiving'], 'cancelled'),
        ]).then((moved) => moved.filter(Boolean).length),
        1,
      )
      await moveTermEnd(db, id, ['removing', 'cancelled'], 'done', now)
      assert.equal(await hasOpenTermEnd(db, groupId), false)
      await setTermEndProblem(db, id, 'disk')
      await setStartedBy(db, id, { actorId: 7, actorName: 'boss@x.org', language: 'en' })
      await deleteGroup(db, groupId)
      const found = await findTermEnd(db, id)
      assert.deepEqual(
        [found?.groupId, found?.groupName, found?.phase, found?.finishedAt, found?.problem, found?.actorId],
        [null, 'Moves', 'done', now, null, 7],
      )
      await moveTermEnd(db, id, ['done'], 'cancelled')
      assert.equal(await findTermEndOf(db, groupId), undefined)
      assert.ok((await listTermEnds(db)).some((each) => each.id === id))
    })

    test('members are due by their state and time, and failed ones begin again', async () => {
      const { db, id, all } = await begin('Members', 450)
      assert.equal(all.length, 450)
      assert.deepEqual(await countTermEndMembers(db, id), {
        waiting: 450,
        archived: 0,
        mailed: 0,
        done: 0,
        kept: 0,
        failed: 0,
      })
      const [one, two, three] = all
      assert.ok(one && two && three)
      await postponeMember(db, one.id, { problem: 'archive', attempts: 3, retryAt: later(1) })
      await setMemberState(db, two.id, 'failed', 'mail')
      await setMemberState(db, three.id, 'mailed')
      const due = await listDueMembers(db, id, ['waiting', 'failed'], now, 500)
      assert.equal(due.length, 449 - 1)
      assert.ok(due.every(({ id: each }) => each !== one.id && each !== three.id))
      assert.equal((await listDueMembers(db, id, ['waiting'], later(1), 500)).at(-1)?.attempts, 3)
      assert.equal(await retryMembers(db, id), 1)
      assert.equal((await listDueMembers(db, id, ['waiting'], now, 500)).length, 449)
      assert.deepEqual(
        (await listTermEndMembers(db, id, { limit: 2, after: one.id })).map(({ userId, stays }) => [userId, stays]),
        [
          [101, 'group'],
          [102, 'group'],
        ],
      )
    })

    test('a link finds the archives of one member until their date, counts downloads, and goes with the rest', async () => {
      const { db, id, first } = await begin('Links', 2)
      const archive = { memberId: first.id, type: 'lab', file: `${id}/a.tar.gz`, recordState: '1 2 -', now }
      await setHomeArchive(db, { ...archive, bytes: 5_000_000_000 })
      await setHomeArchive(db, { ...archive, bytes: 6_000_000_000, recordState: '1 3 -' })
      await setHomeArchive(db, { ...archive, type: 'dev', file: `${id}/b.tar.gz`, bytes: 1 })
      assert.deepEqual(await sumArchives(db, id), { count: 2, bytes: 6_000_000_001 })
      assert.deepEqual(
        (await listArchivesOf(db, first.id)).map(({ type, bytes, recordState }) => [type, bytes, recordState]),
        [
          ['dev', 1, '1 2 -'],
          ['lab', 6_000_000_000, '1 3 -'],
        ],
      )
      assert.equal((await listArchivesOfAll(db, [first.id])).length, 2)
      assert.deepEqual(await listArchivesOfAll(db, []), [])
      const hash = `hash of ${dialect}`
      await insertArchiveLink(db, first.id, hash, now)
      assert.equal(await hasAcceptedLink(db, first.id), false)
      await noteLinkAccepted(db, hash, now)
      assert.equal(await hasAcceptedLink(db, first.id), true)
      const found = await findLinkedArchives(db, hash, later(9_999))
      assert.deepEqual(
        [found?.userId, found?.groupName, found?.keepUntil, found?.archives.length],
        [100, 'Links', later(10_000), 2],
      )
      assert.equal(await findLinkedArchives(db, hash, later(10_000)), undefined)
      assert.equal(await findLinkedArchives(db, 'another', now), undefined)
      assert.deepEqual(
        [
          await countDownload(db, first.id, 2),
          await countDownload(db, first.id, 2),
          await countDownload(db, first.id, 2),
        ],
        [true, true, false],
      )
      await deleteTermEnd(db, id)
      for (const table of ['term_end_members', 'home_archives', 'archive_links'] as const) {
        const rows: Record<string, unknown>[] = await db.selectFrom(table).selectAll().execute()
        assert.equal(
          rows.some((row) => row.term_end_id === id || row.member_id === first.id),
          false,
          table,
        )
      }
    })

    test('one that is late fails for those who are left, and keeps nothing of the others and no archive', async () => {
      const { db, id, all } = await begin('Late', 5)
      const states = ['waiting', 'mailed', 'done', 'kept', 'failed'] as const
      for (const [at, state] of states.entries()) await setMemberState(db, all[at]!.id, state)
      const archive = { memberId: all[1]!.id, type: 'lab', file: 'a', bytes: 1, recordState: '1 2 -', now }
      await setHomeArchive(db, archive)
      assert.equal(await database.transaction((tx) => giveUpTermEnd(tx, id, now)), 2)
      assert.deepEqual(
        (await listTermEndMembers(db, id, { limit: 10, after: 0 })).map(({ userId, state }) => [userId, state]),
        [100, 101, 104].map((userId) => [userId, 'failed']),
      )
      assert.deepEqual(await listArchivesOf(db, all[1]!.id), [])
      assert.equal((await findTermEnd(db, id))?.phase, 'done')
      assert.equal(await database.transaction((tx) => giveUpTermEnd(tx, id, now)), undefined)
    })

    test('a home that is written makes its own archive old, and no other', async () => {
      const { db, all } = await begin('Written', 2)
      const archive = { file: 'a', bytes: 1, recordState: '1 2 -', now }
      for (const { id: memberId } of all)
        for (const type of ['lab', 'dev']) await setHomeArchive(db, { ...archive, memberId, type })
      await noteHomeWritten(db, 100, 'lab')
      const kept = await listArchivesOfAll(
        db,
        all.map(({ id }) => id),
      )
      const old = kept.filter(({ recordState }) => recordState !== '1 2 -')
      assert.deepEqual(
        old.map(({ memberId, type }) => [memberId, type]),
        [[all[0]!.id, 'lab']],
      )
    })

    test('a link leads nowhere while its holder is blocked', async () => {
      const { db, first } = await begin('Blocked')
      const user = await insertUser(db, { email: 'blocked@x.org', slug: 'blocked', isAdmin: false, now })
      await db.updateTable('term_end_members').set({ user_id: user.id }).where('id', '=', first.id).execute()
      const hash = `blocked in ${dialect}`
      await insertArchiveLink(db, first.id, hash, now)
      assert.ok(await findLinkedArchives(db, hash, now))
      await setUsersBlocked(db, [user.id], true)
      assert.equal(await findLinkedArchives(db, hash, now), undefined)
    })

    test('a link of a cancelled end of term leads nowhere', async () => {
      const { db, id, first } = await begin('Cancelled')
      await insertArchiveLink(db, first.id, `cancelled in ${dialect}`, now)
      assert.ok(await findLinkedArchives(db, `cancelled in ${dialect}`, now))
      await moveTermEnd(db, id, ['archiving'], 'cancelled')
      assert.equal(await findLinkedArchives(db, `cancelled in ${dialect}`, now), undefined)
    })
  })
}
