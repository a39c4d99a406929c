import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setMember } from '#/store/group-members.ts'
import { insertGroup, localSource } from '#/store/groups.ts'
import { insertTermEnd, insertTermEndMembers, listTermEnds, moveTermEnd, type TermEndPhase } from '#/store/term-ends.ts'
import { insertUser } from '#/store/users.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { ArchiveTooLarge } from './archive-member.ts'
import { OverdueDates } from '#/machine/settled-dates.ts'
import { TermEndWorker, type TermEndWorkerParts } from './term-end-worker.ts'

const [minute, day] = [60_000, 86_400_000]
const today = Date.parse('2027-07-31T20:00:00Z')
const nextYear = today + 365 * day

/** An end of term without members, whose dates lie ahead; `look` lets the worker work at these two clocks. */
async function arrange(
  t: TestContext,
  phase: TermEndPhase,
  dates: { readonly removeAt: number },
  { archiveMember }: Partial<Pick<TermEndWorkerParts, 'archiveMember'>> = {},
) {
  const { database } = await openTemporaryStore(t)
  const { db } = database
  const startedAt = new Date(today)
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const name = 'Course'
  const fields = { name, description: '', types: ['lab'], limits, expiresAt: null, source: localSource }
  const group = await insertGroup(db, { ...fields, createdAt: startedAt })
  const by = { startedAt, actorId: null, actorName: 'operator root', language: 'en' } as const
  const times = { removeAt: new Date(dates.removeAt), keepUntil: new Date(today + 90 * day), groupEnd: null }
  const id = await insertTermEnd(db, { groupId: group!.id, groupName: name, removesAccounts: true, ...times, ...by })
  if (phase !== 'archiving') await moveTermEnd(db, id, ['archiving'], phase, startedAt)
  if (archiveMember) {
    const user = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: startedAt })
    await setMember(db, { groupId: group!.id, userId: user.id, role: 'member', source: localSource, now: startedAt })
    await insertTermEndMembers(db, id, [{ userId: user.id, email: user.email, slug: user.slug, stays: null }])
  }
  let steady = 0
  const worker = new TermEndWorker({
    database,
    directory: { isEmpty: false, find: () => (archiveMember ? [group] : []) },
    outcomes: { of: async () => [{ outcome: { untouched: null, ends: ['lab'] } }] },
    archiveMember,
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

// Archives fill a disk until no home fits: the attempts of all members were over within two hours, at night.
test('a member whose home has no room is tried for a day, and one whose home cannot be read for two hours', async (t) => {
  for (const [error, inTwoHours, inADay] of [
    [new ArchiveTooLarge('the home of lab'), 1, 8],
    [new Error('input/output error'), 8, 8],
  ] as const) {
    let attempts = 0
    const run = async () => {
      attempts++
      throw error
    }
    const look = await arrange(t, 'archiving', { removeAt: today + 7 * day }, { archiveMember: { run } as never })
    for (let at = 0; at < 120; at++) await look(today + at * minute, minute)
    assert.equal(attempts, inTwoHours, error.message)
    for (let at = 120; at < 24 * 60; at += 10) await look(today + at * minute, 10 * minute)
    assert.equal(attempts, inADay, error.message)
    t.mock.timers.reset()
  }
})
