import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { NewAddressLimit } from './new-address-limit.ts'

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
