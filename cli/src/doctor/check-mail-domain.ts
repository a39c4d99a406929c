import { Resolver } from 'node:dns/promises'
import { getDomain, parse } from 'tldts'
import type { CheckContext, Finding } from './check.ts'

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
