import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localFieldOf, readShare } from './share-values.ts'

const typed = { emails: '', group: '', may: 'look', port: '', until: '2026-12-01T10:00' } as const

test('addresses are separated by spaces, commas or lines, and named once', () => {
  const body = readShare({ ...typed, emails: 'ann@x.org, ben@x.org\nann@x.org', may: 'use' })
  const expires_at = new Date('2026-12-01T10:00').toISOString()
  assert.deepEqual(body, { emails: ['ann@x.org', 'ben@x.org'], may: 'use', expires_at })
})

test('a group alone is enough, and without either something is missing', () => {
  assert.ok(typeof readShare({ ...typed, group: '3' }) === 'object')
  assert.equal(readShare(typed), 'missing')
})

test('a port is a number with an address, or left out', () => {
  const portOf = (port: string) => readShare({ ...typed, group: '3', port })
  assert.deepEqual(
    [' 3000 ', '1024', '65535'].map((each) => Object(portOf(each)).port),
    [3000, 1024, 65535],
  )
  for (const wrong of ['80', '65536', '3000a', '-3000', '3 000']) assert.equal(portOf(wrong), 'badPort', wrong)
  assert.ok(!('port' in Object(portOf(''))))
})

test('a share has an end', () => {
  assert.equal(readShare({ ...typed, group: '3', until: '' }), 'endMissing')
})

test('a field for local time reads back as the same instant', () => {
  const instant = Date.parse('2026-12-01T10:00:00Z')
  assert.equal(new Date(localFieldOf(instant)).getTime(), instant)
})
