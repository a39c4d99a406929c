import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { magicLinkRefusalIn } from './magic-link-refusal.ts'

const refused = (status: number, refusal?: string) => new ApiError(status, { error: 'Nein.' }, refusal)

test('the explanation of a refused link follows from the refusal’s name, in every language', () => {
  assert.equal(magicLinkRefusalIn(refused(400, 'usedToken')), 'used')
  assert.equal(magicLinkRefusalIn(refused(400, 'expiredToken')), 'expired')
  assert.equal(magicLinkRefusalIn(refused(403, 'userBlocked')), 'blocked')
  assert.equal(magicLinkRefusalIn(refused(403, 'notVerified')), 'unverified')
})

test('a refusal without a known name still offers a new link', () => {
  assert.equal(magicLinkRefusalIn(refused(400)), 'invalid')
  assert.equal(magicLinkRefusalIn(refused(403, 'toString')), 'unverified')
})

test('an error that is not about the link keeps the button', () => {
  for (const error of [refused(500), refused(429, 'tooManyRequests'), new TypeError('Failed to fetch')])
    assert.equal(magicLinkRefusalIn(error), undefined)
})
