import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { SMTPServerOptions } from 'smtp-server'
import { startMailServer } from '#test/support/mail/mail-server.ts'
import type { Email } from './mailer.ts'
import { createSmtpMailer } from './smtp-mailer.ts'
import { smtpConnection, type SmtpTls } from './mail-transport.ts'
import { timeLimit } from '#test/support/extent.ts'

const message = (to: string): Email => ({ to, subject: 'Hello', text: 'plain', html: '<p>rich</p>' })

test('a mail arrives with one recipient, a plain part and an HTML part', async (t) => {
  const server = await startMailServer()
  t.after(() => server.close())
  const mailer = createSmtpMailer(server.url, 'Berth <berth@x.org>')
  await mailer.send(message('ann@x.org'))
  mailer.close()
  const mail = server.newestTo('ann@x.org')
  assert.deepEqual(mail.envelopeTo, ['ann@x.org'])
  assert.equal(mail.from?.address, 'berth@x.org')
  assert.equal(mail.text?.trim(), 'plain')
  assert.match(mail.html ?? '', /<p>rich<\/p>/)
  // No absence notice of the recipient comes back to MAIL_FROM (RFC 3834, 5).
  assert.match(mail.raw, /^Auto-Submitted: auto-generated\r$/im)
})

test('an address that reads as a list reaches no address of the list', async (t) => {
  const server = await startMailServer()
  t.after(() => server.close())
  const mailer = createSmtpMailer(server.url, 'berth@x.org')
  await mailer.send(message('a,victim@x.org')).catch(() => undefined)
  await mailer.send(message('ben@x.org'))
  mailer.close()
  assert.ok(server.received.some(({ envelopeTo }) => envelopeTo.includes('ben@x.org')))
  assert.ok(server.received.every(({ envelopeTo }) => !envelopeTo.includes('victim@x.org')))
})

test('a server that takes the message but never says so has failed when the limit is over', async (t) => {
  const server = await startMailServer({ onData: (stream) => void stream.resume() })
  const mailer = createSmtpMailer(server.url, 'berth@x.org', { timeout: 300 })
  t.after(async () => {
    mailer.close()
    await server.close()
  })
  const started = performance.now()
  await assert.rejects(mailer.send(message('ann@x.org')))
  assert.ok(performance.now() - started < timeLimit(2_000))
})

test('a filter that refuses a mail and quotes its link brings the link into no log', async (t) => {
  const link = `https://berth.test/archive#token=${'kJ3_fEw9-QzX0aB1cD2eF3gH'}`
  const refusal = Object.assign(new Error(`5.7.1 on a list: ${link}`), { responseCode: 554 })
  const refusing: SMTPServerOptions['onData'] = (stream, _, done) => void stream.on('end', () => done(refusal)).resume()
  const server = await startMailServer({ onData: refusing })
  const mailer = createSmtpMailer(server.url, 'berth@x.org')
  t.after(async () => {
    mailer.close()
    await server.close()
  })
  const sent = mailer.send({ ...message('ann@x.org'), text: link })
  const error: unknown = await sent.then(
    () => assert.fail('it was accepted'),
    (each: unknown) => each,
  )
  let line = ''
  pino({}, { write: (text) => void (line = text) }).error({ err: error })
  assert.match(line, /554 5\.7\.1 on a list: …/)
  assert.match(line, /"responseCode":554/)
  assert.doesNotMatch(line, /kJ3_fEw9/)
})

/**
 * A server behind a network that an attacker controls: it removes STARTTLS from the offer, which neither side can see.
 */
async function hostOf(t: TestContext) {
  const server = await startMailServer()
  t.after(() => server.close())
  return server
}

test('a server that offers no TLS gets no mail where TLS is required, and learns neither name, password nor addressee', async (t) => {
  const server = await hostOf(t)
  const mailer = createSmtpMailer(server.url, 'berth@x.org', { tls: 'required' })
  await assert.rejects(mailer.send(message('ann@x.org')))
  mailer.close()
  assert.equal(server.received.length, 0)
  const lenient = createSmtpMailer(server.url, 'berth@x.org', { tls: 'opportunistic' })
  await lenient.send(message('ann@x.org'))
  lenient.close()
  assert.equal(server.received.length, 1)
})

/** Offers STARTTLS with a certificate that it made itself, as a mail server of Debian does after its installation. */
const startSelfSigned = (secure = false) => startMailServer({ disabledCommands: ['AUTH'], secure })

test('opportunistic TLS encrypts to a server whose certificate no authority vouches for; required TLS sends it nothing', async (t) => {
  const server = await startSelfSigned()
  t.after(() => server.close())
  const sendWith = async (tls?: SmtpTls) => {
    const mailer = createSmtpMailer(server.url, 'berth@x.org', tls === undefined ? {} : { tls })
    await mailer.send(message(`${tls ?? 'local'}@x.org`)).finally(() => mailer.close())
  }
  await assert.rejects(sendWith('required'), /certificate/)
  await sendWith('opportunistic')
  await sendWith()
  assert.deepEqual(
    server.received.map(({ envelopeTo, isEncrypted }) => [...envelopeTo, isEncrypted]),
    [
      ['opportunistic@x.org', true],
      ['local@x.org', true],
    ],
  )
})

test('smtps:// verifies the certificate whatever SMTP_TLS says', async (t) => {
  const server = await startSelfSigned(true)
  t.after(() => server.close())
  for (const scheme of ['smtps', 'SMTPS']) {
    const mailer = createSmtpMailer(server.url.replace('smtp', scheme), 'berth@x.org', { tls: 'opportunistic' })
    await assert.rejects(mailer.send(message('ann@x.org')), /certificate/)
    mailer.close()
  }
})

test('the mail server is told the name of this installation, or the one that the address gives', async (t) => {
  const server = await startMailServer()
  t.after(() => server.close())
  for (const query of ['', '?name=other.x.org']) {
    const mailer = createSmtpMailer(server.url + query, 'berth@x.org', { name: 'berth.x.org' })
    await mailer.send(message('ann@x.org'))
    mailer.close()
  }
  assert.deepEqual(
    server.received.map(({ greetedAs }) => greetedAs),
    ['berth.x.org', 'other.x.org'],
  )
})

test('TLS is required beyond this machine unless the operator says otherwise', () => {
  const isRequired = (url: string, tls: SmtpTls | null = null) => smtpConnection({ url, tls }, 1).requireTLS
  for (const host of ['127.0.0.1', '127.9.9.9:2525', '[::1]:25', 'localhost', 'LOCALHOST', 'mail.localhost'])
    assert.equal(isRequired(`smtp://${host}`), false, host)
  for (const host of [
    'mail.example.org',
    'u:p@10.0.0.5:25',
    '[fe80::1]',
    '127.0.0.1.example.org',
    'localhost.example.org',
  ])
    assert.equal(isRequired(`smtp://${host}`), true, host)
  assert.equal(isRequired('smtp://mail.example.org', 'opportunistic'), false)
  assert.equal(isRequired('smtp://127.0.0.1', 'required'), true)
})
