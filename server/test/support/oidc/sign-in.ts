import assert from 'node:assert/strict'
import type { Reply } from '../berth.ts'
import type { EnginelessBerth } from '../berth-without-engine.ts'
import { CookieBrowser } from '../cookie-browser.ts'
import { publicUrl } from './berth-with-providers.ts'

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
