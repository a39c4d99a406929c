import { failureReason, type Email, type Mailer } from './mailer.ts'
import { Semaphore } from '#/machine/semaphore.ts'
import { lazyTransport, smtpConnection, type SmtpServer, type SmtpTls } from './mail-transport.ts'

/** Timeout of a mail, including the wait for a free connection, in ms. */
const defaultTimeout = 10_000
/** Max parallel connections: what mail servers allow one client, and what a slow one may cost. */
const defaultMaxConnections = 20
/** Max mails that wait for a connection: more cannot be sent within the timeout and are refused at once. */
const maxWaiting = 1_000

export interface SmtpOptions {
  /** Null, or left out: depends on the server's address. */
  readonly tls?: SmtpTls | null
  readonly name?: SmtpServer['name']
  /** ms */
  readonly timeout?: number
  /** Max parallel connections. */
  readonly maxConnections?: number
}

/**
 * Mailer over SMTP, with a new connection for each mail: an idle connection would fail the first mail after a restart
 * of the server.
 * @param url   `smtp(s)://user:password@host:port`
 * @param from  sender that recipients see
 */
export function createSmtpMailer(url: string, from: string, options: SmtpOptions = {}): Mailer {
  const { timeout = defaultTimeout, maxConnections = defaultMaxConnections, tls = null, name } = options
  const transport = lazyTransport({
    // Its timeout is for each of the server's steps; the signal below ends the whole mail.
    ...smtpConnection({ url, tls, name }, timeout),
    // A cancelled connection is closed at once: a server that keeps its side open would keep our socket, too.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const connections = new Semaphore({ max: maxConnections, maxWaiting })
  return {
    async send(message) {
      const late = new Error(`the mail server did not accept the message within ${timeout} ms`)
      const end = new AbortController()
      using _ = setTimeout(() => end.abort(late), timeout)
      try {
        const { signal } = end
        await connections.run(() => transport.sendMail({ ...toMail(message, from), signal }), { signal })
      } catch (error) {
        throw end.signal.aborted ? late : withoutQuotes(error, message.to)
      }
    },
    close: () => transport.close(),
  }
}

/**
 * The same error without what the server quoted of the mail, in all of its properties: a log takes each of them, and
 * the links in mails are secrets. An error without a response of the server is left as it is.
 */
function withoutQuotes(error: unknown, to: string): unknown {
  if (!(error instanceof Error && 'response' in error)) return error
  const { code, command, responseCode } = error as { code?: unknown; command?: unknown; responseCode?: unknown }
  return Object.assign(new Error(failureReason(error, to)), { code, command, responseCode })
}

/** Keeps absence notices and other automatic answers from being sent to `MAIL_FROM` (RFC 3834, 2 and 5). */
const headers = { 'Auto-Submitted': 'auto-generated' }

/**
 * The recipient as an object and once more in the envelope: as text, an address with a comma would be parsed into two
 * recipients.
 */
function toMail({ to, subject, text, html }: Email, from: string) {
  const recipient = { name: '', address: to }
  return { from, to: recipient, envelope: { from, to: [recipient] }, subject, text, html, headers }
}
