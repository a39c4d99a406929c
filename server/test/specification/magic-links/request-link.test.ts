import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { linksLeftOf } from '@berth/api/links-left.ts'
import { ask, assertOk, assertRefused, blockUser, mailsTo, verify } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** `POST /api/auth/link`, which the one field of the front end asks. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const askForLink = (email: string, of: Berth = berth) => of.call('POST', '/api/auth/link', { body: { email } })

test('each request is answered by a mail with the right link: to new users, to those who lost their first mail, and to users with an account', async () => {
  const unknown = await askForLink(' New@x.org ')
  assertOk(unknown)
  const again = await askForLink('new@x.org')
  assertOk(await verify(berth, 'signup', berth.mail.tokenFor('new@x.org')))
  const known = await askForLink('new@x.org')
  assertOk(await verify(berth, 'login', berth.mail.tokenFor('new@x.org')))
  assert.deepEqual(
    [unknown, again, known].map(({ text }) => text),
    Array(3).fill((await ask(berth, 'signup', 'another@x.org')).text),
  )
  assert.deepEqual(
    [unknown, again, known].map(({ headers }) => linksLeftOf(headers)?.left),
    [2, 1, 0],
  )
  assertRefused(await askForLink('new@x.org'), 429)
})

test('a blocked account is refused, verified or not', async () => {
  assertOk(await askForLink('never@x.org'))
  const { id } = await berth.signUpWithoutContainer('bad@x.org')
  const users = berth.database.db.selectFrom('users').select('id')
  const never = await users.where('email', '=', 'never@x.org').executeTakeFirstOrThrow()
  for (const each of [id, never.id]) assertOk(await blockUser(admin, each))
  for (const email of ['bad@x.org', 'never@x.org']) assertRefused(await askForLink(email), 403)
})

test('who may not sign up gets the words and the limit of those who may, and no mail', async (t) => {
  const closed = await startBerth(t, {
    wrapRuntime: noCreateRuntime,
    env: { SIGN_UP: 'invited', ADMIN_EMAILS: 'a@x.org' },
  })
  const { text } = await askForLink('a@x.org', closed)
  for (const left of [2, 1, 0]) {
    const reply = await askForLink('stranger@x.org', closed)
    assertOk(reply)
    assert.deepEqual([reply.text, linksLeftOf(reply.headers)?.left], [text, left])
  }
  assertRefused(await askForLink('stranger@x.org', closed), 429)
  assert.equal(mailsTo(closed, 'stranger@x.org'), 0)
})
