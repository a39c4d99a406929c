import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { linksLeftOf } from '@berth/api/links-left.ts'
import { ask, assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth, type Berth, type Reply } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berths = {
  usual: await startBerth({ after }, { wrapRuntime: noCreateRuntime }),
  strict: await startBerth({ after }, { wrapRuntime: noCreateRuntime, env: { ENUMERATION_STRICT: '1' } }),
}
const left = ({ headers }: Reply) => linksLeftOf(headers)?.left
const resend = (berth: Berth, email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })

for (const [name, berth] of Object.entries(berths)) {
  test(`${name}: each request for a link says how many are left, the same for known and unknown addresses`, async () => {
    assertOk(await ask(berth, 'signup', 'known@x.org'))
    assertOk(await ask(berth, 'signup', 'gone@x.org'))
    await berth.database.db.deleteFrom('users').where('email', '=', 'gone@x.org').execute()
    for (const email of ['known@x.org', 'gone@x.org']) {
      assert.equal(left(await ask(berth, 'login', email)), 1)
      const last = await resend(berth, email)
      assert.equal(left(last), 0)
      const { reset = 0 } = linksLeftOf(last.headers) ?? {}
      assert.ok(reset > 3_000 && reset <= 3_600, String(reset))
    }
    for (const email of ['known@x.org', 'gone@x.org', 'never@x.org']) await resend(berth, email)
    assert.equal(left(await resend(berth, 'never@x.org')), 1)
  })
}

test('at the limit the same headers say none left, and when there is one again', async () => {
  const refused = await ask(berths.usual, 'signup', 'known@x.org')
  assertRefused(refused, 429)
  assert.deepEqual(linksLeftOf(refused.headers), { left: 0, reset: Number(refused.headers.get('retry-after')) })
})

test('an unknown address that asked as often as it may is answered with 200 as ever, and told none', async () => {
  for (let time = 0; time < 3; time++) await ask(berths.usual, 'login', 'nobody@x.org')
  const reply = await ask(berths.usual, 'login', 'nobody@x.org')
  assertOk(reply)
  assert.equal(left(reply), 0)
})

test('nothing is said of text that cannot be an address, nor where the request was refused for another reason', async () => {
  assert.equal(left(await ask(berths.usual, 'login', 'nonsense')), undefined)
  assert.equal(left(await ask(berths.usual, 'login', '')), undefined)
})
