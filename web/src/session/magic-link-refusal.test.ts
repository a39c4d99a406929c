import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { magicLinkRefusalIn } from './magic-link-refusal.ts'

const refused = (status: number, refusal?: string) => new ApiError(status, { error: 'Nein.' }, refusal)

test('what a refused link is told as comes from the refusal’s name, whatever the language of its sentence', () => {
  assert.equal(magicLinkRefusalIn(refused(400, 'usedToken')), 'used')
  assert.equal(magicLinkRefusalIn(refused(400, 'expiredToken')), 'expired')
  assert.equal(magicLinkRefusalIn(refused(403, 'userBlocked')), 'blocked')
  assert.equal(magicLinkRefusalIn(refused(403, 'notVerified')), 'unverified')
})

test('without a known name everybody still gets a way out: a new link', () => {
  assert.equal(magicLinkRefusalIn(refused(400)), 'invalid')
  assert.equal(magicLinkRefusalIn(refused(403, 'toString')), 'unverified')
})

test('what is not about the link leaves the button where it is', () => {
  for (const error of [refused(500), refused(429, 'tooManyRequests'), new TypeError('Failed to fetch')])
    assert.equal(magicLinkRefusalIn(error), undefined)
})
