import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Capacity } from './capacity.ts'

const dev = (userId: number) => ({ userId, type: 'dev' })
const prod = (userId: number) => ({ userId, type: 'prod' })

test('what runs, and what is on its way, counts towards the cap; what is refused or has failed does not', () => {
  const occupancy = new Capacity({ maxRunning: 2, maxPerUser: null })
  occupancy.note(dev(1), true)
  assert.equal(occupancy.refusal(dev(2)), undefined)
  occupancy.reserve(dev(2))
  assert.equal(occupancy.refusal(dev(3))?.extra.reason, 'full')
  occupancy.release(dev(2))
  assert.equal(occupancy.refusal(dev(3)), undefined)
  assert.equal(occupancy.running, 1)
})

test('a launch that came to run is counted once, and not any more when it ends', () => {
  const occupancy = new Capacity({ maxRunning: 1, maxPerUser: null })
  occupancy.reserve(dev(1))
  occupancy.note(dev(1), true)
  occupancy.release(dev(1))
  occupancy.note(dev(1), true)
  assert.ok(occupancy.refusal(dev(2)))
  occupancy.note(dev(1), false)
  assert.deepEqual([occupancy.refusal(dev(2)), occupancy.running], [undefined, 0])
})

test('the room that a container has already is its own, also while it is replaced', () => {
  const occupancy = new Capacity({ maxRunning: 1, maxPerUser: 1 })
  occupancy.note(dev(1), true)
  assert.equal(occupancy.refusal(dev(1)), undefined)
  occupancy.reserve(dev(1))
  occupancy.note(dev(1), false)
  assert.equal(occupancy.refusal(dev(1)), undefined)
  assert.ok(occupancy.refusal(prod(1)))
})

test("one person's cap counts their own containers only, and says how many they may have", () => {
  const occupancy = new Capacity({ maxRunning: null, maxPerUser: 1 })
  occupancy.note(dev(1), true)
  assert.match(occupancy.refusal(prod(1))?.message ?? '', /^You have 1 /)
  assert.equal(occupancy.refusal(dev(2)), undefined)
  occupancy.note(dev(1), false)
  assert.equal(occupancy.refusal(prod(1)), undefined)
})
