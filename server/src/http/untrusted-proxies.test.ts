import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { UntrustedProxies } from './untrusted-proxies.ts'

/** As the gateway passes a request on that has a forwarding header and comes from this address. */
function from(address: string): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = { 'x-forwarded-for': address, 'x-berth-proxy': 'untrusted' }
  return request
}

function watching() {
  let time = 0
  const logged: unknown[] = []
  const proxies = new UntrustedProxies({ warn: (line: unknown) => void logged.push(line) }, () => time)
  return {
    note: (...addresses: string[]) => addresses.forEach((address) => proxies.note(from(address))),
    warned: () =>
      proxies
        .warnings()
        .map((each) => localize('en', each))
        .join(),
    logged,
    pass: (ms: number) => (time += ms),
  }
}

const clients = (count: number) => Array.from({ length: count }, (_, n) => `203.0.113.${n}`)

// Sixteen clients used up the room for ever, and the operator's own proxy was never reported.
test('clients that send the header do not hide the proxy of the operator, before or after it', () => {
  const { note, warned } = watching()
  note(...clients(100), '::1', '192.168.0.5', ...clients(200))
  assert.match(warned(), /come from ::1, 192\.168\.0\.5, .* set TRUSTED_PROXIES=::1\./)
})

test('a proxy on the internet is reported although sixteen sent the header before', () => {
  const { note, warned, pass } = watching()
  note(...clients(100))
  pass(3_600_001)
  note('198.51.100.7')
  assert.match(warned(), /come from 198\.51\.100\.7, which/)
})

// Who copied the setting trusted the attacker.
test('no setting is given to copy for an address on the internet', () => {
  for (const address of ['203.0.113.9', '2001:db8::1', '172.32.0.1', '100.128.0.1']) {
    const { note, warned } = watching()
    note(address)
    assert.match(warned(), /Any client can send such headers/)
    assert.doesNotMatch(warned(), /TRUSTED_PROXIES=/)
  }
  for (const address of [
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    'fe80::1',
  ]) {
    const { note, warned } = watching()
    note('203.0.113.9', address)
    assert.ok(warned().includes(`TRUSTED_PROXIES=${address}.`), warned())
  }
})

test('a /64 of IPv6 is kept once; after an hour nothing is said; the log has four lines at most', () => {
  const { note, warned, logged, pass } = watching()
  note('2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1:ffff::3')
  assert.match(warned(), /come from 2001:db8:1:1:ffff::3, which/)
  assert.equal(logged.length, 1)
  note(...clients(100))
  assert.equal(logged.length, 4)
  pass(3_600_001)
  assert.equal(warned(), '')
})
