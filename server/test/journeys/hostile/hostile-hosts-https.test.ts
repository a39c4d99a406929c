// Part of npm run test:more: hostile-hosts.test.ts with TLS; enter.test.ts states the rules of codes.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { t as said } from '#test/support/front-end-text.ts'
import { startTlsProxy } from '#test/support/gateway/tls-proxy.ts'

/**
 * Subdomain routing with https: pages of Ann's containers, in her browser, try to make her another user at a sibling's host,
 * and to get hold of a code. No container runs: a page of the host is all that it takes.
 */
const host = 'spawner.berth.test'
const proxy = await startTlsProxy({ after }, host)
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const env = {
  CONTAINER_ROUTING: 'subdomain',
  PREFERRED_URL_SCHEME: 'https',
  BASE_DOMAIN: `berth.test:${proxy.port}`,
  TRUSTED_PROXIES: '127.0.0.1',
  MAGIC_LINK_RATE_LIMIT: '20',
  CONTAINER_TEMPLATES: JSON.stringify({
    dev: { display_name: 'Development', image: 'nowhere:latest', port: 8080, access: 'authenticated' },
    prod: { display_name: 'Production', image: 'nowhere:latest', port: 8080 },
  }),
}
const berth = await startBerth({ after }, { webDir, env, wrapRuntime: noCreateRuntime })
proxy.leadTo(berth.app.port)
await berth.signUp('boss@x.org')
const { page } = await openTab({ after }, '*.berth.test')
const context = page.context()
const front = berth.app.frontendUrl
const hostOf = (prefix: string) => berth.app.containerOrigin?.(prefix) ?? ''
const open = (address: string) => steadily(() => page.goto(address))

async function signIn(tab = page, email = 'ann@x.org'): Promise<void> {
  await steadily(async () => {
    await tab.goto(`${front}/verify-login?token=${await tokenBy(berth, 'login', email)}`)
    await tab.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
    await tab.getByRole('heading', { name: said('dashboard.title') }).waitFor()
  })
}
const cookiesAt = async (prefix: string) =>
  (await context.cookies(hostOf(prefix))).filter(({ domain }) => domain === new URL(hostOf(prefix)).hostname)
/** Only its owner is told that a container does not exist. */
const isAnnAt = async (prefix: string) => (await open(`${hostOf(prefix)}/?${Math.random()}`))?.status() === 503

await berth.signUp('ann@x.org')
await berth.signUp('eve@x.org')

test('the cookies of a container’s host are its own, Secure, and no script’s to read or set', async () => {
  await signIn()
  assert.ok(await isAnnAt('ann-dev'))
  const cookies = await cookiesAt('ann-dev')
  assert.deepEqual(cookies.map(({ name, secure, httpOnly, path: at }) => [name, secure, httpOnly, at]).toSorted(), [
    ['__Host-Http-spawner_bind', true, true, '/'],
    ['spawner_token', true, true, '/'],
  ])
  assert.equal(await page.evaluate(() => document.cookie), '')
})

test('Eve’s tokens and attempts that a sibling’s page tosses to all hosts leave Ann who she is', async () => {
  const other = await page.context().browser()?.newContext({ ignoreHTTPSErrors: true })
  const eves = await other?.newPage()
  assert.ok(other && eves)
  await signIn(eves, 'eve@x.org')
  await steadily(() => eves.goto(hostOf('ann-dev')))
  const tokens = (await other.cookies()).filter(({ name }) => name === 'spawner_token').map(({ value }) => value)
  assert.equal(tokens.length, 2)
  await open(hostOf('ann-prod'))
  await page.evaluate((values) => {
    for (const value of values)
      for (const domain of ['spawner.berth.test', 'berth.test'])
        for (const at of ['/', '/.berth', '/api'])
          document.cookie = `spawner_token=${value}; path=${at}; domain=${domain}; secure`
    for (const name of ['spawner_enter_00000001', '__Host-Http-spawner_enter_00000001', '__Host-Http-spawner_bind'])
      for (const domain of ['', '; domain=spawner.berth.test']) document.cookie = `${name}=eve; path=/${domain}; secure`
  }, tokens)
  // The browser stores a script's cookies a moment after the script, in their order; this one follows the tokens.
  await until(async () =>
    (await context.cookies()).some(({ name, value }) => name === 'spawner_enter_00000001' && value === 'eve'),
  )
  for (const prefix of ['ann-dev', 'ann-prod']) assert.ok(await isAnnAt(prefix), prefix)
  await context.clearCookies({ name: 'spawner_token', domain: new URL(hostOf('ann-dev')).hostname })
  assert.ok(await isAnnAt('ann-dev'), 'led through the platform again')
  await open(front)
  assert.equal(await page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email), 'ann@x.org')
  await other.close()
})

test('a code of Eve’s session does not make Ann’s browser Eve’s at a container that both may open', async () => {
  const other = await page.context().browser()?.newContext({ ignoreHTTPSErrors: true })
  const eves = await other?.newPage()
  assert.ok(other && eves)
  await signIn(eves, 'eve@x.org')
  const code = Promise.withResolvers<string>()
  await eves.route('**/.berth/enter*', (route) => (code.resolve(route.request().url()), route.abort()))
  // A redirect is not routed: the code is taken out of it before it is followed.
  eves.on('request', (request) => request.url().includes('/.berth/enter') && code.resolve(request.url()))
  await eves.goto(hostOf('ann-dev')).catch(() => undefined)
  const before = await cookiesAt('ann-dev')
  assert.equal((await open(await code.promise))?.status(), 400)
  assert.deepEqual(await cookiesAt('ann-dev'), before)
  assert.ok(await isAnnAt('ann-dev'))
  await other.close()
})

test('a script of a container’s page gets no code for an attempt of another browser, by no window and no frame', async () => {
  await open(hostOf('ann-dev'))
  const browser = createHash('sha256').update('of another browser').digest('base64url')
  const enter = `${front}/api/auth/enter?container=ann-dev&browser=${browser}&next=/`
  const seen = await page.evaluate(async (address) => {
    const read = (from: () => Window | null | undefined) => {
      try {
        return String(from()?.location.href)
      } catch (error) {
        return (error as Error).name
      }
    }
    const opened = window.open(address)
    const frame = document.createElement('iframe')
    frame.src = address
    document.body.append(frame)
    const found: string[] = []
    for (let turn = 0; turn < 40; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      found.push(
        read(() => opened),
        read(() => frame.contentWindow),
      )
    }
    const fetched = await fetch(address, { credentials: 'include', redirect: 'follow' }).then(
      ({ url }) => url,
      (error: Error) => error.name,
    )
    const entries = performance.getEntries().map(({ name }) => name)
    return [...new Set([...found, fetched, ...entries])]
  }, enter)
  assert.deepEqual(
    seen.filter((each) => each.includes('code=')),
    [],
    seen.join('\n'),
  )
  const popup = context.pages().find((each) => each !== page)
  assert.match(popup?.url() ?? '', /\/\.berth\/enter\?code=/, 'there was one to be read')
  await popup?.close()
})

test('600 cookies for all hosts, which make the browser drop its own, and a token of Eve’s do not sign Ann in as Eve', async () => {
  const other = await page.context().browser()?.newContext({ ignoreHTTPSErrors: true })
  const eves = await other?.newPage()
  assert.ok(other && eves)
  await signIn(eves, 'eve@x.org')
  await steadily(() => eves.goto(hostOf('ann-dev')))
  // That of a host opens its host, and the platform's the API: of one path the browser keeps one.
  const tokens = (await other.cookies())
    .filter(({ name }) => name === 'spawner_token')
    .map(({ value, domain }): [string, string] => [value, domain === '.berth.test' ? '/api' : '/'])
  await other.close()
  await signIn()
  assert.ok(await isAnnAt('ann-dev'))
  // A page of any container's host may set cookies for all of them.
  await open(hostOf('ann-dev'))
  const isBound = async () => (await context.cookies()).some(({ name }) => name === '__Host-Http-spawner_bind')
  assert.ok(await isBound())
  await page.evaluate((values) => {
    const domain = 'domain=berth.test; secure'
    for (let count = 0; count < 600; count++) document.cookie = `junk${count}=x; path=/; ${domain}`
    for (let count = 0; count < 600; count++) document.cookie = `junk${count}=; path=/; max-age=0; ${domain}`
    for (const [value, at] of values) document.cookie = `spawner_token=${value}; path=${at}; ${domain}`
    document.cookie = `last=x; path=/; ${domain}`
  }, tokens)
  await until(async () => (await context.cookies()).some(({ name }) => name === 'last'))
  assert.equal(await isBound(), false, 'the browser dropped the companions of all hosts')
  const values = (await context.cookies()).filter(({ name }) => name === 'spawner_token').map(({ value }) => value)
  assert.deepEqual(values.toSorted(), tokens.map(([value]) => value).toSorted(), 'they are Eve’s alone')

  await open(front)
  const me = () =>
    page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email as string | undefined)
  assert.equal(await me(), undefined, 'neither Eve nor another user')
  assert.equal(await page.evaluate(() => document.body.innerText.includes('eve@x.org')), false)
  await open(`${hostOf('ann-dev')}/`)
  assert.match(page.url(), /\/login/, 'Eve would be told that it is not hers')
  await signIn()
  assert.equal(await me(), 'ann@x.org')
  assert.ok(await isAnnAt('ann-dev'))
})
