import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from '#/machine/time-zone.ts'
import { nextTimeOfDay, stopTimeOf } from './template.ts'

const at = (text: string) => Date.parse(text)
const next = (time: string, zone: string, after: string) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return new Date(nextTimeOfDay(hours * 60 + minutes, zone, at(after))).toISOString()
}

test('a time of day is today or tomorrow by the clocks of its zone', () => {
  assert.equal(next('22:00', 'UTC', '2026-11-23T01:00:00Z'), '2026-11-23T22:00:00.000Z')
  assert.equal(next('22:00', 'UTC', '2026-11-23T22:00:00Z'), '2026-11-24T22:00:00.000Z')
  assert.equal(next('22:00', 'Europe/Berlin', '2026-11-23T21:30:00Z'), '2026-11-24T21:00:00.000Z')
  assert.equal(next('00:15', 'America/St_Johns', '2026-11-23T01:00:00Z'), '2026-11-23T03:45:00.000Z')
  assert.equal(next('06:00', 'Pacific/Kiritimati', '2026-11-23T15:59:00Z'), '2026-11-23T16:00:00.000Z')
})

test('when summer time begins and ends the time of day stays that of the clocks', () => {
  assert.equal(next('22:00', 'Europe/Berlin', '2026-03-28T21:30:00Z'), '2026-03-29T20:00:00.000Z')
  assert.equal(next('22:00', 'Europe/Berlin', '2026-10-24T20:30:00Z'), '2026-10-25T21:00:00.000Z')
  // At 02:30 no clock shows the time on that day: one hour before or after.
  assert.match(next('02:30', 'Europe/Berlin', '2026-03-29T00:00:00Z'), /^2026-03-29T0[01]:30/)
  assert.match(next('02:30', 'Europe/Berlin', '2026-10-24T23:00:00Z'), /^2026-10-25T0[01]:30/)
})

test('a container stops at the first of its limits, counted from its start', () => {
  const started = at('2026-11-23T20:00:00Z')
  const stopAt = { minutes: 22 * 60, zone: null }
  const stop = (limits: Partial<Parameters<typeof stopTimeOf>[0]>) =>
    stopTimeOf({ maxLifetime: 0, stopAt: null, ...limits }, started, 'UTC')
  assert.equal(stop({}), Number.POSITIVE_INFINITY)
  assert.equal(stop({ maxLifetime: 60 }), started + 60_000)
  assert.equal(stop({ stopAt }), at('2026-11-23T22:00:00Z'))
  assert.equal(stop({ stopAt, maxLifetime: 86_400 }), at('2026-11-23T22:00:00Z'))
  assert.equal(stop({ stopAt: { ...stopAt, zone: 'Asia/Tokyo' } }), at('2026-11-24T13:00:00Z'))
})

test('names of time zones are told from other words', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/New_York']) assert.ok(isTimeZone(name), name)
  for (const name of ['Berlin', ':/etc/localtime', 'CET-1CEST', '']) assert.ok(!isTimeZone(name), name)
})
