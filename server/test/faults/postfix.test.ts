// Part of npm run test:more: a mail server of Debian; smtp-mailer.test.ts states what Berth does with its certificate.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSmtp } from '#/accounts/mail/mail-transport.ts'
import { createSmtpMailer, type SmtpOptions } from '#/accounts/mail/smtp-mailer.ts'
import { waitFor } from '../support/program.ts'
import { startPostfix, withPostfix } from '../support/mail/postfix.ts'

/** A relay on the same machine as Debian installs it, whose certificate no authority vouches for, and which is strict about names. */
test(
  "Debian's Postfix takes mails by STARTTLS from a named host; required TLS refuses its certificate",
  withPostfix,
  async (t) => {
    const postfix = await startPostfix()
    t.after(() => postfix.stop())
    const message = { to: 'ann@x.org', subject: 'Hello', text: 'plain', html: '<p>rich</p>' }
    const send = async (options: SmtpOptions) => {
      const mailer = createSmtpMailer(postfix.url, 'berth@x.org', options)
      await mailer.send(message).finally(() => mailer.close())
    }
    const name = 'berth.example.org'
    await assert.rejects(send({ name: '[127.0.0.1]' }), /a host name is wanted/)
    await assert.rejects(send({ name, tls: 'required' }), /certificate/)
    await send({ name })
    await checkSmtp({ url: postfix.url, tls: null, name })
    await waitFor('the accepted mail', async () => /to=<ann@x\.org>.*status=sent/.test(await postfix.log()))
    assert.match(await postfix.log(), /TLS connection established from .*127\.0\.0\.1/)
  },
)
