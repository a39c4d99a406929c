import assert from 'node:assert/strict'
import type { Reply } from '../berth.ts'
import type { EnginelessBerth } from '../berth-without-engine.ts'
import type { CookieBrowser } from '../cookie-browser.ts'
import { publicUrl } from './berth-with-providers.ts'

/** Who is signed in in a browser. */
export async function userOf(browser: CookieBrowser): Promise<Reply['body'] | undefined> {
  const reply = await browser.ask('GET', '/api/user/me')
  return reply.status === 200 ? reply.body.user : undefined
}

/** The problem that the login page is to explain, and that no user is signed in. */
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
