import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { ask, assertOk, assertRefused, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { startMailServer } from '../../support/mail/mail-server.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

const wrapRuntime = noCreateRuntime
const env = { BASE_DOMAIN: 'berth.example', PREFERRED_URL_SCHEME: 'https' }
const berth = await startBerth({ after }, { wrapRuntime, env })

const linkIn = (email: string) => /https?:\/\/\S+/.exec(berth.mail.newestTo(email).text ?? '')?.[0] ?? ''

test('each issued link is one mail to exactly the address that asked', async () => {
  assertOk(await ask(berth, 'signup', 'ann@x.org'))
  const { envelopeTo, to } = berth.mail.newestTo('ann@x.org')
  assert.deepEqual(envelopeTo, ['ann@x.org'])
  assert.deepEqual(
    to?.map(({ address }) => address),
    ['ann@x.org'],
  )
})

test('a signup link leads to {frontend_url}/verify-signup, a login link to /verify-login, with the token as query', async () => {
  assertOk(await ask(berth, 'signup', 'bob@x.org'))
  assert.match(linkIn('bob@x.org'), /^https:\/\/spawner\.berth\.example\/verify-signup\?token=[\w-]{43}$/)
  assertOk(await ask(berth, 'login', 'bob@x.org'))
  assert.match(linkIn('bob@x.org'), /^https:\/\/spawner\.berth\.example\/verify-login\?token=[\w-]{43}$/)
})

test('text and HTML of the mail carry the same link, and say how long it works', async () => {
  assertOk(await ask(berth, 'signup', 'html@x.org'))
  const { html, text } = berth.mail.newestTo('html@x.org')
  assert.ok(html?.includes(`href="${linkIn('html@x.org')}"`))
  assert.match(text ?? '', /15 minutes/)
})

test('FRONTEND_URL overrides where links lead', async (t) => {
  const other = await startBerth(t, { wrapRuntime, env: { ...env, FRONTEND_URL: 'https://www.example.net' } })
  assertOk(await ask(other, 'signup', 'ann@x.org'))
  assert.match(other.mail.newestTo('ann@x.org').text ?? '', /https:\/\/www\.example\.net\/verify-signup\?token=/)
})

test('Host headers of a client never change where links lead', async () => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'content-type': 'application/json' }
  const { status } = await rawCall(berth, 'POST', '/api/auth/signup', headers, '{"email":"host@x.org"}')
  assert.equal(status, 200)
  assert.match(linkIn('host@x.org'), /^https:\/\/spawner\.berth\.example\//)
})

test('the page that a link leads to answers without using the link up', async () => {
  const token = await tokenBy(berth, 'signup', 'page@x.org')
  const page = await berth.call('GET', `/verify-signup?token=${token}`, { headers: { accept: 'text/html' } })
  assertOk(page)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assertOk(await verify(berth, 'signup', token))
})

test('tokens are random: no two are alike, and each has 256 bits', async () => {
  const tokens = new Set<string>()
  for (let index = 0; index < 20; index++) tokens.add(await tokenBy(berth, 'signup', `random${index}@x.org`))
  assert.equal(tokens.size, 20)
  for (const token of tokens) assert.equal(Buffer.from(token, 'base64url').length, 32)
})

test('only the hash of a token is stored', async () => {
  const token = await tokenBy(berth, 'signup', 'hash@x.org')
  const stored = await berth.database.db.selectFrom('magic_links').selectAll().execute()
  assert.ok(!JSON.stringify(stored).includes(token))
})

test('a mail server that refuses is 500, and once it accepts again everything works and nothing has counted', async (t) => {
  let isRefusing = true
  const post = await startMailServer({
    onRcptTo: (_address, _session, done) => done(isRefusing ? new Error('mailbox unavailable') : null),
  })
  t.after(() => post.close())
  const fragile = await startBerth(t, { wrapRuntime, mailer: createSmtpMailer(post.url, 'berth@berth.test') })
  for (let time = 1; time <= 5; time++) assertRefused(await ask(fragile, 'signup', 'ann@x.org'), 500)
  isRefusing = false
  assertOk(await ask(fragile, 'signup', 'ann@x.org'))
  assert.equal((await verify(fragile, 'signup', post.tokenFor('ann@x.org'))).body.user.slug, 'ann')
  isRefusing = true
  for (let time = 1; time <= 5; time++) assertRefused(await ask(fragile, 'login', 'ann@x.org'), 500)
  isRefusing = false
  for (let time = 1; time <= 2; time++) assertOk(await ask(fragile, 'login', 'ann@x.org'))
  assertRefused(await ask(fragile, 'login', 'ann@x.org'), 429)
})

test('a mail server that is not there is 500', async (t) => {
  const mailer = createSmtpMailer('smtp://127.0.0.1:1', 'berth@berth.test')
  const lonely = await startBerth(t, { wrapRuntime, mailer })
  assertRefused(await ask(lonely, 'signup', 'ann@x.org'), 500)
})

test('sign-ups of one address do not wait for each other for ever while the mail server is silent', async (t) => {
  const silence = 4_000
  const mailer = {
    send: async () => {
      await new Promise((resolve) => setTimeout(resolve, silence))
      throw new Error('silent')
    },
    close: () => undefined,
  }
  const berth = await startBerth(t, { wrapRuntime, mailer })
  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask(berth, 'signup', 'ann@x.org')))
  for (const answer of answers) assertRefused(answer, 500)
  assert.ok(performance.now() - begun < 5 * silence, 'one after the other they would take six times as long as one')
  assert.equal((await berth.database.db.selectFrom('users').selectAll().execute()).length, 0)
})

test('a mail says who asked: their address, and their browser when it is one that is known', async () => {
  const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const asking = (email: string, agent: string) =>
    berth.call('POST', '/api/auth/signup', { body: { email }, headers: { 'user-agent': agent } })
  assertOk(await asking('browser@x.org', firefox))
  const { text, html } = berth.mail.newestTo('browser@x.org')
  for (const part of [text, html]) assert.match(part ?? '', /with Firefox on Windows, from the address 127\.0\.0\.1,/)
  assertOk(await asking('madeup@x.org', 'Call +1-555-0100 <b>now</b> (Windows NT 10.0) Chrome/1'))
  // Not in the raw mail: about one Message-ID or MIME boundary in 60 holds 555 by chance.
  const made = berth.mail.newestTo('madeup@x.org')
  for (const part of [made.text, made.html]) assert.doesNotMatch(part ?? '', /\+1-555|<b>now/)
})
