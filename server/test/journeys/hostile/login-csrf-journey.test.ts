// Part of npm run test:more: a browser; login-csrf.test.ts has the answers that it relies on.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BootData } from '@berth/api/boot.ts'
import { assertOk } from '#test/support/api-calls.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { startEnginelessBerth, tokenIn } from '#test/support/berth-without-engine.ts'
import { startTlsProxy } from '#test/support/gateway/tls-proxy.ts'

/**
 * What only a real browser shows of the cookies that lead an administrator back from a takeover, and that know who asked
 * for a link: that it takes them, where it sends them, and that no script of the same origin can make them. The pages are
 * a stand-in: what counts is what their documents say, and which requests they may make.
 */
const host = 'spawner.berth.test'
const proxy = await startTlsProxy({ after }, host)
const origin = `https://${host}:${proxy.port}`
const env = {
  PREFERRED_URL_SCHEME: 'https',
  BASE_DOMAIN: `berth.test:${proxy.port}`,
  MAGIC_LINK_RATE_LIMIT: '100',
  TRUSTED_PROXIES: '127.0.0.1',
}
const berth = await startEnginelessBerth({ after }, { env })
proxy.leadTo(berth.app.port)
const { page } = await openTab({ after }, host)
/** Stands for what Ann's container answers: a page of this origin. */
await page.route('**/ann-dev/page', (route) => route.fulfill({ contentType: 'text/html', body: '<p>an app</p>' }))
/** Stands for a mailbox that is read in the browser: a page of another site, with a link. */
const mailbox = 'https://mail.example/inbox'
let link = ''
await page.route(mailbox, (route) => route.fulfill({ contentType: 'text/html', body: `<a href="${link}">Sign in</a>` }))

const linkTo = (email: string): string => tokenIn(berth.mails.findLast(({ to }) => to === email) ?? { text: '' })
async function signUp(email: string): Promise<{ id: number; token: string }> {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email } }))
  const reply = await berth.call('GET', `/api/auth/verify-signup?token=${linkTo(email)}`)
  assertOk(reply)
  return { id: reply.body.user.id, token: reply.body.access_token }
}

const bootNow = async () => JSON.parse((await page.locator('#boot').textContent()) ?? '') as BootData
const open = (path: string) =>
  steadily(async () => {
    await page.goto(origin + path)
    return bootNow()
  })
/** As a script of the page that is open. @returns status and body */
const ask = (method: string, path: string, proof: string | null = null, body?: object) =>
  steadily(() =>
    page.evaluate(
      async ([how, where, given, sent]) => {
        const headers = { ...(given ? { 'x-csrf-token': given } : {}), 'content-type': 'application/json' }
        const answer = await fetch(where, { method: how, headers, ...(sent === null ? {} : { body: sent }) })
        return { status: answer.status, body: (await answer.json()) as Record<string, never> }
      },
      [method, path, proof, body ? JSON.stringify(body) : null] as const,
    ),
  )
const emailNow = async (): Promise<string | undefined> => (await ask('GET', '/api/user/me')).body['user']?.['email']
/** By a link of its own each time. @returns what the first page says then */
const signIn = (email: string) =>
  steadily(async () => {
    const { visit } = await open('/verify-login')
    assertOk(await berth.call('POST', '/api/auth/login', { body: { email } }))
    await ask('GET', `/api/auth/verify-login?token=${linkTo(email)}`, visit)
    const boot = await open('/')
    if (!boot.signed_in) throw new Error('Timeout: the answer that signs in was lost')
    return boot
  })
const cookies = async (name: string) =>
  (await page.context().cookies(`${origin}/api/auth/x`)).filter((each) => each.name === name)

await signUp('boss@x.org')
const [ann, eve] = [await signUp('ann@x.org'), await signUp('eve@x.org')]

test('who asks for a link in a browser is known there when they come from their mail, for their own address alone', async () => {
  const asked = await open('/login')
  assert.equal((await ask('POST', '/api/auth/login', asked.visit, { email: 'boss@x.org' })).status, 200)
  const [kept] = await cookies('__Host-Http-spawner_asked')
  assert.deepEqual([kept?.httpOnly, kept?.secure, kept?.domain], [true, true, host])
  // A container's page cannot make the browser ask, nor bring a cookie along.
  await open('/login')
  await steadily(() => page.goto(`${origin}/ann-dev/page`))
  assert.equal((await ask('POST', '/api/auth/login', null, { email: 'eve@x.org' })).status, 200)
  await page.evaluate(() => {
    for (const attributes of ['path=/; secure', 'path=/; secure; max-age=0', 'path=/verify-login; secure'])
      document.cookie = `__Host-Http-spawner_asked=9999999999-0123456789012345678901; ${attributes}`
  })
  assert.deepEqual(await cookies('__Host-Http-spawner_asked'), [kept])
  for (const [email, isKnown] of [
    ['eve@x.org', false],
    ['boss@x.org', true],
  ] as const) {
    link = `${origin}/verify-login?token=${linkTo(email)}`
    const boot = await steadily(async () => {
      await page.goto(mailbox)
      await page.getByRole('link').click()
      await page.waitForURL('**/verify-login*')
      return bootNow()
    })
    assert.equal(boot.asked_here, isKnown, email)
  }
})

test('an administrator acts for a user in their browser, past a hostile page, and is themselves again', async () => {
  const own = await signIn('boss@x.org')
  assert.equal(own.is_admin, true)
  const body = { reason: 'Ann asked for help', in_browser: true }
  await ask('POST', `/api/admin/users/${ann.id}/takeover`, own.csrf, body)
  const acting = await open('/')
  assert.deepEqual([acting.is_admin, acting.acting?.by, await emailNow()], [false, 'boss@x.org', 'ann@x.org'])
  const [kept] = await cookies('__Http-spawner_return')
  assert.deepEqual([kept?.path, kept?.httpOnly, kept?.sameSite], ['/api/auth', true, 'Strict'])

  await steadily(() => page.goto(`${origin}/ann-dev/page`))
  await page.evaluate((token) => {
    for (const path of ['/api/auth', '/api/auth/end-takeover', '/'])
      document.cookie = `__Http-spawner_return=${token}; path=${path}; secure`
  }, eve.token)
  assert.equal(await page.evaluate(() => document.cookie), '')
  assert.deepEqual(await cookies('__Http-spawner_return'), [kept])
  for (const path of ['/api/auth/end-takeover', '/api/auth/logout', `/api/admin/users/${eve.id}/takeover`])
    assert.equal((await ask('POST', path, null, body)).status, 403, path)

  const { csrf } = await open('/')
  await ask('POST', '/api/auth/end-takeover', csrf)
  const back = await open('/')
  assert.deepEqual([back.is_admin, back.acting, await emailNow()], [true, null, 'boss@x.org'])
  assert.deepEqual(await cookies('__Http-spawner_return'), [])
})
