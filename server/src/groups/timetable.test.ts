import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timetable } from '#/store/groups.ts'
import { dueBetween } from './timetable.ts'

const at = (instant: string) => Date.parse(instant)
const hours = (fields: Partial<Timetable> = {}): Timetable => ({
  timeZone: 'Europe/Berlin',
  lessons: [],
  stopAt: null,
  exceptions: [],
  ...fields,
})
const lesson = (days: number[], time: string, type = 'lab') => {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return { days, minutes: hour * 60 + minute, type }
}
/** Moments at which something becomes due, each minute looked at once. */
function moments(timetable: Timetable, from: string, to: string): string[] {
  const found: string[] = []
  for (let minute = at(from); minute < at(to); minute += 60_000)
    for (const { kind } of dueBetween(timetable, minute - 60_000, minute))
      if (kind !== 'warn') found.push(`${kind} ${new Date(minute).toISOString().slice(0, 16)}`)
  return found
}

test('containers start a quarter of an hour before each lesson of the week, by the clock of the zone', () => {
  const week = hours({ lessons: [lesson([1, 3], '08:00')] })
  assert.deepEqual(moments(week, '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'), [
    'prestart 2026-11-23T06:45',
    'prestart 2026-11-25T06:45',
  ])
})

test('summer time begins and ends: lessons and stops stay at the time that clocks show, once a day', () => {
  const daily = hours({ lessons: [lesson([1, 2, 3, 4, 5, 6, 7], '08:00')], stopAt: 22 * 60 })
  assert.deepEqual(moments(daily, '2026-03-28T12:00:00Z', '2026-03-29T22:00:00Z'), [
    'stop 2026-03-28T21:00',
    'prestart 2026-03-29T05:45',
    'stop 2026-03-29T20:00',
  ])
  assert.deepEqual(moments(daily, '2026-10-24T12:00:00Z', '2026-10-25T22:00:00Z'), [
    'stop 2026-10-24T20:00',
    'prestart 2026-10-25T06:45',
    'stop 2026-10-25T21:00',
  ])
})

test('a time that clocks skip or show twice is due once on that day', () => {
  const night = hours({ stopAt: 2 * 60 + 30 })
  for (const day of ['2026-03-29', '2026-10-25'])
    assert.equal(moments(night, `${day}T00:00:00Z`, `${day}T12:00:00Z`).length, 1, day)
})

test('on the days of exceptions their own lessons are held, and a night may go without a stop', () => {
  const school = hours({
    lessons: [lesson([1, 2, 3, 4, 5], '08:00')],
    stopAt: 22 * 60,
    exceptions: [
      { date: '2026-12-24', lessons: [], stops: true },
      { date: '2026-12-25', lessons: [{ minutes: 600, type: 'exam' }], stops: false },
    ],
  })
  assert.deepEqual(moments(school, '2026-12-24T00:00:00Z', '2026-12-26T00:00:00Z'), [
    'stop 2026-12-24T21:00',
    'prestart 2026-12-25T08:45',
  ])
})

test('a lesson after midnight is started the evening before, and zones on both sides of the date line have their own days', () => {
  const early = hours({ lessons: [lesson([2], '00:05')] })
  assert.deepEqual(moments(early, '2026-11-23T12:00:00Z', '2026-11-24T12:00:00Z'), ['prestart 2026-11-23T22:50'])
  for (const [timeZone, wanted] of [
    ['Pacific/Kiritimati', '2026-11-22T17:45'],
    ['Pacific/Pago_Pago', '2026-11-23T18:45'],
  ] as const) {
    const monday = hours({ timeZone, lessons: [lesson([1], '08:00')] })
    assert.deepEqual(moments(monday, '2026-11-22T00:00:00Z', '2026-11-25T00:00:00Z'), [`prestart ${wanted}`])
  }
})

test('owners are warned a minute before a stop', () => {
  const night = hours({ stopAt: 22 * 60 })
  const stop = at('2026-11-23T21:00:00Z')
  assert.deepEqual(dueBetween(night, stop - 61_000, stop - 60_000), [{ kind: 'warn', at: stop }])
})
