import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, assertOk, assertRefused, logIn, mailsTo, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime

const usersOf = async ({ database }: Berth) =>
  (await database.db.selectFrom('users').select('email').orderBy('id').execute()).map(({ email }) => email)

test('ALLOWED_EMAIL_DOMAINS decides which addresses register; the others get the same answer, no mail and no account', async (t) => {
  const env = { ALLOWED_EMAIL_DOMAINS: 'Example.org, *.school.edu', ADMIN_EMAILS: 'boss@elsewhere.net' }
  const berth = await startBerth(t, { wrapRuntime, env })
  const allowed = ['ann@example.org', 'ben@a.school.edu', 'cat@b.a.school.edu', 'boss@elsewhere.net']
  const others = ['dan@sub.example.org', 'eve@school.edu', 'fay@notexample.org', 'gus@example.org.evil.net']
  const { text } = await ask(berth, 'signup', 'ann@example.org')
  for (const email of [...allowed, ...others]) {
    const reply = await ask(berth, 'signup', email)
    assertOk(reply)
    assert.equal(reply.text, text)
  }
  assert.deepEqual(await usersOf(berth), allowed)
  for (const email of others) assert.equal(mailsTo(berth, email), 0)
})

test('with SIGN_UP=invited only ADMIN_EMAILS register without an invitation', async (t) => {
  const env = { SIGN_UP: 'invited', ADMIN_EMAILS: 'boss@x.org' }
  const berth = await startBerth(t, { wrapRuntime, env })
  const { text } = await ask(berth, 'signup', 'ann@x.org')
  assert.deepEqual(await usersOf(berth), [])
  assert.equal((await ask(berth, 'signup', 'boss@x.org')).text, text)
  assert.deepEqual(await usersOf(berth), ['boss@x.org'])
})

test('an address that may not register has the limit of one that may', async (t) => {
  const berth = await startBerth(t, { wrapRuntime, env: { SIGN_UP: 'invited' } })
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'ann@x.org'))
  assertRefused(await ask(berth, 'signup', 'ann@x.org'), 429)
  // Login is as specified: an unknown address is never refused.
  assertOk(await ask(berth, 'login', 'ann@x.org'))
})

test('existing accounts stay what they are when the rules get stricter', async (t) => {
  const open = await startBerth(t, { wrapRuntime })
  await open.signUpWithoutContainer('ann@x.org')
  const late = await tokenBy(open, 'signup', 'ben@x.org')
  await open.app.close()
  const env = { SIGN_UP: 'invited', ALLOWED_EMAIL_DOMAINS: 'example.org' }
  const closed = await startBerth(t, { wrapRuntime, dataDir: open.dataDir, installation: open.installation, env })
  assertOk(await logIn(closed, 'ann@x.org'))
  assertOk(await ask(closed, 'signup', 'ann@x.org'))
  assert.equal(mailsTo(closed, 'ann@x.org'), 2)
  assertOk(await verify(closed, 'signup', late))
})
