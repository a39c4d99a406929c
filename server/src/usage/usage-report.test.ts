import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUsage, type UsageRow } from '#/store/usage-sums.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { noUsage } from './usage-recorder.ts'
import { UsageRanking } from './usage-report.ts'

const day = { unit: 'day', kind: 'user', from: '2026-01-02', until: '2026-01-02', type: undefined } as const

test('users over several pages come by the time that they ran, and the order is kept for some minutes', async (t) => {
  const { database } = await openTemporaryStore(t)
  const count = 4_500
  const use = (id: number, seconds: number, type = 'dev'): UsageRow => ({
    ...noUsage,
    unit: 'day',
    kind: 'user',
    period: '2026-01-02',
    subject_id: id,
    container_type: type,
    running_s: seconds,
  })
  for (let from = 1; from <= count; from += 500)
    await addUsage(
      database.db,
      Array.from({ length: 500 }, (_, at) => use(from + at, ((from + at) * 7_919) % 4_507)),
    )
  await addUsage(database.db, [use(17, 1_000_000, 'prod')])
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const ranking = new UsageRanking(database.db)
  const ids = await ranking.idsOf(day)
  assert.equal(new Set(ids).size, count)
  assert.equal(ids[0], 17)
  const seconds = ids.slice(1).map((id) => (id * 7_919) % 4_507)
  assert.deepEqual(
    seconds,
    seconds.toSorted((one, other) => other - one),
  )
  assert.deepEqual(await ranking.idsOf({ ...day, type: 'prod' }), [17])
  await addUsage(database.db, [use(9, 9_000_000)])
  assert.equal((await ranking.idsOf(day))[0], 17)
  now += 300_000
  assert.equal((await ranking.idsOf(day))[0], 9)
})
