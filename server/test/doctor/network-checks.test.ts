import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { test, type TestContext } from 'node:test'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import {
  checkContainerHosts,
  checkCookieDomain,
  checkDns,
  checkMailDomain,
  checkMailServer,
  checkPorts,
  checkProxy,
  checkTls,
} from '@berth/cli/doctor/check-network.ts'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import { startMailServer } from '#test/support/mail/mail-server.ts'
import { certificateFiles } from './certificate.ts'
import { contextFor, inWords } from './check-context.ts'
import { startNameServer } from './name-server.ts'

const { signal } = new AbortController()
const https = { PREFERRED_URL_SCHEME: 'https' }

test('plain http is critical beyond this machine, and fine on localhost', async (t) => {
  assert.deepEqual(await checkTls(contextFor(t), signal), [])
  assert.match(inWords(await checkTls(contextFor(t, { BASE_DOMAIN: 'x.org' }), signal)), /^critical: Tokens travel/)
  assert.match(inWords(await checkTls(contextFor(t, { HOST: '0.0.0.0' }), signal)), /^warning: HOST=0\.0\.0\.0/)
})

test('a certificate of TLS_CERT_FILE that ended, ends soon, or is for another host is reported', async (t) => {
  const findings = async (host: string, days: number) => {
    const { cert, key } = await certificateFiles(t, host, days)
    const settings = { ...https, TLS_CERT_FILE: cert, TLS_KEY_FILE: key, BASE_DOMAIN: 'x.org' }
    return inWords(await checkTls(contextFor(t, settings), signal))
  }
  assert.equal(await findings('spawner.x.org', 60), '')
  assert.match(await findings('spawner.x.org', 5.5), /^warning: The certificate in .* ends on .*, in 5 days\.$/)
  assert.match(await findings('spawner.x.org', -1), /^critical: .* ended on /)
  assert.match(await findings('www.x.org', 60), /^critical: .* is not for spawner\.x\.org/)
})

test('the certificate that a proxy serves is judged as it is served', async (t) => {
  const findings = async (host: string, days: number) => {
    const port = await serveTls(t, host, days)
    return checkTls(contextFor(t, { ...https, BASE_DOMAIN: `localhost:${port}`, SPAWNER_SUBDOMAIN: '' }), signal)
  }
  assert.match(inWords(await findings('localhost', 3)), /^warning: The certificate of https:\/\/localhost:\d+ ends on/)
  assert.match(inWords(await findings('localhost', 60)), /^warning: This machine does not trust .*SELF_SIGNED/)
})

test('a proxy that cannot be reached from here is no finding, but not checked', async (t) => {
  const context = contextFor(t, { ...https, BASE_DOMAIN: 'localhost:1', SPAWNER_SUBDOMAIN: '' })
  await assert.rejects(checkTls(context, signal), /https:\/\/localhost:1 cannot be reached/)
})

test('with subdomain routing names below the host have to be in DNS, lead to the same, and be covered by the certificate', async (t) => {
  const records = {
    'here.org': ['127.0.0.1'],
    'berth-doctor.here.org': ['127.0.0.1'],
    'there.org': ['127.0.0.1'],
    'berth-doctor.there.org': ['192.0.2.7'],
    'alone.org': ['127.0.0.1'],
  }
  const nameServers = [await startNameServer(t, records)]
  const hosts = { CONTAINER_ROUTING: 'subdomain', SPAWNER_SUBDOMAIN: '' }
  const findings = async (settings: Record<string, string>) =>
    inWords(await checkContainerHosts(contextFor(t, { ...hosts, ...settings }, { nameServers }), signal))
  assert.equal(await findings({ BASE_DOMAIN: 'alone.org', CONTAINER_ROUTING: 'path' }), '')
  assert.equal(await findings({ BASE_DOMAIN: 'here.org' }), '')
  assert.match(await findings({ BASE_DOMAIN: 'there.org' }), /^warning: Names below there\.org lead to 192\.0\.2\.7/)
  assert.match(await findings({ BASE_DOMAIN: 'alone.org' }), /^critical: No name below alone\.org is in DNS/)
  const served = async (host: string) => findings({ ...https, BASE_DOMAIN: `localhost:${await serveTls(t, host, 60)}` })
  assert.match(await served('localhost'), /^critical: The certificate is not for \*\.localhost/)
  assert.equal(await served('berth-doctor.localhost'), '')
  const own = async (host: string) => {
    const { cert, key } = await certificateFiles(t, host, 60)
    return findings({ ...https, TLS_CERT_FILE: cert, TLS_KEY_FILE: key, BASE_DOMAIN: 'here.org' })
  }
  assert.match(await own('here.org'), /^critical: The certificate is not for \*\.here\.org/)
  assert.equal(await own('*.here.org'), '')
})

for (const [domain, expected] of [
  ['github.io', /^critical: BASE_DOMAIN=github\.io is a public suffix/],
  ['co.uk', /^critical/],
  ['intranet', /^critical: BASE_DOMAIN=intranet is a name without a dot/],
  ['berth.github.io', /^$/],
  ['x.org:8443', /^$/],
  ['berth.localhost:8080', /^$/],
  ['10.0.0.7', /^$/],
] as const)
  test(`the cookie of BASE_DOMAIN=${domain}: ${expected}`, async (t) => {
    assert.match(inWords(await checkCookieDomain(contextFor(t, { BASE_DOMAIN: domain }))), expected)
  })

test('a host that is a public suffix itself keeps its cookie, which is a hint', async (t) => {
  const settings = { BASE_DOMAIN: 'github.io', SPAWNER_SUBDOMAIN: '' }
  assert.match(inWords(await checkCookieDomain(contextFor(t, settings))), /^hint/)
})

test('a proxy that TRUSTED_PROXIES lacks is reported by the settings, or by what the service saw', async (t) => {
  const behind = { ...https, BASE_DOMAIN: 'x.org' }
  assert.match(inWords(await checkProxy(contextFor(t, behind))), /^warning: .*TRUSTED_PROXIES names none/)
  assert.deepEqual(await checkProxy(contextFor(t, { ...behind, TRUSTED_PROXIES: '127.0.0.1' })), [])
  const any = await checkProxy(contextFor(t, { ...behind, TRUSTED_PROXIES: '0.0.0.0/0' }))
  assert.match(inWords(any), /^critical: TRUSTED_PROXIES trusts every address/)
  const seen = localize('en', message('findings.untrustedProxy', { addresses: '10.0.0.7', first: '10.0.0.7' }))
  const service = { warnings: [seen, 'another'] } as unknown as SystemReport
  const both = await checkProxy(contextFor(t, behind, { service }))
  assert.match(inWords(both), /^warning: Requests with forwarding headers come from 10\.0\.0\.7[^\n]*$/)
})

test('a mail server that answers is well; none, one that is away and unencrypted mail are findings', async (t) => {
  const server = await startMailServer()
  t.after(() => server.close())
  assert.deepEqual(await checkMailServer(contextFor(t, { SMTP_URL: server.url })), [])
  const away = await checkMailServer(contextFor(t, { SMTP_URL: 'smtp://127.0.0.1:1' }))
  assert.match(inWords(away), /^critical: The mail server does not take mails \(.*ECONNREFUSED/)
  assert.match(
    inWords(await checkMailServer(contextFor(t, { BASE_DOMAIN: 'x.org' }))),
    /^critical: SMTP_URL is not set/,
  )
  assert.deepEqual(await checkMailServer(contextFor(t)), [])
  const node = { NODE_ADDRESS: '127.0.0.1:7070', DATABASE_URL: 'postgres://127.0.0.1/berth' }
  assert.match(inWords(await checkMailServer(contextFor(t, node))), /^critical: SMTP_URL is not set/)
  const plain = { SMTP_URL: 'smtp://192.0.2.1:1', SMTP_TLS: 'opportunistic' }
  const context = contextFor(t, plain)
  const reachable = { ...context, config: { ...context.config, smtpUrl: server.url } }
  assert.match(inWords(await checkMailServer(reachable)), /^warning: SMTP_TLS=opportunistic.* is not verified/)
  const selfSigned = await startMailServer({ disabledCommands: ['AUTH'] })
  t.after(() => selfSigned.close())
  assert.deepEqual(await checkMailServer(contextFor(t, { SMTP_URL: selfSigned.url })), [])
  const untrusted = await checkMailServer(contextFor(t, { SMTP_URL: selfSigned.url, SMTP_TLS: 'required' }))
  assert.match(inWords(untrusted), /^critical: The mail server does not take mails \(.*certificate/)
  assert.match(untrusted[0]?.fix ?? '', /NODE_EXTRA_CA_CERTS/)
})

test('a host that is not in DNS is critical, one that leads elsewhere a hint, and one that leads here well', async (t) => {
  const nameServers = [await startNameServer(t, { 'here.org': ['127.0.0.1'], 'there.org': ['192.0.2.7'] })]
  const findings = async (domain: string) =>
    inWords(await checkDns(contextFor(t, { BASE_DOMAIN: domain, SPAWNER_SUBDOMAIN: '' }, { nameServers })))
  assert.equal(await findings('here.org'), '')
  assert.match(await findings('there.org'), /^hint: there\.org leads to 192\.0\.2\.7, which is not an address/)
  assert.match(await findings('nowhere.org'), /^critical: nowhere\.org is not in DNS/)
  assert.equal(await findings('berth.localhost'), '')
  assert.equal(await findings('10.0.0.7'), '')
})

test('a port that another program has is critical before a start, and no matter while Berth runs', async (t) => {
  const other = createTcpServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => void other.close())
  const settings = { PORT: String((other.address() as AddressInfo).port) }
  const [finding] = await checkPorts(contextFor(t, settings))
  assert.match(finding?.what ?? '', /^Berth cannot listen on 127\.0\.0\.1, port \d+ \(EADDRINUSE\)/)
  assert.deepEqual(await checkPorts(contextFor(t, settings, { service: {} as SystemReport })), [])
  const foreign = await checkPorts(contextFor(t, { HOST: '192.0.2.1', PORT: '8080' }))
  assert.match(inWords(foreign), /^critical: .*EADDRNOTAVAIL/)
})

test('SPF, DMARC and DKIM of the sender are looked up, and what is missing is reported with the record to add', async (t) => {
  const findings = async (records: Record<string, string[]>, sender = 'berth@mail.x.org') => {
    const nameServers = [await startNameServer(t, records)]
    const settings = { SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: `Berth <${sender}>` }
    return checkMailDomain(contextFor(t, settings, { nameServers }), signal)
  }
  const complete = {
    'mail.x.org': ['v=spf1 mx -all'],
    '_dmarc.x.org': ['v=DMARC1; p=reject'],
    'mail._domainkey.mail.x.org': ['v=DKIM1; p=abc'],
  }
  assert.deepEqual(await findings(complete), [])
  const bare = await findings({ 'mail.x.org': ['something else'] })
  assert.match(inWords(bare), /^warning: mail\.x\.org has no SPF.*\nhint: .*no DMARC.*\nhint: No DKIM/)
  assert.match(bare[1]?.fix ?? '', /_dmarc\.mail\.x\.org\. TXT "v=DMARC1/)
  const open = await findings({ ...complete, 'mail.x.org': ['v=spf1 +all'] })
  assert.match(inWords(open), /^warning: .* admits every server/)
  const twice = await findings({ ...complete, 'mail.x.org': ['v=spf1 -all', 'v=spf1 mx -all'] })
  assert.match(inWords(twice), /^warning: .* 2 SPF records/)
  assert.deepEqual(await findings({}, 'berth@berth.localhost'), [])
})

test('a domain that the name server does not know, and one that does not answer, are not checked', async (t) => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: 'berth@x.org' }
  const unknown = contextFor(t, settings, { nameServers: [await startNameServer(t, {})] })
  await assert.rejects(checkMailDomain(unknown, signal), /does not know the domain/)
  const silent = contextFor(t, settings, { nameServers: ['127.0.0.1:1'] })
  await assert.rejects(checkMailDomain(silent, signal))
})

/** @returns the port */
async function serveTls(t: TestContext, host: string, days: number): Promise<number> {
  const { cert, key } = await certificateFiles(t, host, days)
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }).listen(0, 'localhost')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}
