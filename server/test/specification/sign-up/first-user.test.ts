import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { ask, assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { startMailServer } from '../../support/mail/mail-server.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const adminsOf = async ({ database }: Berth) =>
  (await database.db.selectFrom('users').select('email').where('is_admin', '=', 1).execute()).map(({ email }) => email)

test('of twenty people who sign up at once on a fresh Berth exactly one is an administrator', async (t) => {
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const emails = Array.from({ length: 20 }, (_, index) => `p${index}@x.org`)
  const replies = await Promise.all(emails.map((email) => ask(berth, 'signup', email)))
  for (const reply of replies) assertOk(reply)
  assert.equal((await adminsOf(berth)).length, 1)
})

test('twenty sign-ups of one address at once make one user', async (t) => {
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask(berth, 'signup', 'ann@x.org')))
  assert.deepEqual([...new Set(replies.map(({ status }) => status))].sort(), [200, 429])
  assert.equal((await berth.database.db.selectFrom('users').select('id').execute()).length, 1)
})

test('when the first sign-up of a fresh Berth fails to send its mail, the one behind it becomes administrator', async (t) => {
  // Refuses the first recipient, slowly, while the second person is signing up already.
  const post = await startMailServer({
    onRcptTo: ({ address }, _session, done) => {
      if (address !== 'unlucky@x.org') return done()
      setTimeout(() => done(new Error('mailbox unavailable')), 200)
    },
  })
  t.after(() => post.close())
  const berth = await startBerth(t, {
    wrapRuntime: noCreateRuntime,
    mailer: createSmtpMailer(post.url, 'berth@berth.test'),
  })
  const unlucky = ask(berth, 'signup', 'unlucky@x.org')
  await new Promise((resolve) => setTimeout(resolve, 50))
  const lucky = ask(berth, 'signup', 'lucky@x.org')
  assertRefused(await unlucky, 500)
  assertOk(await lucky)
  assert.deepEqual(await adminsOf(berth), ['lucky@x.org'])
})

test('addresses in ADMIN_EMAILS are administrators beside the first user', async (t) => {
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime, env: { ADMIN_EMAILS: 'root@x.org, Ops@x.org' } })
  for (const email of ['first@x.org', 'plain@x.org', 'ops@x.org']) assertOk(await ask(berth, 'signup', email))
  assert.deepEqual(await adminsOf(berth), ['first@x.org', 'ops@x.org'])
})

test('a Berth without an administrator says so at every start, with the way out', async (t) => {
  const wrapRuntime = noCreateRuntime
  const says = ({ logs }: Berth, words: RegExp) => logs.some((line) => words.test(line))
  const closed = await startBerth(t, { wrapRuntime, env: { SIGN_UP: 'invited' } })
  assert.ok(says(closed, /Sign-up is closed\. `berth users invite/))

  const fresh = await startBerth(t, { wrapRuntime })
  assert.ok(!says(fresh, /administrator|Nobody may/))
  assertOk(await ask(fresh, 'signup', 'mistyped@x.org'))
  await fresh.app.close()
  const again = await startBerth(t, { wrapRuntime, dataDir: fresh.dataDir, installation: fresh.installation })
  assert.ok(says(again, /No administrator has verified their address\. `berth users promote/))
})
