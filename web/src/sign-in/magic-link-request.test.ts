import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { linksLeftAt, magicLinkRefusalIn, magicLinkRequestIn, secondsToWait } from './magic-link-request.ts'

const request = (left?: number, reset = 3600) => ({
  email: 'ann@x.org',
  at: 1_000_000,
  links: left === undefined ? undefined : { left, reset },
})
const after = (seconds: number) => 1_000_000 + seconds * 1000

test('a mail can be requested again after 30 seconds; without links left, when the hourly limit allows one again', () => {
  assert.deepEqual(
    [0, 29.5, 30, 500].map((seconds) => secondsToWait(request(2), after(seconds))),
    [30, 1, 0, 0],
  )
  assert.deepEqual(
    [0, 3599, 3600].map((seconds) => secondsToWait(request(0), after(seconds))),
    [3600, 1, 0],
  )
  assert.equal(secondsToWait(request(0, 5), after(0)), 30)
  assert.equal(secondsToWait(request(), after(-86_400)), 30, 'a clock that was set back')
})

test('the number of links left is shown as long as it is valid', () => {
  assert.equal(linksLeftAt(request(1), after(3599)), 1)
  assert.equal(linksLeftAt(request(1), after(3600)), undefined)
  assert.equal(linksLeftAt(request(), after(0)), undefined)
})

test('other state of a history entry is no mail request', () => {
  for (const state of [null, undefined, 'x', { token: 't' }, { email: 7 }])
    assert.equal(magicLinkRequestIn(state), undefined)
  assert.deepEqual(magicLinkRequestIn({ email: 'a@x.org' }), { email: 'a@x.org', at: 0, links: undefined })
  assert.deepEqual(magicLinkRequestIn({ ...request(2) }), request(2))
  assert.equal(magicLinkRequestIn({ email: 'a@x.org', at: 1, links: { left: '2' } })?.links, undefined)
})

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
