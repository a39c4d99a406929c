import { createTransport } from 'nodemailer'
import { smtpConnection, type SmtpTls } from './smtp-connection.ts'

/** How long each step of the server's may take, in ms. */
const timeout = 10_000

/** Connects to the mail server, and signs in where the address has a name. @throws when it does not let us */
export async function checkSmtp(url: string, tls: SmtpTls | null): Promise<void> {
  const transport = createTransport({ ...smtpConnection(url, tls, timeout) })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
