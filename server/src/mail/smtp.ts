import { createTransport } from 'nodemailer'
import type { Mailer, Message } from './mailer.ts'

/** How long a mail server may take for each step, and for all of them together, in ms. */
const usualLimit = 10_000

/**
 * Sends through a mail server.
 * @param url   `smtp(s)://user:password@host:port`
 * @param from  what recipients see as the sender
 * @param limit ms
 */
export function createSmtpMailer(url: string, from: string, limit = usualLimit): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: limit,
    greetingTimeout: limit,
    socketTimeout: limit,
    dnsTimeout: limit,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send(message) {
      await withLimit(limit, transport.sendMail(toMail(message, from)))
    },
    close: () => transport.close(),
  }
}

/**
 * The recipient as an object and once more in the envelope: given as text, an address with a comma in it would be
 * parsed into two recipients.
 */
function toMail({ to, subject, text, html }: Message, from: string) {
  const recipient = { name: '', address: to }
  return { from, to: recipient, envelope: { from, to: [recipient] }, subject, text, html }
}

/** The step limits alone would allow a server that says a little every nine seconds to go on for ever. */
async function withLimit(limit: number, sending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the mail server did not accept the message within ${limit} ms`)), limit)
  })
  try {
    await Promise.race([sending, timeout])
  } finally {
    clearTimeout(timer)
  }
}
