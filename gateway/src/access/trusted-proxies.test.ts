import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrustedProxies } from './trusted-proxies.ts'

const trusted = new TrustedProxies(['10.0.0.0/8'])

const from = (peer: string, forwarded?: string) => trusted.clientAddress(peer, forwarded)

test('a client that is no trusted proxy counts by its own address, whatever header it sends', () => {
  assert.equal(from('203.0.113.9', '198.51.100.1'), '203.0.113.9')
})

test('behind trusted proxies the client is the first address from the right that is not one of them', () => {
  assert.equal(from('10.0.0.1', '198.51.100.1'), '198.51.100.1')
  assert.equal(from('10.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2'), '198.51.100.1')
})

test('a port, brackets and quotes around an address, and empty elements, do not make all clients the proxy', () => {
  for (const [forwarded, expected] of [
    ['198.51.100.1:4711', '198.51.100.1'],
    ['"198.51.100.1"', '198.51.100.1'],
    ['"198.51.100.1:4711"', '198.51.100.1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['"[2001:db8::1]:4711"', '2001:db8::1'],
    ['"2001:db8::1"', '2001:db8::1'],
    ['[::ffff:198.51.100.1]:80', '198.51.100.1'],
    ['198.51.100.1,', '198.51.100.1'],
    ['198.51.100.1, , ,', '198.51.100.1'],
    ['6.6.6.6, 198.51.100.1:1, 10.0.0.2:65535,, "10.0.0.3"', '198.51.100.1'],
  ] as const)
    assert.equal(from('10.0.0.1', forwarded), expected, forwarded)
})

test('what is no address ends the search: nothing to the left of it is believed', () => {
  for (const odd of [
    'unknown',
    '_hidden',
    '"_hidden"',
    'unix:',
    '198.51.100.1:',
    '198.51.100.1:123456',
    '198.51.100.1:x',
    '"198.51.100.1',
    '198.51.100.1"',
    '"198.51.100.1":80',
    '[198.51.100.1]',
    '[2001:db8::1',
    '2001:db8::1]:80',
    'for=198.51.100.1',
    '198.51.100.1 198.51.100.2',
    '999.51.100.1:80',
    '\\"198.51.100.1\\"',
    '""',
  ])
    assert.equal(from('10.0.0.1', `6.6.6.6, ${odd}`), '10.0.0.1', odd)
  assert.equal(from('10.0.0.1', ','.repeat(10_000)), '10.0.0.1')
  assert.equal(from('10.0.0.1', `6.6.6.6${','.repeat(32)}`), '10.0.0.1', 'a list is read to its limit')
})

test('rubbish from a trusted proxy leaves the proxy as the client', () => {
  assert.equal(from('10.0.0.1', 'unknown'), '10.0.0.1')
  assert.equal(from('10.0.0.1'), '10.0.0.1')
})

test('an IPv4 address is written as one on a dual-stack listener, too', () => {
  assert.equal(from('::ffff:203.0.113.9'), '203.0.113.9')
})

test('a trusted peer is a proxy, also when no header says so', () => {
  assert.equal(trusted.proxyOf('10.0.0.1', false), 'trusted')
  assert.equal(trusted.proxyOf('::ffff:10.0.0.1', true), 'trusted')
  assert.equal(trusted.proxyOf('203.0.113.9', true), 'untrusted')
  assert.equal(trusted.proxyOf('203.0.113.9', false), 'none')
})
