import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './ip-address.ts'

test('an IPv4 address is a client of its own, also as a dual-stack listener reports it', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf(''), '')
})

test('all addresses of an IPv6 /64 are one client, however they are spelled, and no others', () => {
  const same = ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:0DB8:0000:0001::', '2001:db8::1:0:0:0:5']
  assert.deepEqual([...new Set(same.map(networkOf))], ['2001:db8:0:1::/64'])
  assert.equal(networkOf('2001:db8:0:2::1'), '2001:db8:0:2::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
})
