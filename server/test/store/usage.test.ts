import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Database } from '#/store/database.ts'
import { deleteOldUsage, sumUsage } from '#/store/usage/usage-sums.ts'
import { deleteUser, insertUser } from '#/store/users/users.ts'
import type { PendingUsage } from '#/usage/usage-recorder.ts'
import { sumsOf } from '#/usage/usage-samples.ts'
import { UsageReport } from '#/usage/usage-report.ts'
import { UsageWriter } from '#/usage/usage-writer.ts'
import { dialects, useStore } from '../support/store/both-databases.ts'

const now = new Date('2026-01-02T03:04:05.678Z')
const gib = 1_073_741_824
const idle = { seconds: 60, isPaused: false, isUsed: false, idleFor: 1_860, cores: 2, memory: gib }
const noGroups = { isEmpty: true, find: () => [] }
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
      const page = await report.read({ unit: 'month', by: 'user', limit: 10, offset: 0 }, now)
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
      pending = [of(4711, '2026-01-09')]
      await writer.write()
      assert.equal((await running('all', 0)).length, before)
      assert.equal(pending.length, 1)
      fault = 'after'
      await writer.write()
      assert.equal(pending.length, 0)
      fault = undefined
      await writer.stop()
      assert.deepEqual(await running('user', 4711), [['2026-01-09', 60]])
    })

    test('sums of periods before the retention are deleted, and only those', async () => {
      await deleteOldUsage(database.db, 'day', '2026-01-02')
      assert.deepEqual(
        (await running('all', 0)).map(([day]) => day),
        ['2026-01-02', '2026-01-09'],
      )
    })

    test('users are listed for one period at a time', async () => {
      const report = new UsageReport(database.db, settings)
      const request = {
        unit: 'day',
        by: 'user',
        from: '2026-01-01',
        until: '2026-01-02',
        limit: 10,
        offset: 0,
      } as const
      await assert.rejects(report.read(request, now), { status: 400 })
    })
  })
}
