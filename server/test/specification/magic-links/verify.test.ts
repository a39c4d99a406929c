import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  ask,
  assertOk,
  assertRefused,
  blockUser,
  seenBy,
  tokenBy,
  unblockUser,
  verify,
} from '../../support/api-calls.ts'
import type { Purpose } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const stateOf = async (email: string) =>
  (await berth.database.db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst())?.state
const purposes: readonly Purpose[] = ['signup', 'login']
const other = (purpose: Purpose): Purpose => (purpose === 'signup' ? 'login' : 'signup')

/** A link that would work, of a person who is new (signup) or verified (login). */
async function freshToken(purpose: Purpose, email: string): Promise<string> {
  if (purpose === 'login') await berth.signUp(email)
  return tokenBy(berth, purpose, email)
}

for (const purpose of purposes) {
  test(`verify-${purpose} without a token is 400`, async () => {
    assertRefused(await berth.call('GET', `/api/auth/verify-${purpose}`), 400)
    assertRefused(await verify(berth, purpose, ''), 400)
  })

  test(`verify-${purpose} with an unknown token is 400`, async () => {
    assertRefused(await verify(berth, purpose, 'A'.repeat(43)), 400)
  })

  test(`verify-${purpose} with anything but one token of ordinary length is 400 and uses nothing up`, async () => {
    const token = await freshToken(purpose, `odd-${purpose}@x.org`)
    const path = `/api/auth/verify-${purpose}`
    const queries = [
      `token=${token}&token=${token}`,
      `token[]=${token}`,
      `token=${'x'.repeat(600)}`,
      `token=${token}%00`,
    ]
    for (const query of queries) assertRefused(await berth.call('GET', `${path}?${query}`), 400)
    assertOk(await verify(berth, purpose, token))
  })

  test(`verify-${purpose} with a token of the other type is 400, and the token stays good at its own endpoint`, async () => {
    const token = await freshToken(purpose, `wrong-${purpose}@x.org`)
    assertRefused(await verify(berth, other(purpose), token), 400)
    assertOk(await verify(berth, purpose, token))
  })

  test(`verify-${purpose} with a used token is 400`, async () => {
    const token = await freshToken(purpose, `used-${purpose}@x.org`)
    assertOk(await verify(berth, purpose, token))
    assertRefused(await verify(berth, purpose, token), 400)
  })

  test(`verify-${purpose} with an expired token is 400; a moment before it is not`, async () => {
    const [late, timely] = [`late-${purpose}@x.org`, `timely-${purpose}@x.org`]
    const [lateToken, timelyToken] = [await freshToken(purpose, late), await freshToken(purpose, timely)]
    await withTime(async (pass) => {
      pass(890_000)
      assertOk(await verify(berth, purpose, timelyToken))
      pass(10_001)
      assertRefused(await verify(berth, purpose, lateToken), 400)
    })
  })

  test(`of twenty verify-${purpose} at once with one token exactly one gets a JWT`, async () => {
    const token = await freshToken(purpose, `race-${purpose}@x.org`)
    const replies = await Promise.all(Array.from({ length: 20 }, () => verify(berth, purpose, token)))
    const [winners, losers] = [replies.filter(({ status }) => status === 200), replies.filter((r) => r.status !== 200)]
    assert.equal(winners.length, 1)
    for (const loser of losers) assertRefused(loser, 400)
  })

  test(`a blocked user is refused with 403 at verify-${purpose}, and the link works after the unblock`, async () => {
    const email = `block-${purpose}@x.org`
    const token = await freshToken(purpose, email)
    const { id } = await berth.database.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
    assertOk(await blockUser(admin, id))
    assertRefused(await verify(berth, purpose, token), 403)
    assertOk(await unblockUser(admin, id))
    assertOk(await verify(berth, purpose, token))
  })

  test(`HEAD of verify-${purpose} never uses the link up`, async () => {
    const token = await freshToken(purpose, `head-${purpose}@x.org`)
    const head = await berth.call('HEAD', `/api/auth/verify-${purpose}?token=${token}`)
    assert.ok(head.status === 404 || head.status === 405, `${head.status}`)
    assertOk(await verify(berth, purpose, token))
  })

  test(`a prefetch of verify-${purpose} is refused and never uses the link up`, async () => {
    const token = await freshToken(purpose, `prefetch-${purpose}@x.org`)
    for (const header of ['sec-purpose', 'purpose', 'x-moz'])
      assertRefused(
        await berth.call('GET', `/api/auth/verify-${purpose}?token=${token}`, { headers: { [header]: 'prefetch' } }),
        400,
      )
    assertOk(await verify(berth, purpose, token))
  })
}

test('the answer of a link that is unknown, used or expired is the same', async () => {
  const token = await tokenBy(berth, 'signup', 'alike@x.org')
  assertOk(await verify(berth, 'signup', token))
  const [used, unknown] = [await verify(berth, 'signup', token), await verify(berth, 'signup', 'B'.repeat(43))]
  assert.equal(used.text, unknown.text)
})

test('verify-signup makes the user verified', async () => {
  const token = await tokenBy(berth, 'signup', 'verified@x.org')
  assert.equal(await stateOf('verified@x.org'), 'registered')
  const reply = await verify(berth, 'signup', token)
  assert.equal(reply.body.user.state, 'verified')
  assert.equal(await stateOf('verified@x.org'), 'verified')
})

test('a container that cannot be created does not fail verify-signup or verify-login, and is logged', async () => {
  const token = await tokenBy(berth, 'signup', 'unlucky@x.org')
  const signup = await verify(berth, 'signup', token)
  assertOk(signup)
  assert.equal(signup.body.user.container_id, null)
  assertOk(await verify(berth, 'login', await tokenBy(berth, 'login', 'unlucky@x.org')))
  const id = signup.body.user.id
  assert.equal(berth.logs.filter((line) => line.includes(`first container of user ${id} failed`)).length, 2)
})

test('verify-login of a user in state registered is 403, and the link works once they have verified', async () => {
  const signupToken = await tokenBy(berth, 'signup', 'early@x.org')
  const loginToken = await tokenBy(berth, 'login', 'early@x.org')
  assertRefused(await verify(berth, 'login', loginToken), 403)
  assertOk(await verify(berth, 'signup', signupToken))
  assertOk(await verify(berth, 'login', loginToken))
})

test('verify-login sets last_used and leaves the state as it is', async () => {
  const { id } = await berth.signUp('lastused@x.org')
  const before = Date.now()
  const reply = await verify(berth, 'login', await tokenBy(berth, 'login', 'lastused@x.org'))
  assertOk(reply)
  assert.equal(reply.body.user.state, 'verified')
  const lastUsed = Date.parse((await seenBy(admin, id)).last_used)
  assert.ok(lastUsed >= before && lastUsed <= Date.now())
})

test('a second signup link never moves an active user back to verified', async () => {
  const first = await tokenBy(berth, 'signup', 'active@x.org')
  const body = { email: 'active@x.org' }
  assertOk(await berth.call('POST', '/api/auth/resend-verification', { body }))
  const second = berth.mail.tokenFor('active@x.org')
  assertOk(await verify(berth, 'signup', first))
  await berth.database.db.updateTable('users').set({ state: 'active' }).where('email', '=', body.email).execute()
  const reply = await verify(berth, 'signup', second)
  assertOk(reply)
  assert.equal(reply.body.user.state, 'active')
})

test('a link that is asked for by a page of another site answers, but sets no cookie', async () => {
  const token = await tokenBy(berth, 'signup', 'foreign@x.org')
  const headers = { 'sec-fetch-site': 'cross-site' }
  const reply = await berth.call('GET', `/api/auth/verify-signup?token=${token}`, { headers })
  assertOk(reply)
  assert.deepEqual(reply.headers.getSetCookie(), [])
})

test('no link, token or JWT is ever logged', async () => {
  const token = await tokenBy(berth, 'signup', 'secret@x.org')
  const reply = await verify(berth, 'signup', token)
  const jwt = reply.body.access_token
  assertOk(await berth.call('GET', '/api/user/me', { token: jwt }))
  assertOk(await ask(berth, 'login', 'secret@x.org'))
  for (const secret of [token, jwt, berth.mail.tokenFor('secret@x.org')])
    assert.ok(!berth.logs.some((line) => line.includes(secret)))
})
