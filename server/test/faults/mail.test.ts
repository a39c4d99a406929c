import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { ask, assertOk, assertRefused, verify } from '../support/api-calls.ts'
import { startBerth, type Berth, type Lifetime, type Reply } from '../support/berth.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { startFaultyMailServer, type MailVice } from '../support/mail/faulty-mail-server.ts'
import { waitFor } from '../support/program.ts'
import { firstOfList } from '#test/support/extent.ts'

/** How long a slow machine may take until things are well again, in ms. */
const timeout = 60_000

/** How long the mailer waits for a server that says nothing at all, in ms; the usual ten seconds, but sooner. */
const shortTimeout = 400

async function startWith(lifetime: Lifetime, vice: MailVice) {
  const post = await startFaultyMailServer(vice)
  const waits = { timeout: 10_000 }
  const isMute = () => ['deaf', 'drivelling', 'tarpit'].includes(post.vice)
  const mailer: Mailer = {
    send: async (message) => {
      const timeout = isMute() ? shortTimeout : waits.timeout
      await createSmtpMailer(post.url, 'berth@berth.test', { timeout }).send(message)
    },
    close: () => undefined,
  }
  const berth = await startBerth(lifetime, { wrapRuntime: noCreateRuntime, mailer })
  lifetime.after(() => post.close())
  return { post, berth, waits }
}

/** Everything that a sign-up stores. */
async function stored({ database: { db } }: Berth): Promise<unknown[]> {
  const tables = ['users', 'used_slugs', 'magic_links', 'link_requests'] as const
  return Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()))
}

async function timed(asked: Promise<Reply>): Promise<{ reply: Reply; ms: number }> {
  const began = performance.now()
  return { reply: await asked, ms: performance.now() - began }
}

describe('a mail server with a vice', async () => {
  const { post, berth, waits } = await startWith({ after }, 'none')
  assertOk(await ask(berth, 'signup', 'first@x.org'))

  const vices: [MailVice, string][] = [
    ['deaf', 'takes the connection and says nothing'],
    ['drivelling', 'never comes to the end of its greeting'],
    ['closed', 'is too busy'],
    ['broken-tls', 'promises encryption and cannot'],
    ['closes-in-data', 'closes in the middle of the message'],
    ['closes-after-data', 'takes the message and closes'],
    ['tarpit', 'takes longer than any timeout'],
  ]
  for (const [index, [vice, words]] of vices.entries()) {
    test(
      `a mail server that ${words}: 500, nothing is stored or has counted, and its next mail works`,
      firstOfList(index),
      async () => {
        const email = `${vice}@x.org`
        const before = await stored(berth)
        post.vice = vice
        // More often than the hour allows.
        for (const { reply, ms } of await Promise.all(
          Array.from({ length: 4 }, () => timed(ask(berth, 'signup', email))),
        )) {
          assertRefused(reply, 500)
          assert.ok(ms < 15_000, `${ms} ms`)
        }
        assert.deepEqual(await stored(berth), before)
        if (vice === 'closes-after-data') assertRefused(await verify(berth, 'signup', post.newestToken()), 400)
        post.vice = 'none'
        assertOk(await ask(berth, 'signup', email))
        assertOk(await verify(berth, 'signup', post.newestToken()))
      },
    )
  }

  test('a link that is used before its server hangs up without a word keeps its account', async () => {
    post.vice = 'silent-after-data'
    const count = post.received.length
    const asked = ask(berth, 'signup', 'quick@x.org')
    await waitFor('the mail to arrive', async () => post.received.length > count, timeout)
    assertOk(await verify(berth, 'signup', post.newestToken()))
    post.hangUp()
    assertRefused(await asked, 500)
    post.vice = 'none'
    assertOk(await ask(berth, 'login', 'quick@x.org'))
    assertOk(await verify(berth, 'login', post.newestToken()))
  })

  test('a login link of a mail that arrived is void when its server never said so', async () => {
    post.vice = 'silent-after-data'
    waits.timeout = 3_000
    assertRefused(await ask(berth, 'login', 'deaf@x.org'), 500)
    waits.timeout = 10_000
    assertRefused(await verify(berth, 'login', post.newestToken()), 400)
    post.vice = 'none'
    assertOk(await ask(berth, 'login', 'deaf@x.org'))
    assertOk(await verify(berth, 'login', post.newestToken()))
  })

  test('greylisted, the first attempt is 500 and the second, by the person, arrives', async () => {
    post.vice = 'greylisting'
    assertRefused(await ask(berth, 'signup', 'grey@x.org'), 500)
    assertOk(await ask(berth, 'signup', 'grey@x.org'))
    assertOk(await verify(berth, 'signup', post.newestToken()))
  })
})

test('while the first sign-up waits for a slow mail server the others are answered in time, and there is one administrator in the end', async (t) => {
  const { post, berth } = await startWith(t, 'deaf')
  const emails = Array.from({ length: 8 }, (_, index) => `first${index}@x.org`)
  const asked = await Promise.all(emails.map((email) => timed(ask(berth, 'signup', email))))
  for (const { reply, ms } of asked) {
    assertRefused(reply, 500)
    assert.ok(ms < 15_000, `${ms} ms`)
  }
  assert.deepEqual(await stored(berth), [[], [], [], []])
  post.vice = 'none'
  for (const email of emails) assertOk(await ask(berth, 'signup', email))
  const admins = await berth.database.db.selectFrom('users').select('email').where('is_admin', '=', 1).execute()
  assert.deepEqual(
    admins.map(({ email }) => email),
    ['first0@x.org'],
  )
})

test('a thousand mails to a deaf server take a few connections, all are answered, and none stays open', async (t) => {
  const post = await startFaultyMailServer('deaf')
  t.after(() => post.close())
  const mailer = createSmtpMailer(post.url, 'berth@berth.test', { timeout: 5_000, maxConnections: 5 })
  const send = (index: number) =>
    mailer.send({ to: `u${index}@x.org`, subject: 'Hello', text: 'plain', html: '<p>rich</p>' })
  const sent = await Promise.allSettled(Array.from({ length: 1_100 }, (_, index) => send(index)))
  assert.ok(sent.every(({ status }) => status === 'rejected'))
  assert.equal(post.connections.max, 5)
  await waitFor('the connections to be closed', async () => post.connections.open === 0, timeout)
  post.vice = 'none'
  await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)))
  assert.equal(post.received.length, 20)
})
