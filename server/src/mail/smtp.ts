import type { Mailer, Email } from './mailer.ts'
import { Semaphore } from '#/concurrency/semaphore.ts'
import { smtpConnection, type SmtpTls } from './smtp-connection.ts'
import { lazyTransport } from './lazy-transport.ts'

/** How long sending may take, from the wait for a free connection to the server's last word, in ms. */
const defaultTimeout = 10_000
/** Connections at the same time: what mail servers allow one client, and what a slow one may cost us. */
const defaultMaxConnections = 20
/** Mails that may wait for one of them: more than can be sent within the limit need not wait to be refused. */
const maxWaiting = 1_000

export interface SmtpOptions {
  /** Null, or left out: as the server's address asks for. */
  readonly tls?: SmtpTls | null
  /** ms */
  readonly timeout?: number
  /** Connections at the same time. */
  readonly maxConnections?: number
}

/**
 * Sends through a mail server, each mail on a connection of its own: one that is kept would fail the first mail after
 * the server was restarted.
 * @param url   `smtp(s)://user:password@host:port`
 * @param from  what recipients see as the sender
 */
export function createSmtpMailer(url: string, from: string, options: SmtpOptions = {}): Mailer {
  const { timeout = defaultTimeout, maxConnections = defaultMaxConnections, tls = null } = options
  const transport = lazyTransport({
    // Its limit is for each of the server's steps; the signal below ends one that says a little every nine seconds.
    ...smtpConnection(url, tls, timeout),
    // What was given up is closed at once: a server that keeps its side open would keep our socket, too.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const connections = new Semaphore({ max: maxConnections, maxWaiting })
  return {
    async send(message) {
      const late = new Error(`the mail server did not accept the message within ${timeout} ms`)
      const end = new AbortController()
      const timer = setTimeout(() => end.abort(late), timeout)
      try {
        const { signal } = end
        await connections.run(() => transport.sendMail({ ...toMail(message, from), signal }), { signal })
      } catch (error) {
        throw end.signal.aborted ? late : error
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => transport.close(),
  }
}

/**
 * The recipient as an object and once more in the envelope: given as text, an address with a comma in it would be
 * parsed into two recipients.
 */
function toMail({ to, subject, text, html }: Email, from: string) {
  const recipient = { name: '', address: to }
  return { from, to: recipient, envelope: { from, to: [recipient] }, subject, text, html }
}
