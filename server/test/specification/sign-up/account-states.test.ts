import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, logIn, seenBy, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { noCreateRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'
import { refusingMailer } from '../../support/mail/faulty-mail-server.ts'

/** The table of user states, row by row, and what does not move a user. Blocks have chapters of their own. */

const refusal: Fault = { active: true }
const berth = await startBerth({ after }, { wrapRuntime: (runtime) => noCreateRuntime(runtime, refusal) })
const admin = await berth.administrator()
const stateOf = async (email: string) => {
  const { users } = (await admin.call('GET', `/api/admin/users?q=${email}`)).body
  return users[0]?.state
}

async function active(name: string): Promise<Person> {
  refusal.active = false
  const person = await berth.signUpWithoutContainer(`${name}@x.org`)
  assertOk(await person.call('POST', '/api/container/restart'))
  refusal.active = true
  return person
}

test('(none) to registered: signup of a new address', async () => {
  assert.equal(await stateOf('new@x.org'), undefined)
  assertOk(await ask(berth, 'signup', 'new@x.org'))
  assert.equal(await stateOf('new@x.org'), 'registered')
})

test('(none) stays (none) when the address is invalid or the mail cannot be sent', async (t) => {
  assertRefused(await ask(berth, 'signup', 'invalid'), 400)
  assert.equal(await stateOf('invalid'), undefined)
  const silent = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: refusingMailer })
  assertRefused(await ask(silent, 'signup', 'ann@x.org'), 500)
  assert.deepEqual(await silent.database.db.selectFrom('users').select('id').execute(), [])
})

test('registered to verified: verify-signup', async () => {
  const token = await tokenBy(berth, 'signup', 'ann@x.org')
  assert.equal((await verify(berth, 'signup', token)).body.user.state, 'verified')
  assert.equal(await stateOf('ann@x.org'), 'verified')
})

test('registered stays registered: a second signup, a login, and a login link that is refused', async () => {
  for (const purpose of ['signup', 'signup', 'login'] as const) assertOk(await ask(berth, purpose, 'ben@x.org'))
  assertRefused(await verify(berth, 'login', berth.mail.tokenFor('ben@x.org')), 403)
  assert.equal(await stateOf('ben@x.org'), 'registered')
})

test('verified to active: a restart that succeeds, not one that fails', async () => {
  const { call } = await berth.signUpWithoutContainer('cat@x.org')
  assertRefused(await call('POST', '/api/container/restart'), 500, ['reason'])
  assert.equal(await stateOf('cat@x.org'), 'verified')
  refusal.active = false
  assertOk(await call('POST', '/api/container/restart'))
  refusal.active = true
  assert.equal(await stateOf('cat@x.org'), 'active')
})

test('verified stays verified: launch and verify-login', async () => {
  refusal.active = false
  const { call } = await berth.signUpWithoutContainer('dan@x.org')
  assertOk(await call('POST', '/api/container/launch/dev'))
  refusal.active = true
  assert.equal((await logIn(berth, 'dan@x.org')).body.user.state, 'verified')
})

test('active stays active: verify-login, block and unblock', async () => {
  const { id } = await active('eve')
  assert.equal((await logIn(berth, 'eve@x.org')).body.user.state, 'active')
  for (const verb of ['block', 'unblock']) assertOk(await admin.call('POST', `/api/admin/users/${id}/${verb}`))
  assert.equal((await seenBy(admin, id)).state, 'active')
})

test('a link goes from unused to used once, and a used or expired one is 400', async () => {
  const token = await tokenBy(berth, 'signup', 'fay@x.org')
  const links = berth.database.db.selectFrom('magic_links').select('used_at').orderBy('id', 'desc')
  assert.equal((await links.executeTakeFirst())?.used_at, null)
  assertOk(await verify(berth, 'signup', token))
  assert.notEqual((await links.executeTakeFirst())?.used_at, null)
  assertRefused(await verify(berth, 'signup', token), 400)
})
