import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hoursOf, nothing, periodsBetween, readUsageView, toQuery, totalOf } from './usage-view.ts'

const read = (query: string) => readUsageView(new URLSearchParams(query))

test('an address without a query shows 30 days, types, and a stop after 30 minutes', () => {
  const view = read('')
  assert.deepEqual([view.unit, view.by, view.stop, view.user, view.group], ['day', 'type', '30', undefined, undefined])
  assert.deepEqual(Object.values(toQuery(view)).filter(Boolean), [])
})

test('what an address says and does not fit is left out', () => {
  const view = read('unit=week&by=colour&stop=7&group=x&period=2026-11&type=dev')
  assert.deepEqual(
    [view.unit, view.by, view.stop, view.group, view.period, view.type],
    ['day', 'type', '30', undefined, undefined, 'dev'],
  )
  assert.equal(read('unit=month&period=2026-11').period, '2026-11')
  const both = read('user=ann@x.org&group=3&by=user')
  assert.deepEqual([both.user, both.group, both.by], ['ann@x.org', undefined, 'type'])
})

test('a view survives its way through the address', () => {
  const view = read('unit=month&by=user&group=3&stop=60&period=2026-10&type=dev')
  const query = new URLSearchParams(
    Object.entries(toQuery(view)).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
  )
  assert.deepEqual(readUsageView(query), view)
})

test('periods without a row are there, over ends of months and years', () => {
  assert.deepEqual(periodsBetween('2028-02-28', '2028-03-01'), ['2028-02-28', '2028-02-29', '2028-03-01'])
  assert.deepEqual(periodsBetween('2026-11', '2027-01'), ['2026-11', '2026-12', '2027-01'])
  assert.deepEqual(periodsBetween('2026-11', '2026-10'), [])
  assert.equal(periodsBetween('0001-01-01', '9999-12-31').length, 1_000)
})

test('rows add up, what a stop would have saved by its time', () => {
  const row = { ...nothing, running_hours: 2, idle_stop_would_save: { ...nothing.idle_stop_would_save, '60': 1 } }
  const total = totalOf([row, row])
  assert.deepEqual([total.running_hours, total.idle_stop_would_save['60'], total.cpu_hours], [4, 2, 0])
})

test('the present period has the hours until now, in the time zone of the installation', () => {
  const now = Date.parse('2026-11-23T05:30Z')
  assert.equal(hoursOf('2026-11-23', now, 'Europe/Berlin'), 6.5)
  assert.equal(hoursOf('2026-11-22', now, 'Europe/Berlin'), 24)
  assert.equal(hoursOf('2026-11', now, 'UTC'), 22 * 24 + 5.5)
  assert.equal(hoursOf('2026-02', now, 'UTC'), 28 * 24)
  assert.equal(hoursOf('2026-11-24', now, 'UTC'), 1)
})
