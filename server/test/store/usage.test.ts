import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '#/store/database.ts'
import { addUsage, deleteOldUsage, sumUsage, type UsageRow } from '#/store/usage-sums.ts'
import { setMember } from '#/store/group-members.ts'
import { insertGroup } from '#/store/groups.ts'
import { deleteUser, insertUser } from '#/store/users.ts'
import { UsageWriter, sumsOf, type PendingUsage } from '#/usage/usage-recorder.ts'
import { UsageReport } from '#/usage/usage-report.ts'
import { usageRetention } from '#/usage/open-usage.ts'
import { dialects, now, useStore } from '../support/store/both-databases.ts'

const gib = 1_073_741_824
const idle = { seconds: 60, isPaused: false, isUsed: false, idleFor: 1_860, cores: 2, memory: gib }
const noGroups = { isEmpty: true, find: () => [] }
const noLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
const oldRow = { unit: 'day', kind: 'user', period: '2025-01-01', container_type: 'dev' } as const
const settings = { timeZone: 'UTC', keepDays: 30, keepMonths: 24 }

for (const dialect of dialects) {
  describe(`sums of use in ${dialect}`, () => {
    let database: Database
    useStore(dialect, (store) => (database = store))
    let pending: PendingUsage[] = []
    const recorder = {
      take: () => pending.splice(0),
      putBack: (left: readonly PendingUsage[]) => void (pending = [...left, ...pending]),
    }
    const warnings: unknown[] = []
    const log = { warn: (...said: unknown[]) => void warnings.push(said) }
    const of = (userId: number, day = '2026-01-02') => ({ day, userId, type: 'dev', sums: sumsOf(idle) })
    const running = async (kind: 'user' | 'all', subjectId: number) => {
      const query = { unit: 'day', from: '2026-01-01', until: '2026-01-31', kind, subjectId, by: 'period' } as const
      return (await sumUsage(database.db, query, { limit: 10, offset: 0 })).map(({ key, sums }) => [
        key,
        sums.running_s,
      ])
    }

    test('sums add up over writes, by day and by month, of a user and of all', async () => {
      const { id } = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
      const writer = new UsageWriter({ database, recorder, directory: noGroups, log })
      for (const day of ['2026-01-01', '2026-01-02', '2026-01-02']) {
        pending = [of(id, day)]
        await writer.write()
      }
      assert.deepEqual(await running('user', id), [
        ['2026-01-01', 60],
        ['2026-01-02', 120],
      ])
      const report = new UsageReport(database.db, settings)
      const page = await report.read({ unit: 'month', by: 'user', limit: 10, sort: 'running', after: 0 }, now)
      assert.deepEqual(
        page.rows.map(({ name, sums }) => [name, sums.running_s, sums.idle_30_s]),
        [['ann@x.org', 180, 180]],
      )
      await deleteUser(database.db, id)
      assert.deepEqual(await running('user', id), [])
      assert.deepEqual(await running('all', 0), [
        ['2026-01-01', 60],
        ['2026-01-02', 120],
      ])
    })

    test('what could not be written is written later, once; also when only the answer was lost', async () => {
      const before = (await running('all', 0)).length
      let fault: 'before' | 'after' | undefined = 'before'
      const fragile = {
        ...database,
        db: database.db,
        transaction: async <T>(work: Parameters<typeof database.transaction<T>>[0]): Promise<T> => {
          if (fault === 'before') throw new Error('the store is gone')
          const result = await database.transaction(work)
          if (fault === 'after') throw new Error('the answer is lost')
          return result
        },
      } as Database
      const writer = new UsageWriter({ database: fragile, recorder, directory: noGroups, log })
      const { id } = await insertUser(database.db, { email: 'bob@x.org', slug: 'bob', isAdmin: false, now })
      pending = [of(id, '2026-01-09')]
      await writer.write()
      assert.equal((await running('all', 0)).length, before)
      assert.equal(pending.length, 1)
      fault = 'after'
      await writer.write()
      assert.equal(pending.length, 0)
      fault = undefined
      await writer.stop()
      assert.deepEqual(await running('user', id), [['2026-01-09', 60]])
    })

    // A restart of PostgreSQL: the commit gets no answer, and the store is still away when it is asked what it has.
    test('a batch whose commit got no answer counts once, also when the store cannot be asked about it at first', async () => {
      let faults = 0
      const fragile = {
        ...database,
        get db() {
          if (faults-- > 0) throw new Error('the store is gone')
          return database.db
        },
        transaction: async <T>(work: Parameters<typeof database.transaction<T>>[0]): Promise<T> => {
          const result = await database.transaction(work)
          if (faults-- > 0) throw new Error('the answer is lost')
          return result
        },
      } as Database
      const writer = new UsageWriter({ database: fragile, recorder, directory: noGroups, log })
      const { id } = await insertUser(database.db, { email: 'max@x.org', slug: 'max', isAdmin: false, now })
      pending = [of(id, '2026-01-07')]
      faults = 2
      await writer.write()
      pending.push(of(id, '2026-01-08'))
      await writer.write()
      assert.deepEqual(await running('user', id), [
        ['2026-01-07', 60],
        ['2026-01-08', 60],
      ])
      assert.deepEqual(pending, [])
    })

    test('what an account used before its deletion counts for all, and leaves no sum of a user behind', async () => {
      const { id } = await insertUser(database.db, { email: 'cat@x.org', slug: 'cat', isAdmin: false, now })
      const before = (await running('all', 0)).length
      pending = [of(id, '2026-01-10')]
      await deleteUser(database.db, id)
      await new UsageWriter({ database, recorder, directory: noGroups, log }).write()
      assert.deepEqual(await running('user', id), [])
      assert.equal((await running('all', 0)).length, before + 1)
    })

    test('sums of periods before the retention are deleted, and only those', async () => {
      await deleteOldUsage(database.db, 'day', '2026-01-02')
      assert.deepEqual(
        (await running('all', 0)).map(([day]) => day),
        ['2026-01-02', '2026-01-07', '2026-01-08', '2026-01-09', '2026-01-10'],
      )
    })

    // 50,000 homes write 50,000 rows a day: a run deletes fewer, and the next ones, every 30 s, have to go on.
    test('of more old sums than one run deletes nothing is left after the next run of the same day', async () => {
      const old = (userId: number): UsageRow => ({ ...oldRow, subject_id: userId, ...sumsOf(idle) })
      for (let first = 1; first <= 20_500; first += 500)
        await addUsage(
          database.db,
          Array.from({ length: 500 }, (_, at) => old(first + at)),
        )
      const query = { unit: 'day', from: '2025-01-01', until: '2025-01-01', kind: 'user', by: 'subject_id' } as const
      const left = async () => (await sumUsage(database.db, query, { limit: 1_000, offset: 0 })).length
      const task = usageRetention(database, 'UTC', 30, 24, () => true)
      await task.run(now)
      assert.equal(await left(), 500)
      await task.run(now)
      assert.equal(await left(), 0)
    })

    test('users are listed for one period at a time', async () => {
      const report = new UsageReport(database.db, settings)
      const request = {
        unit: 'day',
        by: 'user',
        from: '2026-01-01',
        until: '2026-01-02',
        limit: 10,
        sort: 'running',
        after: 0,
      } as const
      await assert.rejects(report.read(request, now), { status: 400 })
      const ofUser = { ...request, from: '2026-01-02', user: 'ann@x.org' }
      await assert.rejects(report.read({ ...ofUser, by: 'group' }, now), { status: 400 })
      await assert.rejects(report.read({ ...ofUser, by: 'type', groupId: 1 }, now), { status: 400 })
      await assert.rejects(report.read({ ...ofUser, by: 'type', user: 'unknown@x.org' }, now), { status: 404 })
      const gone = await report.read({ ...ofUser, by: 'type', user: '4711' }, now)
      assert.deepEqual([gone.subject, gone.rows], [{ kind: 'user', id: 4711, name: null }, []])
    })

    test('a report by user about one user, and by group about one group, has the row of that one', async () => {
      const { id } = await insertUser(database.db, { email: 'gil@x.org', slug: 'gil', isAdmin: false, now })
      const other = await insertUser(database.db, { email: 'hal@x.org', slug: 'hal', isAdmin: false, now })
      const fields = { description: '', types: null, limits: noLimits, expiresAt: null, source: 'local' } as const
      const groups = await Promise.all(
        ['Compilers', 'Networks'].map((name) => insertGroup(database.db, { ...fields, name, createdAt: now })),
      )
      const directory = { isEmpty: false, find: () => groups.flatMap((group) => group ?? []) }
      for (const each of [id, other.id, other.id]) {
        pending = [of(each, '2026-01-12')]
        await new UsageWriter({ database, recorder, directory, log }).write()
      }
      const report = new UsageReport(database.db, settings)
      const range = { unit: 'day', from: '2026-01-12', until: '2026-01-12', limit: 1, after: 0 } as const
      for (const sort of ['running', 'key'] as const) {
        const ofUser = await report.read({ ...range, sort, by: 'user', user: 'gil@x.org' }, now)
        assert.deepEqual([ofUser.rows.map(({ key, sums }) => [key, sums.running_s]), ofUser.next], [[[id, 60]], null])
        const groupId = groups[1]?.id
        const ofGroup = await report.read({ ...range, sort, by: 'group', groupId }, now)
        assert.deepEqual(
          [ofGroup.rows.map(({ key, name }) => [key, name]), ofGroup.next],
          [[[groupId, 'Networks']], null],
        )
      }
    })

    test('users of a group are its present members, in its types; users and groups are paged by id, too', async () => {
      const fields = { name: 'Algorithms', description: '', types: ['dev'], limits: noLimits, expiresAt: null }
      const group = await insertGroup(database.db, { ...fields, source: 'local', createdAt: now })
      assert.ok(group)
      const ids: number[] = []
      for (const name of ['dan', 'eve', 'fay']) {
        const user = await insertUser(database.db, { email: `${name}@x.org`, slug: name, isAdmin: false, now })
        ids.push(user.id)
        pending.push({ ...of(user.id, '2026-01-11'), type: name === 'eve' ? 'prod' : 'dev' })
        const membership = { groupId: group.id, userId: user.id, role: 'member', source: 'local', now } as const
        if (name !== 'fay') await setMember(database.db, membership)
      }
      await new UsageWriter({ database, recorder, directory: noGroups, log }).write()
      const report = new UsageReport(database.db, settings)
      const day = { unit: 'day', by: 'user', from: '2026-01-11', until: '2026-01-11', limit: 2 } as const
      const names = async (more: object) => {
        const page = await report.read({ ...day, sort: 'key', after: 0, ...more }, now)
        return [page.rows.map(({ name }) => name), page.next]
      }
      assert.deepEqual(await names({ groupId: group.id }), [['dan@x.org'], null])
      assert.deepEqual(await names({}), [['dan@x.org', 'eve@x.org'], ids[1]])
      assert.deepEqual(await names({ after: ids[1] }), [['fay@x.org'], null])
      assert.deepEqual(await names({ sort: 'running', type: 'dev' }), [['dan@x.org', 'fay@x.org'], null])
    })
  })
}
