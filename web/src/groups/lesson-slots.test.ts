import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestSlot, slotsOf, timeOf, withMoved } from './lesson-slots.ts'

const lesson = (days: number[], at: string, container_type = 'dev') => ({ days, at, container_type })

test('a lesson has a slot on each of its days, beside those that begin with it', () => {
  const slots = slotsOf([lesson([2, 4], '08:00'), lesson([4], '08:00', 'lab')])
  assert.deepEqual(
    slots.map(({ day, minute, type, lane, lanes }) => [day, minute, type, lane, lanes]),
    [
      [2, 480, 'dev', 0, 1],
      [4, 480, 'dev', 0, 2],
      [4, 480, 'lab', 1, 2],
    ],
  )
})

test('what is below a pointer is a quarter of an hour of a day of the week', () => {
  assert.deepEqual(nearestSlot(0.5, 487), { day: 4, minute: 480 })
  assert.deepEqual(nearestSlot(-1, -20), { day: 1, minute: 0 })
  assert.deepEqual(nearestSlot(1, 1440), { day: 7, minute: 1425 })
  assert.equal(timeOf(485), '08:05')
})

test('a lesson that is moved on one day stays where it is on its others, and joins one of that time', () => {
  const [first] = slotsOf([lesson([2, 4], '08:00')])
  assert.ok(first)
  const moved = withMoved([lesson([2, 4], '08:00')], first, { day: 3, minute: 600 })
  assert.deepEqual(moved, [lesson([4], '08:00'), lesson([3], '10:00')])
  const [, last] = slotsOf(moved)
  assert.ok(last)
  assert.deepEqual(withMoved(moved, last, { day: 1, minute: 480 }), [lesson([1, 4], '08:00')])
})
