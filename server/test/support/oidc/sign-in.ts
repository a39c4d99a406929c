import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lifetime, Reply } from '../berth.ts'
import { startEnginelessBerth, type EnginelessBerth, type EnginelessOptions } from '../berth-without-engine.ts'
import { CookieBrowser } from '../cookie-browser.ts'
import { client, type TestProvider } from './provider.ts'

/** Where the tests' Berth is reached; nobody resolves the name, requests go to its port. */
export const publicUrl = 'http://spawner.berth.example'

/** Fields of one provider, as in the file. */
export type ProviderFields = Readonly<Record<string, unknown>>

/** A Berth with these providers. */
export async function startBerthWith(
  lifetime: Lifetime,
  providers: Readonly<Record<string, ProviderFields>>,
  options: EnginelessOptions = {},
): Promise<EnginelessBerth> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-providers-'))
  const file = path.join(folder, 'providers.json')
  writeFileSync(file, JSON.stringify(providers))
  lifetime.after(async () => rmSync(folder, { recursive: true, force: true }))
  const env = { BASE_DOMAIN: 'berth.example', OIDC_PROVIDERS_FILE: file, LOG_LEVEL: 'debug', ...options.env }
  return startEnginelessBerth(lifetime, { ...options, env })
}

/** Fields of the real provider, which gets to know Berth as its client. */
export async function registerAt(
  provider: TestProvider,
  id = 'main',
  more: ProviderFields = {},
  /** Public address of Berth, and where the provider reaches it to end sessions. */
  { url = publicUrl, backchannel }: { url?: string; backchannel?: string } = {},
): Promise<ProviderFields> {
  const path = `/api/auth/oidc/${id}`
  await provider.order({
    client: {
      client_id: `${client.id}-${id}`,
      client_secret: client.secret,
      redirect_uris: [`${url}${path}/callback`],
      post_logout_redirect_uris: [`${url}/login`],
      ...(backchannel ? { backchannel_logout_uri: `${backchannel}${path}/backchannel-logout` } : {}),
      scope: 'openid email profile groups',
    },
  })
  return { issuer: provider.issuer, client_id: `${client.id}-${id}`, client_secret: client.secret, ...more }
}

export const newBrowser = (berth: EnginelessBerth) => new CookieBrowser(berth)

/** Begins a sign-in. @returns the address at the provider */
export async function begin(browser: CookieBrowser, id = 'main', next?: string): Promise<URL> {
  const query = next === undefined ? '' : `?${new URLSearchParams({ next })}`
  const reply = await browser.navigate(`/api/auth/oidc/${id}/start${query}`)
  assert.equal(reply.status, 302, reply.text)
  return new URL(reply.headers.get('location') ?? '', publicUrl)
}

/** What a browser keeps of the provider. */
export type ProviderCookies = Map<string, string>

/** Asks the provider as a browser does. @param form sends it by POST */
export async function askProvider(address: URL, cookies: ProviderCookies, form?: URLSearchParams): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const init = form ? { method: 'POST', body: form } : {}
  const answer = await fetch(address, { ...init, redirect: 'manual', headers: { cookie } })
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    cookies.set(name, value)
  }
  return answer
}

/** Follows the provider's redirects, with cookies of its own, until it leads back. @returns the callback's address */
export async function atProvider(start: URL, cookies: ProviderCookies = new Map()): Promise<URL> {
  let address = start
  for (let step = 0; step < 10; step++) {
    const answer = await askProvider(address, cookies)
    const location = answer.headers.get('location')
    assert.ok(location, `the provider answers ${answer.status}: ${await answer.text()}`)
    address = new URL(location, address)
    if (address.origin === publicUrl) return address
  }
  throw new Error('the provider leads nowhere')
}

/** Brings the provider's answer back. */
export const finish = (browser: CookieBrowser, { pathname, search }: URL): Promise<Reply> =>
  browser.navigate(pathname + search, 'cross-site')

/** A whole sign-in. @returns the answer of the callback */
export async function signIn(
  browser: CookieBrowser,
  id = 'main',
  next?: string,
  cookies?: ProviderCookies,
): Promise<Reply> {
  return finish(browser, await atProvider(await begin(browser, id, next), cookies))
}

/** Who is signed in in a browser. */
export async function userOf(browser: CookieBrowser): Promise<Reply['body'] | undefined> {
  const reply = await browser.ask('GET', '/api/user/me')
  return reply.status === 200 ? reply.body.user : undefined
}

/** The problem that the login page is to explain, and that nobody is signed in. */
export async function assertProblem(browser: CookieBrowser, reply: Reply, problem: string): Promise<void> {
  assert.equal(reply.status, 302, reply.text)
  const location = new URL(reply.headers.get('location') ?? '', publicUrl)
  assert.equal(location.origin, publicUrl)
  assert.equal(location.pathname, '/login')
  assert.equal(location.searchParams.get('problem'), problem)
  assert.equal(await userOf(browser), undefined)
}

/** Addresses of all accounts, oldest first. */
export async function accountsOf({ database }: EnginelessBerth): Promise<string[]> {
  const rows = await database.db.selectFrom('users').select('email').orderBy('id').execute()
  return rows.map(({ email }) => email)
}
