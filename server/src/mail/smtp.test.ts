import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMailServer } from '#test/support/mail-server.ts'
import type { Message } from './mailer.ts'
import { createSmtpMailer } from './smtp.ts'

const message = (to: string): Message => ({ to, subject: 'Hello', text: 'plain', html: '<p>rich</p>' })

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
})

test('an address that reads as a list reaches nobody on the list', async (t) => {
  const server = await startMailServer()
  t.after(() => server.close())
  const mailer = createSmtpMailer(server.url, 'berth@x.org')
  await mailer.send(message('a,victim@x.org')).catch(() => undefined)
  mailer.close()
  assert.ok(server.received.every(({ envelopeTo }) => !envelopeTo.includes('victim@x.org')))
})

test('a server that takes the message but never says so has failed when the limit is over', async (t) => {
  const server = await startMailServer({ onData: (stream) => void stream.resume() })
  const mailer = createSmtpMailer(server.url, 'berth@x.org', { limit: 300 })
  t.after(async () => {
    mailer.close()
    await server.close()
  })
  const started = performance.now()
  await assert.rejects(mailer.send(message('ann@x.org')))
  assert.ok(performance.now() - started < 2_000)
})
