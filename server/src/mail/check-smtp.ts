import { createTransport } from 'nodemailer'

/** How long each step of the server's may take, in ms. */
const limit = 10_000

/** Connects to the mail server, and signs in where the address has a name. @throws when it does not let us */
export async function checkSmtp(url: string): Promise<void> {
  const transport = createTransport({
    url,
    connectionTimeout: limit,
    greetingTimeout: limit,
    socketTimeout: limit,
    dnsTimeout: limit,
  })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
