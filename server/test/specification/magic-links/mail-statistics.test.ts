import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { ask, assertOk, assertRefused, instant, logIn, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { startMailServer } from '../../support/mail/mail-server.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime

test('administrators and operators see how long mails take until they are accepted, and until their links are used', async (t) => {
  const berth = await startBerth(t, { wrapRuntime })
  const admin = await berth.administrator()
  const mail = async () => (await admin.call('GET', '/api/admin/system')).body.mail
  const first = await mail()
  assert.equal(first.accepted, 1)
  assert.equal(first.used, 1)
  assert.equal(first.failed, 0)
  assert.equal(first.last_failure_at, null)
  assert.ok(first.seconds_to_accept.median > 0 && first.seconds_to_accept.p90 < 10)

  await withTime(async (pass) => {
    assertOk(await ask(berth, 'signup', 'ann@x.org'))
    pass(600_000)
    assertOk(await verify(berth, 'signup', berth.mail.tokenFor('ann@x.org')))
  })
  const { used, seconds_to_use: late } = await mail()
  assert.equal(used, 2)
  assert.ok(late.p90 >= 600 && late.p90 < 700, `${late.p90} s`)

  const metrics = (await berth.call('GET', '/metrics')).text
  assert.match(metrics, /^berth_mail_accepted_total 2$/m)
  assert.match(metrics, /^# TYPE berth_mail_links_used_total counter$/m)
  assert.match(metrics, /^# TYPE berth_mail_seconds_to_use histogram$/m)
  assert.match(metrics, /^berth_mail_seconds_to_use_bucket\{le="300"\} 1$/m)
  assert.match(metrics, /^berth_mail_seconds_to_use_bucket\{le="900"\} 2$/m)
  assert.match(metrics, /^berth_mails_in_progress 0$/m)
})

test('a mail that is not accepted is counted, and the time of the last one is reported', async (t) => {
  let isRefusing = false
  const post = await startMailServer({
    onRcptTo: (_address, _session, done) => done(isRefusing ? new Error('mailbox unavailable') : null),
  })
  t.after(() => post.close())
  const berth = await startBerth(t, { wrapRuntime, mailer: createSmtpMailer(post.url, 'berth@berth.test') })
  assertOk(await ask(berth, 'signup', 'boss@x.org'))
  const { access_token: token } = (await verify(berth, 'signup', post.tokenFor('boss@x.org'))).body
  isRefusing = true
  assertRefused(await ask(berth, 'signup', 'ann@x.org'), 500)
  const { mail } = (await berth.call('GET', '/api/admin/system', { token })).body
  assert.equal(mail.failed, 1)
  assert.match(mail.last_failure_at, instant)
  assert.equal(mail.accepted, 1)
  assert.deepEqual(mail.failures, [
    { at: mail.last_failure_at, to: 'ann@x.org', kind: 'signup', reason: mail.failures[0].reason },
  ])
  assert.match(mail.failures[0].reason, /mailbox unavailable/)
})

test('the link of an invitation is used when people find the time, and says nothing about mail', async (t) => {
  const berth = await startBerth(t, { wrapRuntime })
  const admin = await berth.administrator()
  assertOk(await admin.call('POST', '/api/admin/invitations', { body: { emails: ['ann@x.org'] } }))
  await withTime(async (pass) => {
    pass(86_400_000)
    assertOk(await verify(berth, 'signup', berth.mail.tokenFor('ann@x.org')))
    const { body } = await logIn(berth, 'boss@x.org')
    const { mail } = (await berth.call('GET', '/api/admin/system', { token: body.access_token })).body
    assert.equal(mail.used, 2)
    assert.ok(mail.seconds_to_use.p90 < 3_600, `${mail.seconds_to_use.p90} s`)
  })
})
