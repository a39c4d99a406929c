import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventReplayBuffer, type SentEvent } from './user-events.ts'

const event = (n: number, text = '') => ({ name: 'launch', data: { n, text } })
const numbers = (events: readonly SentEvent[] | undefined) => events?.map(({ data }) => data.n)

/** A memory with small bounds and a clock to be set. */
function remembering(bounds: { events?: number; bytes?: number } = {}) {
  const clock = { now: 0 }
  const recent = new EventReplayBuffer({ events: 3, time: 1_000, bytes: 10_000, ...bounds }, () => clock.now)
  return { recent, clock }
}

test('what came after an id is known, in order, as long as not more came than is remembered', () => {
  const { recent } = remembering()
  const begin = recent.position(1)
  for (const n of [1, 2, 3]) recent.add(1, event(n), true)
  assert.deepEqual(numbers(recent.since(1, begin)), [1, 2, 3])
  assert.deepEqual(numbers(recent.since(1, recent.position(1))), [])
  const { id = '' } = recent.add(1, event(4), true)
  assert.equal(recent.since(1, begin), undefined)
  assert.equal(id, recent.position(1))
})

test('events without a listener are kept for users who listened before, and for no others', () => {
  const { recent } = remembering()
  const begin = recent.position(1)
  recent.add(1, event(1), false)
  assert.deepEqual(numbers(recent.since(1, begin)), [1])
  assert.equal(recent.add(2, event(1), false).id, undefined)
})

test('what is older than the time is forgotten, so that an id from before it is unknown', () => {
  const { recent, clock } = remembering()
  const begin = recent.position(1)
  recent.add(1, event(1), true)
  clock.now = 900
  const middle = recent.add(1, event(2), true).id ?? ''
  clock.now = 1_500
  assert.deepEqual(numbers(recent.since(1, middle)), [])
  assert.equal(recent.since(1, begin), undefined)
})

test('who was told nothing for long is forgotten whole, and an id from before is not taken for a later one', () => {
  const { recent, clock } = remembering()
  const begin = recent.position(1)
  const first = recent.add(1, event(1), true).id ?? ''
  clock.now = 5_000
  recent.add(2, event(1), true)
  recent.add(1, event(2), true)
  assert.equal(recent.since(1, begin), undefined)
  assert.equal(recent.since(1, first), undefined)
})

test('of all people together only so many bytes are remembered: those go whom nothing was told for longest', () => {
  const { recent } = remembering({ bytes: 3_000 })
  const positions = [1, 2, 3, 4].map((userId) => {
    const position = recent.position(userId)
    recent.add(userId, event(userId, 'x'.repeat(700)), true)
    return position
  })
  const known = positions.map((position, at) => recent.since(at + 1, position) !== undefined)
  assert.deepEqual(known, [false, true, true, true])
})

test('the event id of another user replays nothing', () => {
  const { recent } = remembering()
  recent.position(1)
  assert.equal(recent.since(1, recent.position(2)), undefined)
})
