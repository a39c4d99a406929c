import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EntryCodes, type EntryGrant } from './entry-codes.ts'

const grant: EntryGrant = {
  prefix: 'ann-dev',
  browser: 'mine',
  userId: 1,
  sid: 's',
  acting: null,
  isRenewable: true,
  expiresAt: new Date(),
  next: '/x',
}

test('a used code opens nothing more, and tells where it led to the browser alone that has used it', () => {
  const codes = new EntryCodes()
  const code = codes.issue(grant)
  assert.equal(codes.findUsed(code, 'ann-dev', ['mine']), undefined, 'it was not used')
  assert.equal(codes.redeem(code, 'ann-dev', ['other']), undefined)
  assert.equal(codes.redeem(code, 'ann-dev', ['mine'])?.next, '/x')
  assert.equal(codes.redeem(code, 'ann-dev', ['mine']), undefined)
  assert.equal(codes.findUsed(code, 'ann-dev', ['mine'])?.next, '/x')
  assert.equal(codes.findUsed(code, 'ann-dev', ['other']), undefined)
  assert.equal(codes.findUsed(code, 'bob-dev', ['mine']), undefined)
})

test('a used code is forgotten after its minute', (t) => {
  const codes = new EntryCodes()
  const code = codes.issue(grant)
  codes.redeem(code, 'ann-dev', ['mine'])
  const now = performance.now()
  t.mock.method(performance, 'now', () => now + 60_001)
  assert.equal(codes.findUsed(code, 'ann-dev', ['mine']), undefined)
})
