import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInPools, freeParts } from './bridge-network.ts'

const count = (pool: string, size: number, taken: string[]) => freeParts([{ Base: pool, Size: size }], taken)[0]?.count

test("of Docker's own pools there are 31 parts, one fewer with each network that is there already", () => {
  const left = (taken: string[]) => freeParts(builtInPools, taken).reduce((sum, each) => sum + each.count, 0)
  assert.equal(left([]), 31)
  assert.equal(left(['172.17.0.0/16', '192.168.0.0/20', '172.31.0.0/16']), 28)
})

test('a network that lies in several parts takes them all, two in one part take one, and those elsewhere none', () => {
  assert.equal(count('10.0.0.0/16', 24, ['10.0.0.0/23']), 254)
  assert.equal(count('10.0.0.0/16', 24, ['10.0.7.0/26', '10.0.7.128/25']), 255)
  assert.equal(count('10.0.0.0/16', 24, ['10.0.7.0/24', '10.0.0.0/20', '10.0.8.0/24']), 240)
  assert.equal(count('10.0.0.0/16', 24, ['10.1.0.0/24', '9.255.255.0/24']), 256)
  assert.equal(count('10.0.0.0/16', 24, ['0.0.0.0/0']), 0)
})

test('each part has addresses for all but its network, its gateway and its broadcast', () => {
  assert.deepEqual(freeParts([{ Base: '10.0.0.0/23', Size: 24 }], []), [{ count: 2, addresses: 253 }])
})

test('what is no IPv4 network is passed over', () => {
  assert.deepEqual(freeParts([{ Base: 'fd00::/8', Size: 64 }], []), [])
  assert.equal(count('10.0.0.0/23', 24, ['fd00::/8', 'nonsense', '10.0.0.0/99']), 2)
})
