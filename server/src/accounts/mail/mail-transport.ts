import { isIP } from 'node:net'
import type * as nodemailer from 'nodemailer'

/** TLS of an `smtp://` server: STARTTLS required, or used if the server offers it. */
export type SmtpTls = 'required' | 'opportunistic'

/**
 * Connection options for Nodemailer. Mails carry links that sign users in, and an attacker between Berth and the server
 * can hide that it offers TLS: so beyond this machine TLS is required, unless the operator decides otherwise.
 * @param url   `smtp(s)://user:password@host:port`; `smtps://` is TLS from the first byte on
 * @param tls   null where the operator has not decided
 * @param timeout ms for each of the server's steps
 */
export function smtpConnection(url: string, tls: SmtpTls | null, timeout: number) {
  return {
    url,
    requireTLS: (tls ?? defaultTls(url)) === 'required',
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    dnsTimeout: timeout,
  }
}

/** Whether mails may be sent unencrypted without the operator's decision. */
export const mayTravelPlain = (url: string, tls: SmtpTls | null) =>
  url.startsWith('smtp:') && tls === 'opportunistic' && defaultTls(url) === 'required'

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
export async function checkSmtp(url: string, tls: SmtpTls | null): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({ ...smtpConnection(url, tls, checkTimeout) })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
