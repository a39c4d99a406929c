import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, blockUser, mailsTo, seenBy } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { refusingMailer } from '../../support/mail/faulty-mail-server.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()

const userOf = async (email: string) =>
  berth.database.db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()

test('signup trims and lower-cases the address', async () => {
  assertOk(await ask(berth, 'signup', '  TRIM@x.OrG \n'))
  assert.equal((await userOf('trim@x.org'))?.email, 'trim@x.org')
  assert.equal(mailsTo(berth, 'trim@x.org'), 1)
})

test('signup without a body is 400', async () => {
  assertRefused(await berth.call('POST', '/api/auth/signup'), 400)
})

test('signup with an empty address is 400, and so is one of spaces', async () => {
  for (const email of ['', '   ']) {
    const refused = await ask(berth, 'signup', email)
    assertRefused(refused, 400)
    assert.match(refused.body.error, /missing/)
  }
})

test('signup with what does not look like an address is 400', async () => {
  for (const email of ['nonsense', 'a@b', '@x.org', 'a@', 'a b@x.org', 'a@x..org', `${'x'.repeat(300)}@x.org`])
    assertRefused(await ask(berth, 'signup', email), 400)
})

test('an address that a mail library could read as two recipients is 400 and sends no mail', async () => {
  for (const email of ['1,victim@x.org', 'a@x.org,victim@x.org', 'a@x.org\r\nRCPT TO:<victim@x.org>', '"a" <v@x.org>'])
    assertRefused(await ask(berth, 'signup', email), 400)
  assert.equal(mailsTo(berth, 'victim@x.org'), 0)
})

test('letters beyond ASCII never become the address of another user', async () => {
  assertOk(await ask(berth, 'signup', 'kelvin@x.org'))
  const kelvinSign = '\u212Aelvin@x.org'
  assert.ok([200, 400].includes((await ask(berth, 'signup', kelvinSign)).status))
  const stored = await berth.database.db.selectFrom('users').select('email').where('email', 'like', '%elvin%').execute()
  assert.deepEqual(
    stored.map(({ email }) => email),
    ['kelvin@x.org'],
  )
})

test('ordinary addresses of every kind are accepted', async () => {
  for (const email of ['first.last@x.org', 'a+tag@x.org', 'x_y-z@sub.example.co.uk', "o'brien@x.org", '1@x.museum'])
    assertOk(await ask(berth, 'signup', email))
})

test('signup of a new address creates a registered user and mails a signup link', async () => {
  assertOk(await ask(berth, 'signup', 'new@x.org'))
  assert.equal((await userOf('new@x.org'))?.state, 'registered')
  assert.match(berth.mail.newestTo('new@x.org').text ?? '', /\/verify-signup\?token=/)
})

test('a signup token has the type signup, the configured lifetime and the address of who asked', async () => {
  const before = Date.now()
  assertOk(await ask(berth, 'signup', 'stored@x.org'))
  const user = await userOf('stored@x.org')
  const links = berth.database.db.selectFrom('magic_links').selectAll()
  const link = await links.where('user_id', '=', user?.id ?? 0).executeTakeFirstOrThrow()
  assert.equal(link.token_type, 'signup')
  assert.equal(link.ip_address, '127.0.0.1')
  assert.ok(link.expires_at >= before + 900_000 && link.expires_at < before + 905_000)
})

test('only the first user ever created is an administrator', async () => {
  assertOk(await ask(berth, 'signup', 'second@x.org'))
  assert.equal((await seenBy(admin, admin.id)).is_admin, true)
  assert.equal((await userOf('second@x.org'))?.is_admin, 0)
})

test('signup of a registered address mails a login link and answers byte for byte as for a new one', async () => {
  const fresh = await ask(berth, 'signup', 'twice@x.org')
  const again = await ask(berth, 'signup', 'twice@x.org')
  assertOk(again)
  assert.equal(again.text, fresh.text)
  assert.deepEqual([...again.headers.keys()], [...fresh.headers.keys()])
  assert.match(berth.mail.newestTo('twice@x.org').text ?? '', /\/verify-login\?token=/)
})

test('signup of the address of a blocked user is 403 and sends nothing', async () => {
  const { id } = await berth.signUpWithoutContainer('blocked@x.org')
  assertOk(await blockUser(admin, id))
  assertRefused(await ask(berth, 'signup', 'blocked@x.org'), 403)
  assert.equal(mailsTo(berth, 'blocked@x.org'), 1)
})

test('signup of a registered address beyond the limit is 429', async () => {
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'often@x.org'))
  assertRefused(await ask(berth, 'signup', 'often@x.org'), 429)
  assert.equal(mailsTo(berth, 'often@x.org'), 3)
})

test('signup of a new address beyond the limit is 429, and no user is made', async () => {
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'gone@x.org'))
  await berth.database.db.deleteFrom('users').where('email', '=', 'gone@x.org').execute()
  assertRefused(await ask(berth, 'signup', 'gone@x.org'), 429)
  assert.equal(await userOf('gone@x.org'), undefined)
})

test('a signup mail that cannot be sent is 500 and leaves neither user nor token nor slug behind', async (t) => {
  const silent = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: refusingMailer })
  for (let time = 1; time <= 4; time++) {
    const refused = await ask(silent, 'signup', 'ann@x.org')
    assertRefused(refused, 500)
    assert.doesNotMatch(refused.text, /secret-relay/)
  }
  for (const table of ['users', 'magic_links', 'used_slugs', 'link_requests'] as const)
    assert.deepEqual(await silent.database.db.selectFrom(table).selectAll().execute(), [])
})
