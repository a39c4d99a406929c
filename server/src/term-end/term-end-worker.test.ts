import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { insertGroup, localSource } from '#/store/groups/groups.ts'
import { insertTermEnd, listTermEnds, moveTermEnd, type TermEndPhase } from '#/store/term-ends/term-ends.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { OverdueDates } from './overdue-dates.ts'
import { TermEndWorker, type TermEndWorkerParts } from './term-end-worker.ts'

const [minute, day] = [60_000, 86_400_000]
const today = Date.parse('2027-07-31T20:00:00Z')
const nextYear = today + 365 * day

/** An end of term without members, whose dates lie ahead; `look` lets the worker work at these two clocks. */
async function arrange(t: TestContext, phase: TermEndPhase, dates: { readonly removeAt: number }) {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const startedAt = new Date(today)
  const limits = { running: null, memory: null, cpus: null, disk: null }
  const name = 'Course'
  const fields = { name, description: '', types: ['lab'], limits, expiresAt: null, source: localSource }
  const group = await insertGroup(db, { ...fields, createdAt: startedAt })
  const by = { startedAt, actorId: null, actorName: 'operator root', language: 'en' } as const
  const times = { removeAt: new Date(dates.removeAt), keepUntil: new Date(today + 90 * day), groupEnd: null }
  const id = await insertTermEnd(db, { groupId: group!.id, groupName: name, removesAccounts: true, ...times, ...by })
  if (phase !== 'archiving') await moveTermEnd(db, id, ['archiving'], phase, startedAt)
  let steady = 0
  const worker = new TermEndWorker({
    database,
    directory: { isEmpty: false, find: () => [] },
    files: { removeAll: async () => undefined },
    dates: new OverdueDates(10 * minute, () => steady),
    log: { info: () => undefined, warn: () => undefined },
  } as unknown as TermEndWorkerParts)
  t.after(() => worker.close())
  t.mock.timers.enable({ apis: ['Date'], now: today })
  const look = async (wall: number, after: number) => {
    t.mock.timers.setTime(wall)
    steady += after
    worker.wakeIfNeeded()
    for (let each = 0; each < 100; each++) await turn()
    return (await listTermEnds(db))[0]?.phase
  }
  return look
}

// Archives of removed members are the only copy of their files.
for (const [what, phase] of [
  ['deletes no archives', 'done'],
  ['gives nothing up', 'archiving'],
] as const)
  test(`a clock that shows next year for some minutes ${what}, and one that goes on showing it does`, async (t) => {
    const look = await arrange(t, phase, { removeAt: today + 7 * day })
    assert.equal(await look(nextYear, 0), phase)
    assert.equal(await look(nextYear, 9 * minute), phase)
    assert.equal(await look(today, minute), phase)
    assert.equal(await look(nextYear, 20 * minute), phase)
    assert.notEqual(await look(nextYear, 10 * minute), phase)
  })

test('a removal that was put off to a date does not begin by a wrong clock, and one without a date begins at once', async (t) => {
  const inAMonth = today + 30 * day
  const later = await arrange(t, 'archiving', { removeAt: today + 7 * day })
  assert.equal(await later(inAMonth, 0), 'archiving')
  assert.equal(await later(today, 20 * minute), 'archiving')
  assert.equal(await later(inAMonth, minute), 'archiving')
  assert.equal(await later(inAMonth, 10 * minute), 'done', 'there are no members to remove')
  t.mock.timers.reset()
  const now = await arrange(t, 'archiving', { removeAt: today })
  assert.equal(await now(today, 0), 'done')
})
