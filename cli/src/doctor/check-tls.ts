import { readFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { settingFix, type CheckContext, type Finding } from './check.ts'

/** A certificate that ends within this is a warning; renewal by ACME is at 30 days. In ms. */
const notice = 21 * 86_400_000
const timeout = 5_000

/** Whether connections are encrypted, and whether the certificate is valid, for the host, and for long enough. */
export async function checkTls(context: CheckContext, signal: AbortSignal): Promise<Finding[]> {
  const { config, warnings, addresses } = context
  const isPlain = warnings.some(({ key }) => key === 'findings.plainHttp')
  const isOpen = warnings.some(({ key }) => key === 'findings.openListener')
  if (isPlain || isOpen) return [isPlain ? plainHttp(addresses.frontendUrl) : openListener(config.host)]
  if (config.tls) return ownCertificate(config.tls.certFile, new URL(addresses.frontendUrl).hostname, context.now)
  return addresses.frontendUrl.startsWith('https:') ? servedCertificate(addresses.frontendUrl, context.now, signal) : []
}

const renewal = 'renew it (certbot renew, or your proxy); Berth uses a new file within seconds'

function ownCertificate(file: string, host: string, now: Date): Finding[] {
  const leaf = new X509Certificate(readFileSync(file))
  const isForHost = leaf.checkHost(host) !== undefined || (isIP(host) !== 0 && leaf.checkIP(host) !== undefined)
  return [
    ...endOf(`The certificate in ${file}`, new Date(leaf.validTo), now),
    ...(isForHost ? [] : [forAnotherHost(`The certificate in ${file}`, host)]),
  ]
}

/** @throws when nothing answers at the address of the front end from here */
async function servedCertificate(url: string, now: Date, signal: AbortSignal): Promise<Finding[]> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port || 443),
    ...(isIP(host) ? {} : { servername: host }),
    rejectUnauthorized: false,
  })
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
    await once(socket, 'secureConnect', { signal: limit })
    const { valid_to: end } = socket.getPeerCertificate()
    const late = endOf(`The certificate of ${url}`, new Date(end), now)
    return late.length > 0 ? late : untrusted(url, host, socket)
  } catch (error) {
    throw new Error(`${url} cannot be reached from this machine`, { cause: error })
  } finally {
    socket.destroy()
  }
}

function untrusted(url: string, host: string, socket: TLSSocket): Finding[] {
  const { authorized, authorizationError } = socket as { authorized: boolean; authorizationError: unknown }
  if (authorized) return []
  const { subjectaltname } = socket.getPeerCertificate() as Partial<PeerCertificate>
  // Node gives a code, as a string or in an error, by its kind.
  const code = String((authorizationError as { code?: unknown } | null)?.code ?? authorizationError)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return [forAnotherHost(`The certificate of ${url} (${subjectaltname})`, host)]
  return [
    {
      level: 'warning',
      what: `This machine does not trust the certificate of ${url} (${code}): browsers may warn, and programs refuse it.`,
      fix: 'use a certificate of a public authority such as Let’s Encrypt, with its whole chain',
    },
  ]
}

function endOf(what: string, end: Date, now: Date): Finding[] {
  const left = end.getTime() - now.getTime()
  const day = end.toISOString().slice(0, 10)
  if (left > notice) return []
  if (left <= 0)
    return [{ level: 'critical', what: `${what} ended on ${day}: browsers refuse every page.`, fix: renewal }]
  return [{ level: 'warning', what: `${what} ends on ${day}, in ${Math.floor(left / 86_400_000)} days.`, fix: renewal }]
}

const forAnotherHost = (what: string, host: string): Finding => ({
  level: 'critical',
  what: `${what} is not for ${host}: browsers refuse every page.`,
  fix: `get one for ${host}; or correct BASE_DOMAIN and SPAWNER_SUBDOMAIN`,
})

const plainHttp = (url: string): Finding => ({
  level: 'critical',
  what: `Tokens travel over plain http to ${url}: programs on the way can take over accounts, and browsers lack several protections.`,
  fix: `put a TLS proxy in front (docs/how-to/use-a-reverse-proxy.md) or give Berth a certificate; ${settingFix('PREFERRED_URL_SCHEME=https')}`,
})

const openListener = (host: string): Finding => ({
  level: 'warning',
  what: `HOST=${host} answers other machines over plain http.`,
  fix: settingFix('HOST=127.0.0.1'),
})
