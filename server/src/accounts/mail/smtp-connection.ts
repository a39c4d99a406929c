import { isIP } from 'node:net'

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
