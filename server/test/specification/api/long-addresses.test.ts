import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** The gateway answered 414 to these, where the specification names 401 and 400. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const ann = await berth.signUpWithoutContainer('ann@x.org')
const lengths = [2_049, 9_000, 16_385, 30_000]

test('a container type of any length that is not configured is 400, and 401 before it', async () => {
  const refused = await ann.call('POST', '/api/container/launch/unknown')
  for (const length of lengths) {
    const launch = `/api/container/launch/${'x'.repeat(length)}`
    const reply = await ann.call('POST', launch)
    assertRefused(reply, 400)
    assert.equal(reply.body.error, refused.body.error)
    assertRefused(await berth.call('POST', launch), 401)
  }
})

test('a token of any length that no link has is 400', async () => {
  for (const length of lengths)
    for (const verify of ['verify-login', 'verify-signup'])
      assertRefused(await berth.call('GET', `/api/auth/${verify}?token=${'x'.repeat(length)}`), 400)
})

test('an unknown address of any length is 404, and a query that no endpoint reads does no harm', async () => {
  for (const length of lengths) {
    assertRefused(await berth.call('GET', `/api/${'x'.repeat(length)}`), 404)
    assertOk(await ann.call('GET', `/api/user/me?${'x'.repeat(length)}`))
  }
})
