import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { ask, assertOk, assertRefused, blockUser, mailsTo, verify } from '../../support/api-calls.ts'
import { startBerth, type Berth, type Person } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { startMailServer } from '../../support/mail/mail-server.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime
const env = { SIGN_UP: 'invited', ADMIN_EMAILS: 'boss@x.org', ALLOWED_EMAIL_DOMAINS: 'x.org' }
const berth = await startBerth({ after }, { wrapRuntime, env })
const admin = await berth.administrator()
const invite = (emails: unknown, send?: boolean, by: Person = admin) =>
  by.call('POST', '/api/admin/invitations', { body: { emails, ...(send === undefined ? {} : { send }) } })
const day = 86_400_000

const rows = async ({ database }: Berth, table: 'users' | 'magic_links' | 'used_slugs') =>
  (await database.db.selectFrom(table).selectAll().execute()).length
const actionsOf = async ({ database }: Berth) =>
  (await database.db.selectFrom('audit_log').selectAll().orderBy('id').execute())
    .filter(({ action }) => action.startsWith('user.invite'))
    .map(({ action, target, actor_email, detail }) => ({ action, target, actor_email, detail: JSON.parse(detail) }))

test('an administrator invites people: each gets a mail that says who it was, and their link signs them up', async () => {
  const reply = await invite([' Ann@X.org', 'ben@elsewhere.net', 'ann@x.org'])
  assertOk(reply)
  assert.equal(reply.body.message, '2 of 2 invited.')
  assert.deepEqual(reply.body.invitations, [
    { email: 'ann@x.org', status: 'invited' },
    { email: 'ben@elsewhere.net', status: 'invited' },
  ])
  const { text, html } = berth.mail.newestTo('ben@elsewhere.net')
  for (const part of [text, html]) {
    assert.match(part ?? '', /because boss@x\.org invited ben@elsewhere\.net to Berth/)
    assert.match(part ?? '', /within 7 days/)
  }
  assert.equal(mailsTo(berth, 'ann@x.org'), 1)
  const verified = await verify(berth, 'signup', berth.mail.tokenFor('ben@elsewhere.net'))
  assertOk(verified)
  assert.equal(verified.body.user.slug, 'ben')
  assert.equal(verified.body.user.is_admin, false)
})

// An English administrator's invitations once reached a German class as "Finish signing up to Berth".
test('the mail of an invitation says so in its subject, in the language that the administrator chose for it', async () => {
  const body = { emails: ['erika@x.org'], language: 'de' }
  assertOk(await admin.call('POST', '/api/admin/invitations', { body }))
  const german = berth.mail.newestTo('erika@x.org')
  assert.equal(german.subject, 'Du bist zu Berth eingeladen')
  assert.match(german.text ?? '', /boss@x\.org hat ein Konto für dich angelegt/)
  assertOk(await invite(['erik@x.org']))
  const english = berth.mail.newestTo('erik@x.org')
  assert.equal(english.subject, 'You are invited to Berth')
  assert.doesNotMatch(`${english.text}${english.html}`, /[Ff]inish signing up/)
  assertRefused(await admin.call('POST', '/api/admin/invitations', { body: { ...body, language: 'fr' } }), 400)
})

test('the link of an invitation lasts seven days', async () => {
  await withTime(async (pass) => {
    for (const email of ['early@x.org', 'late@x.org']) assertOk(await invite([email]))
    pass(7 * day - 60_000)
    assertOk(await verify(berth, 'signup', berth.mail.tokenFor('early@x.org')))
    pass(60_001)
    assertRefused(await verify(berth, 'signup', berth.mail.tokenFor('late@x.org')), 400)
  })
})

test('with send: false nothing is mailed and the link is in the answer', async () => {
  const reply = await invite(['cat@x.org'], false)
  assertOk(reply)
  const [{ link, status }] = reply.body.invitations
  assert.equal(status, 'invited')
  assert.equal(mailsTo(berth, 'cat@x.org'), 0)
  assertOk(await verify(berth, 'signup', new URL(link).searchParams.get('token') ?? ''))
})

/** An administrator who invites with `send: false` has the link, and would have had the account after the person proved the address. */
test('a link that was not mailed is void as soon as the account is verified by another one, and used once', async () => {
  const unmailed = async () => {
    const [{ link }] = (await invite(['ceo@x.org'], false)).body.invitations
    return new URL(link).searchParams.get('token') ?? ''
  }
  const [first, second] = [await unmailed(), await unmailed()]
  assertOk(await verify(berth, 'signup', first))
  assertRefused(await verify(berth, 'signup', second), 400)
  assertOk(await invite(['cfo@x.org']))
  const [{ link }] = (await invite(['cfo@x.org'], false)).body.invitations
  const [mailed, kept] = [berth.mail.tokenFor('cfo@x.org'), new URL(link).searchParams.get('token') ?? '']
  assertOk(await invite(['cfo@x.org']))
  assertOk(await verify(berth, 'signup', berth.mail.tokenFor('cfo@x.org')))
  assertRefused(await verify(berth, 'signup', kept), 400)
  // Specification: a token is valid while it is unexpired and unused.
  assertOk(await verify(berth, 'signup', mailed))
})

test('who never verified is invited again; who did, who is blocked, and what is no address is not', async () => {
  assertOk(await invite(['dan@x.org', 'blocked@x.org']))
  const first = berth.mail.tokenFor('dan@x.org')
  const { id } = await berth.database.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', 'blocked@x.org')
    .executeTakeFirstOrThrow()
  assertOk(await blockUser(admin, id))
  const { body } = await invite(['dan@x.org', 'boss@x.org', 'blocked@x.org', 'no address', 'a,b@x.org'])
  assert.deepEqual(
    body.invitations.map(({ email, status }: { email: string; status: string }) => [email, status]),
    [
      ['dan@x.org', 'invited'],
      ['boss@x.org', 'already-registered'],
      ['blocked@x.org', 'already-registered'],
      ['no address', 'invalid'],
      ['a,b@x.org', 'invalid'],
    ],
  )
  assert.equal(mailsTo(berth, 'blocked@x.org'), 1)
  assertOk(await verify(berth, 'signup', first))
})

test('invitations do not count towards the limit of the invited address', async () => {
  for (let time = 1; time <= 5; time++) assertOk(await invite(['eve@x.org']))
  assert.equal(mailsTo(berth, 'eve@x.org'), 5)
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'login', 'eve@x.org'))
})

test('each invitation is in the audit log, and no link is', async () => {
  const [{ link }] = (await invite(['fay@x.org'], false)).body.invitations
  const entries = await actionsOf(berth)
  const newest = entries.at(-1)
  assert.equal(newest?.action, 'user.invite')
  assert.equal(newest?.actor_email, 'boss@x.org')
  assert.match(newest?.target ?? '', /^user:\d+$/)
  const [shown] = (await admin.call('GET', '/api/admin/audit?limit=1')).body.entries
  assert.equal(shown.detail.email, 'fay@x.org')
  assert.ok(!JSON.stringify(entries).includes(new URL(link).searchParams.get('token') ?? ''))
})

test('a list that is none, an empty one and one of more than 100 are 400', async () => {
  const many = Array.from({ length: 101 }, (_, index) => `p${index}@x.org`)
  for (const emails of ['ann@x.org', [], many, [1], undefined, null]) assertRefused(await invite(emails), 400)
})

test('only administrators can invite', async () => {
  assertOk(await invite(['gus@x.org']))
  const { body } = await verify(berth, 'signup', berth.mail.tokenFor('gus@x.org'))
  const asking = { token: body.access_token, body: { emails: ['hal@x.org'] } }
  assertRefused(await berth.call('POST', '/api/admin/invitations', asking), 403)
})

test('a mail that is not accepted leaves nothing behind but its two lines in the audit log, and others are invited', async (t) => {
  const post = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('bad') ? new Error('mailbox unavailable') : null),
  })
  t.after(() => post.close())
  const fragile = await startBerth(t, { wrapRuntime, mailer: createSmtpMailer(post.url, 'berth@berth.test') })
  assertOk(await ask(fragile, 'signup', 'boss@x.org'))
  const { access_token: token } = (await verify(fragile, 'signup', post.tokenFor('boss@x.org'))).body
  const before = [await rows(fragile, 'users'), await rows(fragile, 'used_slugs'), await rows(fragile, 'magic_links')]
  const asking = { token, body: { emails: ['bad1@x.org', 'bad2@x.org'] } }
  const { body } = await fragile.call('POST', '/api/admin/invitations', asking)
  assert.deepEqual(
    body.invitations.map(({ status }: { status: string }) => status),
    ['failed', 'failed'],
  )
  const after = [await rows(fragile, 'users'), await rows(fragile, 'used_slugs'), await rows(fragile, 'magic_links')]
  assert.deepEqual(after, before)
  assert.deepEqual((await actionsOf(fragile)).map(({ action }) => action).sort(), [
    'user.invite',
    'user.invite',
    'user.invite-failed',
    'user.invite-failed',
  ])
  const good = await fragile.call('POST', '/api/admin/invitations', {
    token,
    body: { emails: ['good@x.org', 'bad1@x.org'] },
  })
  assert.deepEqual(
    good.body.invitations.map(({ status }: { status: string }) => status),
    ['invited', 'failed'],
  )
})

test('the first user invited to an empty Berth becomes its administrator, and no other of the same list', async (t) => {
  const empty = await startBerth(t, { wrapRuntime, env: { SIGN_UP: 'invited' } })
  const emails = Array.from({ length: 10 }, (_, index) => `p${index}@x.org`)
  const reply = await empty.operate('POST', '/api/admin/invitations', { body: { emails } })
  assertOk(reply)
  assert.equal(reply.body.message, '10 of 10 invited.')
  const admins = await empty.database.db.selectFrom('users').select('id').where('is_admin', '=', 1).execute()
  assert.equal(admins.length, 1)
  assert.match(empty.mail.newestTo('p0@x.org').text ?? '', /because the operator of Berth invited p0@x\.org/)
})
