import { X509Certificate } from 'node:crypto'
import { Resolver, lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { checkServerIdentity, connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { getDomain, parse } from 'tldts'
import { isLoopbackHost, isPrivateNetwork } from '@berth/gateway/basics/ip-address.ts'
import { checkSmtp } from '@berth/server/accounts/mail/mail-transport.ts'
import { smtpHeloName } from '@berth/server/config/config.ts'
import { findings as texts } from '@berth/texts/en/findings.ts'
import type { MessageKey } from '@berth/texts/localized-message.ts'
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

/** Whether a reverse proxy in front is named, so that each client counts by its own address. */
export async function checkProxy({ warnings, service }: CheckContext): Promise<Finding[]> {
  const has = (key: string) => warnings.some((each) => each.key === key)
  const seen = service !== null && typeof service === 'object' ? service.warnings.filter(isAboutProxies) : []
  return [
    ...(has('findings.anyTrustedProxy') ? [anyAddress] : []),
    ...seen.map((what): Finding => ({
      level: 'warning',
      what,
      fix: `with the address of the proxy: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
    })),
    ...(has('findings.noTrustedProxy') && seen.length === 0 ? [unnamed] : []),
  ]
}

/** Begin of what the service says of requests with forwarding headers; it is asked in English. */
const [start = ''] = texts.untrustedProxy.split('{')

/** Whether a warning of the service is one of this check. */
export const isAboutProxies = (warning: string) => warning.startsWith(start)

const anyAddress: Finding = {
  level: 'critical',
  what: 'TRUSTED_PROXIES trusts every address, so that each client chooses the address that limits and the audit log see.',
  fix: `with the address of the proxy alone: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
}

const unnamed: Finding = {
  level: 'warning',
  what: 'PREFERRED_URL_SCHEME=https without a certificate in Berth means a proxy in front, but TRUSTED_PROXIES names none: all clients count as one.',
  fix: `with the address of the proxy: ${settingFix('TRUSTED_PROXIES=127.0.0.1')}`,
}

/** Whether Berth could listen on its ports; while it runs, it does. */
export async function checkPorts({ config, service }: CheckContext): Promise<Finding[]> {
  if (service !== null) return []
  const ports = [config.port, config.tls?.redirectPort ?? 0].filter((port) => port !== 0)
  const tried = await Promise.all(ports.map((port) => tryToListen(config.host, port)))
  return tried.flat()
}

/** @param inUse what to do when another program listens there */
export async function tryToListen(host: string, port: number, inUse = settingFix('PORT=8081')): Promise<Finding[]> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    return []
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return [
      {
        level: 'critical',
        what: `Berth cannot listen on ${host}, port ${port} (${code}).`,
        fix: fixOf(code, port, inUse),
      },
    ]
  } finally {
    server.close()
  }
}

function fixOf(code: string, port: number, inUse: string): string {
  if (code === 'EADDRINUSE')
    return `ss --listening --tcp --processes 'sport = ${port}' names the program; end it, or ${inUse}`
  if (code === 'EACCES') return `give Berth CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)`
  return settingFix('HOST=127.0.0.1')
}

/** Whether the host of front end and containers is in DNS, and leads here. @throws when DNS does not answer */
export async function checkDns({ addresses, nameServers }: CheckContext): Promise<Finding[]> {
  const hosts = new Set([addresses.spawnerUrl, addresses.frontendUrl].map((url) => new URL(url).hostname))
  const checked = [...hosts].filter((host) => !isIP(host) && !host.startsWith('[') && !isLoopbackHost(host))
  return (await Promise.all(checked.map((host) => findingsOf(host, nameServers)))).flat()
}

async function findingsOf(host: string, nameServers: readonly string[] | null): Promise<Finding[]> {
  const found = await knownAddresses(host, nameServers)
  if (found.length === 0) return [unknown(host)]
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
  return found.some((address) => own.includes(address)) ? [] : [elsewhere(host, found, own)]
}

/** As programs of this machine see it, `/etc/hosts` included. */
async function addressesOf(host: string, nameServers: readonly string[] | null): Promise<string[]> {
  if (nameServers === null) return (await lookup(host, { all: true })).map(({ address }) => address)
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers(nameServers)
  return resolver.resolve4(host)
}

const unknown = (host: string): Finding => ({
  level: 'critical',
  what: `${host} is not in DNS as this machine sees it: browsers do not find Berth.`,
  fix: `add to DNS: ${host}. A address-of-this-machine`,
})

/** Behind NAT a machine does not have its public address, which is usual. */
const elsewhere = (host: string, found: readonly string[], own: readonly string[]): Finding => ({
  level: 'hint',
  what: `${host} leads to ${found.join(', ')}, which is not an address of this machine${own.some((each) => !isPrivateNetwork(each)) ? '' : ' (usual behind NAT)'}.`,
  fix: 'nothing, if a proxy or router there leads here; else correct the record in DNS',
})

/** Has the form of a container's host; whether there is such a container does not matter. */
const probe = 'berth-doctor'

/**
 * With subdomain routing: whether names below the spawner host are in DNS, lead where that leads, and are covered by the
 * certificate. @throws when DNS, or what serves https, does not answer
 */
export async function checkContainerHosts(context: CheckContext, signal: AbortSignal): Promise<Finding[]> {
  const { containerOrigin, spawnerUrl } = context.addresses
  if (!containerOrigin) return []
  const host = new URL(spawnerUrl).hostname
  const inDns = isLoopbackHost(host) ? [] : await dnsFindings(host, context.nameServers)
  // Of a name that does not exist nothing is served.
  return inDns.length > 0 ? inDns : certificateFindings(context, signal)
}

async function dnsFindings(host: string, nameServers: readonly string[] | null): Promise<Finding[]> {
  const [own, below] = await Promise.all([host, `${probe}.${host}`].map((name) => knownAddresses(name, nameServers)))
  if (below?.length === 0)
    return [
      {
        level: 'critical',
        what: `No name below ${host} is in DNS as this machine sees it: browsers find no container.`,
        fix: `add to DNS: *.${host}. with the address of ${host}; or ${settingFix('CONTAINER_ROUTING=path')}`,
      },
    ]
  if (own?.some((address) => below?.includes(address))) return []
  return [
    {
      level: 'warning',
      what: `Names below ${host} lead to ${below?.join(', ')}, and ${host} itself to ${own?.join(', ') || 'no address'}.`,
      fix: `correct the record of *.${host} in DNS, unless both lead to Berth`,
    },
  ]
}

/** None of a name that DNS does not know. @throws when DNS does not answer */
async function knownAddresses(host: string, nameServers: readonly string[] | null): Promise<string[]> {
  return addressesOf(host, nameServers).catch((error: unknown) => {
    if (['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  })
}

async function certificateFindings(
  { config, warnings, addresses }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { hostname, port, protocol } = new URL(addresses.spawnerUrl)
  if (config.tls) return warnings.some(({ key }) => key === 'findings.noWildcard') ? [notCovered(hostname)] : []
  if (protocol !== 'https:') return []
  const socket = connect({
    host: hostname,
    port: Number(port || 443),
    servername: `${probe}.${hostname}`,
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) })
    // Whether the certificate is trusted is the check of `tls`.
    const isCovered = checkServerIdentity(`${probe}.${hostname}`, socket.getPeerCertificate()) === undefined
    return isCovered ? [] : [notCovered(hostname)]
  } catch (error) {
    throw new Error(`https://${probe}.${hostname} cannot be reached from this machine`, { cause: error })
  } finally {
    socket.destroy()
  }
}

const notCovered = (host: string): Finding => ({
  level: 'critical',
  what: `The certificate is not for *.${host}: browsers refuse every container.`,
  fix: `get one for ${host} and *.${host} (DNS-01); see docs/how-to/give-containers-their-own-hosts.md`,
})

/**
 * Whether browsers keep the cookie of a sign-in: they drop one whose `Domain` is a public suffix, except for a host of
 * that very name (RFC 6265, 5.3, step 5). With the list of publicsuffix.org, private part included, as browsers do.
 */
export async function checkCookieDomain({ config, addresses }: CheckContext): Promise<Finding[]> {
  const { cookieDomain } = addresses
  if (isIP(cookieDomain) !== 0 || /(^|\.)localhost$/.test(cookieDomain)) return []
  const { publicSuffix, isIcann, isPrivate } = parse(cookieDomain, { allowPrivateDomains: true })
  if (publicSuffix !== cookieDomain) return []
  const isListed = isIcann === true || isPrivate === true
  const name = isListed ? 'a public suffix' : 'a name without a dot, which browsers treat as a public suffix'
  if (config.spawnerSubdomain === '') return isListed ? [sharedSuffix(cookieDomain)] : []
  return [
    {
      level: 'critical',
      what: `BASE_DOMAIN=${cookieDomain} is ${name}: browsers drop the cookie of a sign-in, so users cannot stay signed in.`,
      fix: settingFix(`BASE_DOMAIN=berth.${cookieDomain}`),
    },
  ]
}

const sharedSuffix = (domain: string): Finding => ({
  level: 'hint',
  what: `${domain} is a public suffix: its subdomains belong to others, and the cookie is kept for this host alone.`,
  fix: settingFix(`BASE_DOMAIN=berth.${domain}`),
})

/** Warnings that no mail server is set where one is needed. */
const isNone: ReadonlySet<MessageKey> = new Set<MessageKey>(['findings.noMailServer', 'findings.outboxOfEachNode'])

/** Whether the mail server answers, and takes the user name and password. */
export async function checkMailServer({ config, warnings }: CheckContext): Promise<Finding[]> {
  if (config.smtpUrl === null) return warnings.some(({ key }) => isNone.has(key)) ? [none] : []
  const plain = warnings.some(({ key }) => key === 'findings.plainMail') ? [unencrypted] : []
  const server = { url: config.smtpUrl, tls: config.smtpTls, name: smtpHeloName(config) }
  const failure = await checkSmtp(server).then(
    () => undefined,
    (error: unknown) => error as Error,
  )
  return failure ? [refused(failure.message), ...plain] : plain
}

const none: Finding = {
  level: 'critical',
  what: 'SMTP_URL is not set: no mail is sent, and links are only written to the outbox and the log.',
  fix: 'berth init, which asks for the mail server; docs/how-to/send-mail.md',
}

const unencrypted: Finding = {
  level: 'warning',
  what: 'SMTP_TLS=opportunistic: mails with links that sign people in may travel unencrypted, and the certificate of the mail server is not verified.',
  fix: settingFix('SMTP_TLS='),
}

const trustFix =
  'name the server as its certificate does; for a certificate of your own: NODE_EXTRA_CA_CERTS=file, or settings SMTP_TLS=opportunistic, which verifies none; docs/how-to/send-mail.md'

const refused = (reason: string): Finding => ({
  level: 'critical',
  what: `The mail server does not take mails (${reason.split('\n')[0]}): users get no links.`,
  fix: /certificate/i.test(reason)
    ? trustFix
    : 'correct SMTP_URL; check: berth config check; meanwhile: berth link address',
})

/** Limits of DNS, in ms; two tries. */
const dns = { timeout: 2_000, tries: 2 }

/** Names that mail services usually give their DKIM keys (RFC 6376, 3.1); a domain may use any other. */
const usualSelectors = 'default mail dkim google selector1 selector2 k1 k2 s1 s2 smtp key1 fm1 mx'.split(' ')

/**
 * Whether the domain of the sender says in DNS which servers may send for it. Without, mails with links end as spam.
 * @throws when DNS does not answer, or does not know the domain, as in a network without the public DNS
 */
export async function checkMailDomain(
  { config, addresses, nameServers }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (config.smtpUrl === null) return []
  const sender = config.mailFrom ?? `berth@${addresses.cookieDomain}`
  const domain = /@([^@>\s]+)>?\s*$/.exec(sender)?.[1]?.toLowerCase() ?? ''
  if (!isPublic(domain)) return []
  const resolver = new Resolver(dns)
  if (nameServers) resolver.setServers(nameServers)
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const texts = (name: string) =>
    resolver.resolveTxt(name).then((records) => records.map((parts) => parts.join('')), noneIfUnknown)
  const [spf, dmarc, dkim] = await Promise.all([
    resolver.resolveTxt(domain).then((records) => records.map((parts) => parts.join('')), noneIfWithoutTexts),
    policyOf(texts, domain),
    Promise.all(usualSelectors.map((selector) => texts(`${selector}._domainkey.${domain}`))),
  ])
  return [
    ...spfFindings(domain, spf),
    ...(dmarc ? [] : [withoutDmarc(domain)]),
    ...(dkim.flat().some((text) => /(^|;)\s*p=\s*[^;\s]/.test(text)) ? [] : [withoutDkim(domain)]),
  ]
}

/** Names of RFC 6761 and single labels are known to no public DNS. */
const isPublic = (domain: string) => domain.includes('.') && parse(domain).isIcann === true

type DnsError = NodeJS.ErrnoException

/** A name that exists and has no TXT record has no policy; of one that is not known nothing can be said. */
function noneIfWithoutTexts(error: DnsError): string[] {
  if (error.code === 'ENODATA') return []
  throw new Error(
    error.code === 'ENOTFOUND' ? 'the name server of this machine does not know the domain' : error.message,
  )
}

function noneIfUnknown(error: DnsError): string[] {
  if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
  throw error
}

/** Of the domain, else of the organizational one (RFC 7489, 6.6.3). */
async function policyOf(texts: (name: string) => Promise<string[]>, domain: string): Promise<boolean> {
  const names = new Set([domain, getDomain(domain) ?? domain])
  const found = await Promise.all([...names].map((name) => texts(`_dmarc.${name}`)))
  return found.flat().some((text) => /^v=DMARC1\b/.test(text))
}

/** RFC 7208: 4.5 allows one record; 5.1 makes `+all` admit every server. */
function spfFindings(domain: string, texts: readonly string[]): Finding[] {
  const records = texts.filter((text) => /^v=spf1( |$)/i.test(text))
  const fix = `add to DNS: ${domain}. TXT "v=spf1 mx include:your-mail-service.example -all"`
  if (records.length === 0)
    return [{ level: 'warning', what: `${domain} has no SPF record: mails with links may end as spam.`, fix }]
  if (records.length > 1)
    return [
      { level: 'warning', what: `${domain} has ${records.length} SPF records: receivers ignore all of them.`, fix },
    ]
  const isOpen = /\s\+?all$/i.test(records[0] ?? '')
  return isOpen
    ? [{ level: 'warning', what: `The SPF record of ${domain} admits every server of the world.`, fix }]
    : []
}

const withoutDmarc = (domain: string): Finding => ({
  level: 'hint',
  what: `${domain} has no DMARC record: large mail providers trust its mails less.`,
  fix: `add to DNS: _dmarc.${domain}. TXT "v=DMARC1; p=none; rua=mailto:postmaster@${domain}"`,
})

const withoutDkim = (domain: string): Finding => ({
  level: 'hint',
  what: `No DKIM key of ${domain} has a usual name; if your mail server signs with another one, all is well.`,
  fix: 'switch DKIM on in your mail server or service, and add its key to DNS',
})
