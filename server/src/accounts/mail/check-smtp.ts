import { createTransport } from 'nodemailer'
import { smtpConnection, type SmtpTls } from './smtp-connection.ts'

/** Timeout of each step of the server, in ms. */
const timeout = 10_000

/** Connects to the mail server, and signs in when the address has a user name. @throws when the server refuses */
export async function checkSmtp(url: string, tls: SmtpTls | null): Promise<void> {
  const transport = createTransport({ ...smtpConnection(url, tls, timeout) })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
