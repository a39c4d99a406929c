import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '../support/berth-without-engine.ts'

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
const branding = `
name: King's Lab
logo: logo.svg
colors: {accent: "#8a1538"}
imprint: https://www.example.org/imprint
privacy: privacy.md
notices:
  - text: {en: Closed <tomorrow>, de: Morgen zu}
  - text: Over
    until: 2020-01-01
  - text: To come
    from: 2999-01-01
`
const asPage = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

const folder = mkdtempSync(path.join(os.tmpdir(), 'berth-branding-'))
const web = path.join(folder, 'web')
writeFileSync(path.join(folder, 'logo.svg'), svg)
writeFileSync(path.join(folder, 'privacy.md'), '# What we keep\n\nYour **address**.')
writeFileSync(path.join(folder, 'branding.yaml'), branding)
await mkdir(path.join(web, 'assets'), { recursive: true })
const icon = '/assets/icon-1.svg'
await writeFile(
  path.join(web, 'index.html'),
  `<!doctype html><html lang="__BERTH_LANGUAGE__"><head><title>Berth</title><link rel="icon" type="image/svg+xml" href="${icon}"><script id="boot" nonce="__BERTH_NONCE__">__BERTH_BOOT__</script></head><body><header><a href="/"><img src="${icon}" alt="">Berth</a></header><noscript>__BERTH_NO_SCRIPT__</noscript></body></html>`,
)
await writeFile(
  path.join(web, 'api-docs.html.gz'),
  gzipSync(
    `<!doctype html><html lang="en"><head><title>API reference</title><link rel="icon" type="image/svg+xml" href="${icon}"></head><body><header><a href="/"><img src="${icon}" alt="">Berth</a></header></body></html>`,
  ),
)
const types = {
  lab: { image: 'nowhere:latest', icon: path.join(folder, 'logo.svg') },
  plain: { image: 'nowhere:latest', icon: 'flask' },
  bare: { image: 'nowhere:latest' },
}
const berth = await startEnginelessBerth(
  { after },
  {
    env: {
      TZ: 'UTC',
      BRANDING_FILE: path.join(folder, 'branding.yaml'),
      SECURITY_CONTACT: 'security@example.org',
      CONTAINER_TEMPLATES: JSON.stringify(types),
    },
    webDir: web,
  },
)
after(() => rmSync(folder, { recursive: true }))

const page = async (at: string, headers: Record<string, string> = {}) =>
  berth.call('GET', at, { headers: { ...asPage, ...headers } })

/** The header with which a new user's browser is signed in. */
async function signedIn({ call, mails }: EnginelessBerth, email: string): Promise<{ cookie: string }> {
  await call('POST', '/api/auth/signup', { body: { email } })
  const mail = mails.at(-1)
  assert.ok(mail)
  const { body } = await call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return { cookie: `spawner_token=${body.access_token}` }
}

test('the document has name, logo, colours and current notices before any script has run', async () => {
  const { text, headers } = await page('/login')
  assert.match(text, /<title>King’s Lab<\/title>/)
  assert.match(
    text,
    />King’s Lab<\/a><\/header><p class="notice">Closed &lt;tomorrow&gt;<\/p><noscript>King’s Lab needs/,
  )
  assert.equal(text.includes('/assets/icon-1.svg'), false)
  const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '') ?? []
  assert.ok(text.includes(`<style nonce="${nonce}">:root:root{--accent:#8a1538;`))
  assert.match((await page('/login', { 'accept-language': 'de' })).text, /class="notice">Morgen zu</)
})

test('the reference of the API has name, logo and colours, and its policy allows these colours alone', async () => {
  const { text, headers } = await page('/api/docs')
  assert.match(text, />King’s Lab<\/a><\/header><\/body>/)
  assert.equal(text.includes('/assets/icon-1.svg'), false)
  const [, css = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
  assert.match(css, /^:root:root\{--accent:#8a1538;/)
  const hash = createHash('sha256').update(css).digest('base64')
  assert.match(
    headers.get('content-security-policy') ?? '',
    new RegExp(RegExp.escape(`; style-src 'self' 'sha256-${hash}';`)),
  )
})

test('pages learn of links and of notices that have not ended', async () => {
  const { text } = await page('/login')
  const boot = JSON.parse(/__|<script id="boot"[^>]*>([^]*?)<\/script>/.exec(text)?.[1] ?? '') as { branding: object }
  const [, logo = ''] = /src="(\/assets\/logo-[^"]+)"/.exec(text) ?? []
  assert.deepEqual(boot.branding, {
    name: 'King’s Lab',
    logo,
    imprint: 'https://www.example.org/imprint',
    privacy: '/help/privacy',
    notices: [
      { text: { en: 'Closed <tomorrow>', de: 'Morgen zu' }, from: null, until: null },
      { text: { en: 'To come', de: 'To come' }, from: '2999-01-01T00:00:00.000Z', until: null },
    ],
  })
})

test('the logo is an image that runs nothing, also when its address is opened', async () => {
  const [, logo = ''] = /src="(\/assets\/logo-[^"]+)"/.exec((await page('/login')).text) ?? []
  const { status, headers, text } = await berth.call('GET', logo)
  assert.equal(status, 200)
  assert.equal(text, svg)
  assert.equal(headers.get('content-type'), 'image/svg+xml')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox")
})

test('a legal text is served as blocks; one that lies elsewhere is not', async () => {
  const { body } = await berth.call('GET', '/api/legal/privacy')
  assert.deepEqual(body, {
    blocks: [
      { kind: 'heading', level: 2, spans: [{ text: 'What we keep' }] },
      { kind: 'paragraph', spans: [{ text: 'Your ' }, { text: 'address', is_bold: true }, { text: '.' }] },
    ],
  })
  for (const name of ['imprint', 'constructor', 'other'])
    assert.equal((await berth.call('GET', `/api/legal/${name}`)).status, 404, name)
  assert.equal((await page('/help/privacy')).status, 200)
})

test("the gateway's own pages have it, too, under a policy that allows nothing more", async () => {
  const { text, headers, status } = await page('/zoe-dev/', await signedIn(berth, 'ann@x.org'))
  assert.equal(status, 404)
  assert.match(text, /· King’s Lab<\/title>/)
  assert.match(text, /<p class="notice">Closed &lt;tomorrow&gt;<\/p>\n<main>/)
  assert.match(
    text,
    /<footer><a href="https:\/\/www\.example\.org\/imprint">Imprint<\/a> <a href="[^"]+\/help\/privacy">/,
  )
  const policy = headers.get('content-security-policy') ?? ''
  const styles = [...text.matchAll(/<style>([^]*?)<\/style>/g)].map(([, css = '']) => css)
  assert.equal(styles.length, 2)
  const hashes = styles.map((css) => `'sha256-${createHash('sha256').update(css).digest('base64')}'`)
  // The third is of pages that come in pieces.
  const allowed = /; style-src ([^;]+);/.exec(policy)?.[1]?.split(' ') ?? []
  assert.equal(allowed.length, 3, policy)
  assert.deepEqual(
    hashes.filter((hash) => !allowed.includes(hash)),
    [],
    policy,
  )
  const [, origin = ''] = /<img src="(http:\/\/[^/]+)\/assets\/logo-/.exec(text) ?? []
  assert.ok(policy.includes(`; img-src ${origin};`), policy)
  assert.match(policy, /^default-src 'none'; /)
})

test('security.txt says where a fault of security is reported, for less than a year', async () => {
  const { text, headers } = await berth.call('GET', '/.well-known/security.txt')
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  const fields = new Map(text.split('\n').map((line) => line.split(': ', 2) as [string, string]))
  assert.equal(fields.get('Contact'), 'mailto:security@example.org')
  assert.match(fields.get('Canonical') ?? '', /^https?:\/\/.*\/\.well-known\/security\.txt$/)
  const days = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000
  assert.ok(days > 30 && days < 365, text)
})

test('mails carry name and colour', async () => {
  await berth.call('POST', '/api/auth/signup', { body: { email: 'bob@x.org' } })
  const mail = berth.mails.at(-1)
  assert.equal(mail?.subject, 'Finish signing up to King’s Lab')
  assert.match(mail.html, /background: #8a1538/)
  assert.equal(/Berth/.test(mail.text), false, mail.text)
})

test('whom to ask for help stands on the pages of the gateway, also without a branding', async (t) => {
  const refused = async (contact: string) => {
    const berth = await startEnginelessBerth(t, { env: { SUPPORT_CONTACT: contact } })
    const headers = { ...asPage, ...(await signedIn(berth, 'ann@x.org')) }
    return (await berth.call('GET', '/zoe-dev/', { headers })).text
  }
  const mail = await refused('help@example.org')
  assert.match(mail, /<footer><span>Help: <a href="mailto:help@example\.org">help@example\.org<\/a><\/span><\/footer>/)
  assert.match(mail, /· Berth<\/title>/)
  assert.match(await refused('Room 12 <b>'), /<footer><span>Help: Room 12 &lt;b&gt;<\/span><\/footer>/)
})

test('without a branding nothing is added to documents, mails and pages', async (t) => {
  const berth = await startEnginelessBerth(t)
  const { text } = await berth.call('GET', '/login', { headers: asPage })
  assert.equal(/branding|notice|<style|logo-/.test(text), false)
  const headers = { ...asPage, ...(await signedIn(berth, 'ann@x.org')) }
  const { text: refused } = await berth.call('GET', '/zoe-dev/', { headers })
  assert.match(refused, /· Berth<\/title>/)
  assert.equal(/<footer|class="notice"|<img/.test(refused.replace(/<style>[^]*?<\/style>/, '')), false)
  assert.equal((await berth.call('GET', '/api/legal/imprint')).status, 404)
  assert.equal((await berth.call('GET', '/.well-known/security.txt')).status, 404)
})

test('a type has an image of the operator, which runs nothing either, a sign by its name, or neither', async () => {
  const headers = await signedIn(berth, 'lea@x.org')
  const { containers } = (await berth.call('GET', '/api/user/containers', { headers })).body
  const [lab, plain, bare] = containers.map(({ icon }: { icon?: string }) => icon)
  assert.match(lab, /^\/assets\/type-[\w-]{12}\.svg$/)
  assert.deepEqual([plain, bare], ['flask', undefined])
  const image = await berth.call('GET', lab)
  assert.equal(image.status, 200)
  assert.equal(image.text, svg)
  assert.equal(image.headers.get('content-type'), 'image/svg+xml')
  assert.equal(image.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(image.headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  assert.equal((await berth.call('GET', '/assets/type-000000000000.svg')).status, 404)
})
