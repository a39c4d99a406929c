import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Email } from '#/accounts/mail/mailer.ts'
import { ask, assertOk, assertRefused, blockUser, mailsTo, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const resend = (email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })

test('resend-verification mails another signup link to a user who never verified: the way out of the 403 at login', async () => {
  assertOk(await ask(berth, 'signup', 'lost@x.org'))
  assert.equal((await verify(berth, 'login', await tokenBy(berth, 'login', 'lost@x.org'))).status, 403)
  assertOk(await resend(' LOST@x.org '))
  assertOk(await verify(berth, 'signup', berth.mail.tokenFor('lost@x.org')))
})

test('resend-verification answers the same, and mails nothing, for verified, unknown and blocked users', async () => {
  assertOk(await ask(berth, 'signup', 'new@x.org'))
  const { text } = await resend('new@x.org')
  await berth.signUpWithoutContainer('verified@x.org')
  assertOk(await ask(berth, 'signup', 'blocked@x.org'))
  const users = berth.database.db.selectFrom('users').select('id')
  const { id } = await users.where('email', '=', 'blocked@x.org').executeTakeFirstOrThrow()
  assertOk(await blockUser(admin, id))
  for (const [email, mails] of [
    ['verified@x.org', 1],
    ['nobody@x.org', 0],
    ['blocked@x.org', 1],
  ] as const) {
    const reply = await resend(email)
    assertOk(reply)
    assert.equal(reply.text, text)
    assert.equal(mailsTo(berth, email), mails)
  }
})

test('resend-verification has the same limit, and says nothing when it is reached', async () => {
  assertOk(await ask(berth, 'signup', 'often@x.org'))
  for (let time = 1; time <= 5; time++) assertOk(await resend('often@x.org'))
  assert.equal(mailsTo(berth, 'often@x.org'), 3)
})

test('a link that was mailed again stays good when the mail of the sign-up, which took longer, fails in the end', async (t) => {
  const [mails, isWaiting, signUp] = [[] as Email[], Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // The first mail waits; all others are accepted at once.
  const send = async (message: Email) => {
    if (mails.push(message) > 1) return
    isWaiting.resolve()
    await signUp.promise
  }
  const own = await startEnginelessBerth(t, { mailer: { send, close: () => undefined } })
  const post = (path: string) => own.call('POST', `/api/auth/${path}`, { body: { email: 'ann@x.org' } })
  const first = post('signup')
  await isWaiting.promise
  assertOk(await post('resend-verification'))
  signUp.reject(new Error('451 try again later'))
  assertRefused(await first, 500)
  const [lost, mailed] = mails.map(tokenIn)
  assertRefused(await own.call('GET', `/api/auth/verify-signup?token=${lost}`), 400)
  assertOk(await own.call('GET', `/api/auth/verify-signup?token=${mailed}`))
})
