import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinksLeftCount } from './links-left.ts'

const start = Date.UTC(2026, 0, 1)
const at = (seconds: number) => new Date(start + seconds * 1_000)
const three = { magicLinksPerHour: 3 }

test('each request of an hour leaves one less, down to none, and the first comes back after its hour', () => {
  const count = new LinksLeftCount(three)
  const told = [0, 600, 1_200, 1_800, 3_601].map((second) => count.count('ann@x.org', at(second)))
  assert.deepEqual(told, [
    { left: 2, reset: 3_600 },
    { left: 1, reset: 3_000 },
    { left: 0, reset: 2_400 },
    { left: 0, reset: 1_800 },
    { left: 0, reset: 599 },
  ])
})

test('addresses are counted apart, and text that cannot be an address is not counted', () => {
  const count = new LinksLeftCount(three)
  count.count('ann@x.org', at(0))
  assert.equal(count.count('bob@x.org', at(0))?.left, 2)
  assert.equal(count.count('nonsense', at(0)), undefined)
  assert.equal(count.count(`${'x'.repeat(300)}@x.org`, at(0)), undefined)
})

test('a clock that is set back never promises more than there is, nor a wait of more than an hour', () => {
  const count = new LinksLeftCount(three)
  count.count('ann@x.org', at(86_400))
  assert.deepEqual(count.count('ann@x.org', at(0)), { left: 2, reset: 3_600 })
})

test('of a flood of addresses those that asked longest ago are forgotten, and nothing grows', () => {
  const count = new LinksLeftCount(three, 10)
  for (let time = 0; time < 2; time++) count.count('ann@x.org', at(0))
  for (let other = 0; other < 5; other++) count.count(`${other}@x.org`, at(1))
  assert.equal(count.count('ann@x.org', at(2))?.left, 0)
  for (let other = 10; other < 20; other++) count.count(`${other}@x.org`, at(3))
  assert.equal(count.count('ann@x.org', at(4))?.left, 2)
})

// With `MAGIC_LINK_RATE_LIMIT=1000000000` an address of a load test had every request of the hour remembered.
test('of one address no more requests are remembered either, whatever the limit', () => {
  const count = new LinksLeftCount({ magicLinksPerHour: 1_000_000_000 }, 10)
  for (let time = 0; time < 50; time++) count.count('ann@x.org', at(time))
  assert.deepEqual(count.count('ann@x.org', at(50)), { left: 999_999_990, reset: 3_591 })
})
