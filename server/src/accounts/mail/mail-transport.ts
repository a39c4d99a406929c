import { isIP } from 'node:net'
import type * as nodemailer from 'nodemailer'

/**
 * TLS of an `smtp://` server: STARTTLS required with a certificate that is verified, or used if the server offers it,
 * with any certificate.
 */
export type SmtpTls = 'required' | 'opportunistic'

/** A mail server, and how to speak to it. */
export interface SmtpServer {
  /** `smtp(s)://user:password@host:port`; `smtps://` is TLS from the first byte on. */
  readonly url: string
  /** Null where the operator has not decided. */
  readonly tls: SmtpTls | null
  /**
   * What this client says its name is (`EHLO`, RFC 5321, 4.1.1.1), unless the address has `?name=`. Strict servers
   * refuse the library's own default, `[127.0.0.1]`.
   */
  readonly name?: string | undefined
}

/**
 * Connection options for Nodemailer. Mails carry links that sign users in, and an attacker between Berth and the server
 * can hide that it offers TLS: so beyond this machine TLS is required, unless the operator decides otherwise.
 *
 * A certificate is verified where TLS is required. Where it is not, an attacker could as well hide the offer of TLS, so
 * that a check would only lose the mails to servers with a certificate of their own (RFC 7435, 3).
 * @param timeout ms for each of the server's steps
 */
export function smtpConnection({ url, tls, name }: SmtpServer, timeout: number) {
  const isVerified = verifiesCertificate(url, tls)
  const query = new URL(url).searchParams
  return {
    url,
    requireTLS: (tls ?? defaultTls(url)) === 'required',
    ...(name === undefined || query.has('name') ? {} : { name }),
    ...(isVerified || query.has('tls.rejectUnauthorized') ? {} : { tls: { rejectUnauthorized: false } }),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    dnsTimeout: timeout,
  }
}

/** Whether mails may be sent unencrypted without the operator's decision. */
export const mayTravelPlain = (url: string, tls: SmtpTls | null) =>
  !isTlsFromTheStart(url) && tls === 'opportunistic' && defaultTls(url) === 'required'

/** Whether the certificate of the server has to be valid for its name, and issued by whom this machine trusts. */
export const verifiesCertificate = (url: string, tls: SmtpTls | null) =>
  isTlsFromTheStart(url) || (tls ?? defaultTls(url)) === 'required'

const isTlsFromTheStart = (url: string) => new URL(url).protocol === 'smtps:'

const defaultTls = (url: string): SmtpTls => (isLocalhost(new URL(url).hostname) ? 'opportunistic' : 'required')

function isLocalhost(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === '::1' || address === 'localhost' || address.endsWith('.localhost')
}

type TransportOptions = Parameters<typeof nodemailer.createTransport>[0]

/** A mail transport. */
export interface LazyTransport {
  /** @throws what nodemailer throws */
  sendMail(mail: Parameters<nodemailer.Transporter['sendMail']>[0]): Promise<{ readonly message: unknown }>
  close(): void
}

/** nodemailer with these options, loaded by the first mail: it takes 3 MB, and most installations send mail rarely. */
export function lazyTransport(options: TransportOptions): LazyTransport {
  let made: Promise<nodemailer.Transporter> | undefined
  const make = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport(options) as nodemailer.Transporter
  }
  return {
    sendMail: async (mail) => {
      const transport = await (made ??= make())
      return (await transport.sendMail(mail)) as { message: unknown }
    },
    close: () => void made?.then((transport) => transport.close()),
  }
}

/** Timeout of each step of the server, in ms. */
const checkTimeout = 10_000

/** Connects to the mail server, and signs in when the address has a user name. @throws when the server refuses */
export async function checkSmtp(server: SmtpServer): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({ ...smtpConnection(server, checkTimeout) })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
