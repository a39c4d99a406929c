import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { LinksLeftCount, NewAddressLimit } from './link-limits.ts'

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

function limited(perHour: number) {
  let time = 0
  const logged: unknown[] = []
  const limit = new NewAddressLimit(perHour, { warn: (line: unknown) => void logged.push(line) }, () => time)
  const acquire = (address: string, times: number) =>
    Array.from({ length: times }, () => limit.tryAcquire(address)).filter(Boolean).length
  const warned = () => limit.warnings().map((each) => localize('en', each))
  return { limit, acquire, warned, logged, pass: (ms: number) => (time += ms) }
}

// One address could have 600 unknown addresses mailed each minute, and 600 accounts made.
test('a network address has so many new addresses mailed in an hour, then none until the next', () => {
  const { acquire, pass } = limited(1_000)
  assert.equal(acquire('203.0.113.1', 1_200), 1_000)
  assert.equal(acquire('203.0.113.2', 300), 300)
  pass(3_599_999)
  assert.equal(acquire('203.0.113.1', 1), 0)
  pass(1)
  assert.equal(acquire('203.0.113.1', 1), 1)
})

test('a /64 of IPv6 is one address, and all together have five times as many', () => {
  const { acquire } = limited(10)
  assert.equal(acquire('2001:db8:1:1::1', 6) + acquire('2001:db8:1:1:ffff::2', 6), 10)
  for (let n = 0; n < 4; n++) assert.equal(acquire(`203.0.113.${n}`, 20), 10)
  assert.equal(acquire('203.0.113.9', 1), 0)
})

test('what is given back counts no more, also across the hour', () => {
  const { limit, acquire, pass } = limited(2)
  assert.equal(acquire('203.0.113.1', 3), 2)
  limit.release('203.0.113.1')
  assert.equal(acquire('203.0.113.1', 2), 1)
  pass(3_600_000)
  assert.equal(acquire('203.0.113.2', 2), 2)
  limit.release('203.0.113.1')
  assert.equal(acquire('203.0.113.1', 3), 2)
})

test('networks that reached it are reported for an hour, four at most, and logged once each', () => {
  const { acquire, warned, logged, pass } = limited(1)
  assert.deepEqual(warned(), [])
  acquire('203.0.113.1', 50)
  assert.match(warned().join(), /NEW_ADDRESSES_PER_HOUR=1 .*203\.0\.113\.1\./)
  assert.equal(logged.length, 1)
  for (let n = 2; n < 100; n++) acquire(`203.0.113.${n}`, 2)
  assert.equal(logged.length, 4)
  assert.ok((warned()[0] ?? '').length < 600)
  pass(3_600_001)
  assert.deepEqual(warned(), [])
})
