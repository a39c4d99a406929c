import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, mailsTo } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime
const berth = await startBerth({ after }, { wrapRuntime, env: { ENUMERATION_STRICT: '1' } })
const resend = (email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })

test('with ENUMERATION_STRICT the fourth login of an hour is 429 for an unknown address, word for word as for a known one', async () => {
  assertOk(await ask(berth, 'signup', 'known@x.org'))
  for (let time = 1; time <= 2; time++) assertOk(await ask(berth, 'login', 'known@x.org'))
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'login', 'unknown@x.org'))
  const [known, unknown] = [await ask(berth, 'login', 'known@x.org'), await ask(berth, 'login', ' UNKNOWN@x.org')]
  assertRefused(known, 429)
  assertRefused(unknown, 429)
  assert.equal(unknown.text, known.text)
  assert.ok(Number(unknown.headers.get('retry-after')) > 3_500)
  assert.equal(mailsTo(berth, 'unknown@x.org'), 0)
})

test('it counts requests to resend-verification for any address, and sign-up continues the count', async () => {
  await berth.signUpWithoutContainer('verified@x.org')
  for (const email of ['verified@x.org', 'nobody@x.org']) {
    for (let time = 1; time <= 3; time++) assertOk(await resend(email))
    assertOk(await resend(email))
    assertRefused(await ask(berth, 'login', email), 429)
  }
  assertRefused(await ask(berth, 'signup', 'nobody@x.org'), 429)
})

test('an invalid address is answered with 200 without a limit, and not stored', async () => {
  const nonsense = [`${'x'.repeat(300)}@x.org`, 'nonsense', 'a,b@x.org']
  for (const email of nonsense) for (let time = 1; time <= 5; time++) assertOk(await ask(berth, 'login', email))
  const stored = await berth.database.db.selectFrom('link_requests').select('email').execute()
  assert.ok(stored.length > 0 && stored.every(({ email }) => !nonsense.includes(email)))
})
