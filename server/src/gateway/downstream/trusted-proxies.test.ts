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
