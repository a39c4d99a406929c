import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'

const { boss, signUp, group } = await startGroupBerth({ after }, { env: { TZ: 'Europe/Vienna' } })
const tom = await signUp('tom@x.org')
const { id } = await group({ name: 'Hours', types: ['lab', 'dev'] }, [], [tom])
const path = `/api/groups/${id}/timetable`
const timetable = {
  time_zone: 'Europe/Berlin',
  lessons: [{ days: [3, 1, 1], at: '08:00', container_type: 'lab' }],
  stop_at: '22:30',
  exceptions: [
    { date: '2026-12-24', lessons: [], stops: true },
    { date: '2026-12-23', lessons: [{ at: '09:00', container_type: 'dev' }], stops: false },
  ],
}
const set = (changes: object) => tom.call('POST', path, { timetable: { ...timetable, ...changes } })

test('a manager sets the hours of the group, reads them back in order, and removes them; each is in the audit log', async () => {
  const none = await tom.call('GET', path)
  assert.deepEqual(none.body, { timetable: null, default_time_zone: 'Europe/Vienna' })
  assertOk(await set({}))
  const { body } = await tom.call('GET', path)
  assert.deepEqual(body.timetable.lessons, [{ days: [1, 3], at: '08:00', container_type: 'lab' }])
  assert.equal(body.timetable.stop_at, '22:30')
  assert.deepEqual(
    body.timetable.exceptions.map(({ date }: { date: string }) => date),
    ['2026-12-23', '2026-12-24'],
  )
  // The same hours again are no change.
  for (let time = 0; time < 2; time++) assertOk(await tom.call('POST', path, { timetable: null }))
  assert.equal((await tom.call('GET', path)).body.timetable, null)
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body
  assert.deepEqual(
    entries
      .filter(({ action }: { action: string }) => action === 'group.set-timetable')
      .map((each: { action: string; actor: { id: number } }) => [each.action, each.actor.id]),
    [
      ['group.set-timetable', tom.id],
      ['group.set-timetable', tom.id],
    ],
  )
})

test('zones, days, times and types that do not exist are refused', async () => {
  for (const changes of [
    { time_zone: 'Europe/Nowhere' },
    { stop_at: '24:00' },
    { lessons: [{ days: [8], at: '08:00', container_type: 'lab' }] },
    { lessons: [{ days: [1], at: '08:00', container_type: 'prod' }] },
    { exceptions: [{ date: '2026-02-30', lessons: [], stops: true }] },
    { exceptions: [{ date: '2026-12-24', lessons: [{ at: '09:00', container_type: 'nothing' }], stops: true }] },
  ])
    assertRefused(await set(changes), 400)
})

test('a change of the group by an administrator keeps the hours', async () => {
  assertOk(await set({}))
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { description: 'new' }))
  assert.equal((await tom.call('GET', path)).body.timetable.stop_at, '22:30')
})
