import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCountdown, minutesToAnnounce, secondsLeft, secondsUntil } from './countdown.ts'

test('a countdown reads as a clock', () => {
  assert.deepEqual([0, 5, 45, 60, 725].map(formatCountdown), ['0:00', '0:05', '0:45', '1:00', '12:05'])
})

test("seconds are counted by the server's clock, and never below zero", () => {
  const at = '2026-11-21T09:00:45.000Z'
  const now = Date.parse('2026-11-21T09:00:00Z')
  assert.equal(secondsUntil(at, now, 0), 45)
  assert.equal(secondsUntil(at, now - 60_000, 60_000), 45, 'a machine whose clock is a minute late')
  assert.equal(secondsUntil(at, now + 90_000, 0), 0)
})

const until = '2026-11-21T09:15:00.000Z'
const at = (time: string) => Date.parse(`2026-11-21T${time}Z`)

test('a takeover ends here shortly before its time, and at once when its time cannot be parsed', () => {
  assert.equal(secondsLeft(until, at('09:00:00'), 0), 897)
  assert.equal(secondsLeft(until, at('09:14:56.500'), 0), 1)
  for (const late of ['09:14:57', '09:15:00', '10:00:00']) assert.equal(secondsLeft(until, at(late), 0), 0, late)
  assert.equal(secondsLeft('soon', at('09:00:00'), 0), 0)
})

test('a local clock that is off by 20 minutes makes a takeover neither shorter nor longer', () => {
  assert.equal(secondsLeft(until, at('09:20:00'), -1_200_000), 897)
  assert.equal(secondsLeft(until, at('08:40:00'), 1_200_000), 897)
  assert.equal(secondsLeft(until, at('08:54:57'), 1_200_000), 0)
})

test('the time left is announced twice, at five minutes and at one', () => {
  const announced = Array.from({ length: 900 }, (_, gone) => minutesToAnnounce(900 - gone))
  const changes = announced.filter((minutes, index) => minutes !== undefined && minutes !== announced[index - 1])
  assert.deepEqual(changes, [5, 1])
  assert.equal(minutesToAnnounce(301), undefined)
  assert.equal(minutesToAnnounce(0), undefined)
})
