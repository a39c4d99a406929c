import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, blockUser, logIn, mailsTo, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { refusingMailer } from '../../support/mail/faulty-mail-server.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()

test('login trims and lower-cases the address', async () => {
  await berth.signUpWithoutContainer('trim@x.org')
  assertOk(await ask(berth, 'login', '  TRIM@x.OrG \n'))
  assert.equal(mailsTo(berth, 'trim@x.org'), 2)
})

test('login without a body is 400', async () => {
  assertRefused(await berth.call('POST', '/api/auth/login'), 400)
})

test('login with an empty address is 400, and so is one of spaces', async () => {
  for (const email of ['', '   ', '\t\n']) assertRefused(await ask(berth, 'login', email), 400)
})

test('login has no address pattern: nonsense is an unknown address, 200', async () => {
  for (const email of ['nonsense', 'a@b', '@', `${'x'.repeat(400)}@x.org`]) assertOk(await ask(berth, 'login', email))
})

test('login of an unknown address answers 200, sends nothing, and is byte for byte the answer of a known one', async () => {
  await berth.signUpWithoutContainer('known@x.org')
  const [known, unknown] = [await ask(berth, 'login', 'known@x.org'), await ask(berth, 'login', 'unknown@x.org')]
  assertOk(unknown)
  assert.equal(unknown.text, known.text)
  assert.equal(typeof unknown.body.message, 'string')
  assert.deepEqual([...unknown.headers.keys()], [...known.headers.keys()])
  assert.equal(mailsTo(berth, 'unknown@x.org'), 0)
})

test('login of a blocked user is 403 and sends nothing', async () => {
  const { id } = await berth.signUpWithoutContainer('blocked@x.org')
  assertOk(await blockUser(admin, id))
  assertRefused(await ask(berth, 'login', 'blocked@x.org'), 403)
  assert.equal(mailsTo(berth, 'blocked@x.org'), 1)
})

test('the fourth link of an hour is 429, says when to come back, and sends nothing', async () => {
  await berth.signUpWithoutContainer('often@x.org')
  assertOk(await ask(berth, 'login', 'often@x.org'))
  assertOk(await ask(berth, 'login', 'often@x.org'))
  const refused = await ask(berth, 'login', 'often@x.org')
  assertRefused(refused, 429)
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(wait > 3500 && wait <= 3600, `Retry-After: ${wait}`)
  assert.equal(mailsTo(berth, 'often@x.org'), 3)
})

test('a login token has the type login, the configured lifetime and the address of who asked', async () => {
  const { id } = await berth.signUpWithoutContainer('stored@x.org')
  const before = Date.now()
  assertOk(await ask(berth, 'login', 'stored@x.org'))
  const links = await berth.database.db.selectFrom('magic_links').selectAll().where('user_id', '=', id).execute()
  const link = links.find(({ token_type }) => token_type === 'login')
  assert.ok(link)
  assert.equal(link.ip_address, '127.0.0.1')
  const lifetime = link.expires_at - before
  assert.ok(lifetime >= 900_000 && lifetime < 905_000, `${lifetime} ms`)
})

test('X-Forwarded-For of a client that is no trusted proxy is not believed', async () => {
  const { id } = await berth.signUpWithoutContainer('forwarded@x.org')
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email: 'forwarded@x.org' }, headers }))
  const links = await berth.database.db.selectFrom('magic_links').selectAll().where('user_id', '=', id).execute()
  assert.deepEqual([...new Set(links.map(({ ip_address }) => ip_address))], ['127.0.0.1'])
})

test('a user who never verified gets a login link, too', async () => {
  assertOk(await ask(berth, 'signup', 'unverified@x.org'))
  assertOk(await ask(berth, 'login', 'unverified@x.org'))
  assert.match(berth.mail.newestTo('unverified@x.org').text ?? '', /\/verify-login\?token=/)
})

test('twenty logins at once send no more than three mails', async () => {
  assertOk(await ask(berth, 'signup', 'parallel@x.org'))
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask(berth, 'login', 'parallel@x.org')))
  assert.equal(replies.filter(({ status }) => status === 200).length, 2)
  assert.equal(replies.filter(({ status }) => status === 429).length, 18)
  assert.equal(mailsTo(berth, 'parallel@x.org'), 3)
})

test('an older link stays valid when a newer one is sent', async () => {
  await berth.signUpWithoutContainer('older@x.org')
  const [first, second] = [await tokenBy(berth, 'login', 'older@x.org'), await tokenBy(berth, 'login', 'older@x.org')]
  assertOk(await verify(berth, 'login', second))
  assertOk(await verify(berth, 'login', first))
})

test('login leads to a session of the same user', async () => {
  const { id } = await berth.signUpWithoutContainer('same@x.org')
  const reply = await logIn(berth, 'same@x.org')
  assertOk(reply)
  assert.equal(reply.body.user.id, id)
})

test('a login mail that cannot be sent is 500, leaves no live link, and does not count towards the limit', async (t) => {
  const silent = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: refusingMailer })
  const user = {
    email: 'ann@x.org',
    slug: 'ann',
    state: 'verified',
    is_admin: 1,
    is_blocked: 0,
    created_at: Date.now(),
  }
  await silent.database.db
    .insertInto('users')
    .values(user as never)
    .execute()
  for (let time = 1; time <= 4; time++) {
    const refused = await ask(silent, 'login', 'ann@x.org')
    assertRefused(refused, 500)
    assert.doesNotMatch(refused.text, /secret-relay/)
  }
  assert.deepEqual(await silent.database.db.selectFrom('magic_links').selectAll().execute(), [])
})
