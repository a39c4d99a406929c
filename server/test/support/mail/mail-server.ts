import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as it arrived at a real SMTP server, with the envelope it came in. */
export interface Received extends Email {
  readonly envelopeTo: string[]
  readonly raw: string
  /** Whether it came by TLS. */
  readonly isEncrypted: boolean
  /** What the client said its name is. */
  readonly greetedAs: string
}

export interface MailServer {
  readonly url: string
  readonly received: Received[]
  /** The newest mail to this address. @throws when none has arrived */
  newestTo(email: string): Received
  /** The token in the newest mail to this address. */
  tokenFor(email: string): string
  close(): Promise<void>
}

/**
 * A real SMTP server that keeps what it accepts.
 * @param overrides e.g. a handler that refuses recipients, to provoke a failure
 */
export async function startMailServer(overrides: SMTPServerOptions = {}): Promise<MailServer> {
  const received: Received[] = []
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    // No question to a name server before each greeting.
    disableReverseLookup: true,
    // In ms: a client that has given up may leave its connection open.
    closeTimeout: 1_000,
    onData(stream, session, done) {
      const envelopeTo = session.envelope.rcptTo.map(({ address }) => address)
      const way = { envelopeTo, isEncrypted: session.secure, greetedAs: session.hostNameAppearsAs }
      void keep(stream, way).then(() => done(), done)
    },
    ...overrides,
  })
  // A client that gives up may reset its connection.
  server.on('error', () => undefined)
  const keep = async (
    stream: AsyncIterable<Buffer>,
    way: Pick<Received, 'envelopeTo' | 'isEncrypted' | 'greetedAs'>,
  ) => {
    const raw = Buffer.concat(await Array.fromAsync(stream))
    received.push({ ...(await PostalMime.parse(raw)), ...way, raw: raw.toString() })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const newestTo = (email: string) => {
    const mail = received.findLast(({ envelopeTo }) => envelopeTo.includes(email))
    if (!mail) throw new Error(`no mail to ${email} has arrived`)
    return mail
  }
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    newestTo,
    tokenFor: (email) => tokenIn(newestTo(email).text ?? ''),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function tokenIn(text: string): string {
  const token = /[?&]token=([\w-]+)/.exec(text)?.[1]
  if (!token) throw new Error('there is no link in this mail')
  return token
}
