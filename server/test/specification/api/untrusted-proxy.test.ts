import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

/**
 * A reverse proxy on this machine that TRUSTED_PROXIES does not name switched the request limit off for all users,
 * without a word.
 */

const wrapRuntime = noCreateRuntime
const forwarded = { 'x-forwarded-for': '203.0.113.1' }
const warningsOf = async (berth: Berth, token: string, language = 'en'): Promise<string> =>
  (
    await berth.call('GET', '/api/admin/system', { token, headers: { 'accept-language': language } })
  ).body.warnings.join()

test('requests through a proxy that is not trusted are limited, and reported once in the log and on the page System', async (t) => {
  const berth = await startBerth(t, { wrapRuntime, env: { REQUESTS_PER_MINUTE: '5' } })
  const { token } = await berth.administrator()
  assert.doesNotMatch(await warningsOf(berth, token), /TRUSTED_PROXIES/)
  const ask = (n: number) => ({ body: { email: `nobody${n}@x.org` }, headers: forwarded })
  for (let n = 0; n < 5; n++) assertOk(await berth.call('POST', '/api/auth/login', ask(n)))
  assertRefused(await berth.call('POST', '/api/auth/login', ask(5)), 429)
  assert.match(await warningsOf(berth, token), /come from 127\.0\.0\.1, .* set TRUSTED_PROXIES=127\.0\.0\.1/)
  assert.match(await warningsOf(berth, token, 'de'), /Setze TRUSTED_PROXIES=127\.0\.0\.1/)
  const lines = berth.logs.filter((line) => line.includes('TRUSTED_PROXIES'))
  assert.equal(lines.length, 1)
  assert.equal(JSON.parse(lines[0] ?? '').address, '127.0.0.1')
  // Programs on the machine itself still are exempt.
  for (let n = 0; n < 10; n++) assertOk(await berth.call('POST', '/api/auth/login', { body: { email: 'x@x.org' } }))
})

test('a proxy that is trusted is no finding', async (t) => {
  const berth = await startBerth(t, { wrapRuntime, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const { token } = await berth.administrator()
  assertOk(await berth.call('GET', '/healthz', { headers: forwarded }))
  assert.doesNotMatch(await warningsOf(berth, token), /TRUSTED_PROXIES/)
  assert.doesNotMatch(berth.logs.join(), /TRUSTED_PROXIES/)
})

const env = { TRUSTED_PROXIES: '127.0.0.1' }
const school = await startBerth({ after }, { wrapRuntime, env })

test(
  '300 people behind one address sign up within a minute; another client there that tries one mailbox again is refused',
  onlyLong,
  async () => {
    const asking = (email: string) => ({ body: { email }, headers: forwarded })
    for (let n = 0; n < 20; n++) await school.call('POST', '/api/auth/login', asking('victim@x.org'))
    assertRefused(await school.call('POST', '/api/auth/login', asking('victim+tag@x.org')), 429)
    const people = Array.from({ length: 300 }, (_, n) => `person${n}@x.org`)
    for (let at = 0; at < people.length; at += 20)
      await Promise.all(
        people
          .slice(at, at + 20)
          .map(async (email) => assertOk(await school.call('POST', '/api/auth/signup', asking(email)))),
      )
    const verify = async (email: string) => {
      const link = `/api/auth/verify-signup?token=${school.mail.tokenFor(email)}`
      assertOk(await school.call('GET', link, { headers: forwarded }))
    }
    for (let at = 0; at < people.length; at += 20) await Promise.all(people.slice(at, at + 20).map(verify))
  },
)
