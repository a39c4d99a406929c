// Part of npm run test:more: `specification/sessions` has how a session ends; this is what pages show of it.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, logIn, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { inGerman, t } from '#test/support/front-end-text.ts'
import { onlyLong } from '#test/support/extent.ts'

/**
 * A session that ends while a user is at work. A bare "Sign in" stood there, without a reason, an address or a way back, and
 * went on standing there when one had signed in in another tab.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const berth = await startBerth({ after }, { webDir, env: { MAGIC_LINK_RATE_LIMIT: '50' } })
const ann = await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
const { frontendUrl } = berth.app
const cookie = { name: 'spawner_token', value: ann.token, url: frontendUrl, httpOnly: true }

test('each page says why it asks to sign in, has the address, and leads back, also when the sign-in happens in another tab', async () => {
  await page.context().addCookies([cookie])
  const sessions = page
  const dashboard = await page.context().newPage()
  await sessions.goto(`${frontendUrl}/sessions`)
  await sessions.getByRole('heading', { name: t('sessions.title'), level: 1 }).waitFor()
  await dashboard.goto(frontendUrl)
  await dashboard.getByRole('link', { name: 'Open Development' }).waitFor()
  assertOk(await ann.call('POST', '/api/auth/logout'))

  // The tab that its user comes back to finds out, and the other one follows it.
  await dashboard.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
  for (const [tab, next] of [
    [dashboard, ''],
    [sessions, '?next=%2Fsessions'],
  ] as const) {
    await arrival(tab, `/login${next}`)
    await tab.getByText(t('signIn.ask.ended')).waitFor()
    assert.equal(await tab.getByLabel(t('signIn.email.label')).inputValue(), 'ann@x.org')
  }
  await dashboard.getByRole('button', { name: 'Deutsch' }).click()
  await dashboard.getByText(inGerman('signIn.ask.ended')).waitFor()
  await dashboard.getByRole('button', { name: 'English' }).click()

  const third = await page.context().newPage()
  await third.goto(`${frontendUrl}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await third.getByRole('button', { name: t('signIn.verify.loginButton') }).click()
  await third.getByRole('link', { name: 'Open Development' }).waitFor()
  await sessions.getByRole('heading', { name: t('sessions.title'), level: 1 }).waitFor()
  await dashboard.getByRole('link', { name: 'Open Development' }).waitFor()
  await third.close()
  await dashboard.close()
})

test('tabs in the background follow a sign-out and a sign-in of another tab by themselves', onlyLong, async () => {
  await page.context().addCookies([{ ...cookie, value: (await logIn(berth, 'ann@x.org')).body.access_token }])
  const [dashboard, acting] = [await page.context().newPage(), await page.context().newPage()]
  await dashboard.goto(frontendUrl)
  await page.goto(`${frontendUrl}/sessions`)
  await acting.goto(frontendUrl)
  await acting.getByRole('button', { name: t('frame.nav.account') }).click()
  await acting.getByRole('button', { name: t('frame.nav.signOut') }).click()
  await arrival(acting, '/login')
  await arrival(dashboard, '/login')
  await arrival(page, '/login?next=%2Fsessions')
  await page.getByText(t('signIn.ask.ended')).waitFor()

  await acting.goto(`${frontendUrl}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await acting.getByRole('button', { name: t('signIn.verify.loginButton') }).click()
  for (const tab of [acting, dashboard]) await tab.getByRole('link', { name: 'Open Development' }).waitFor()
  await page.getByRole('heading', { name: t('sessions.title'), level: 1 }).waitFor()
  await dashboard.close()
  await acting.close()
})

// Pages of containers are of the same origin, and can listen and post on the channel, too.
test('a page of a container that floods the channel between tabs learns nothing and causes few requests', async () => {
  const [eve, dashboard] = [await page.context().newPage(), await page.context().newPage()]
  // Stands for what a container answers. Answers of the API have an origin of their own.
  await eve.route('**/eve-dev/page', (route) => route.fulfill({ contentType: 'text/html', body: '<p>an app</p>' }))
  await eve.goto(`${berth.app.spawnerUrl}/eve-dev/page`)
  const heard = await eve.evaluateHandle(() => {
    const messages: unknown[] = []
    new BroadcastChannel('berth.session').addEventListener('message', ({ data }) => void messages.push(data))
    return messages
  })
  await dashboard.goto(frontendUrl)
  await dashboard.getByRole('link', { name: 'Open Development' }).waitFor()
  let asked = 0
  dashboard.on('request', (request) => (asked += Number(request.url().endsWith('/api/user/me'))))
  const begun = performance.now()
  await eve.evaluate(async () => {
    const channel = new BroadcastChannel('berth.session')
    for (let n = 0; n < 200; n++) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a channel, not of a window
      for (let m = 0; m < 50; m++) channel.postMessage({ next: '//evil.example', email: 'eve@x.org', token: 'x' })
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  })
  // The first at once, then one every five seconds; and one that the page may make by itself.
  const allowed = 2 + (performance.now() - begun) / 5_000
  assert.ok(asked >= 1 && asked <= allowed, `${asked} requests, ${allowed} allowed`)
  assert.equal(dashboard.url(), `${frontendUrl}/`)
  await dashboard.getByRole('button', { name: t('frame.nav.account') }).click()
  await dashboard.getByRole('button', { name: t('frame.nav.signOut') }).click()
  await arrival(dashboard, '/login')
  await arrival(page, '/login?next=%2Fsessions')
  const messages = await heard.evaluate((list) => list.filter((data) => !(data instanceof Object)))
  assert.ok(messages.length >= 1 && messages.every((data) => data === null), JSON.stringify(messages))
  await page.context().addCookies([{ ...cookie, value: (await logIn(berth, 'ann@x.org')).body.access_token }])
  await eve.close()
  await dashboard.close()
})

test('who signs out on purpose is given no reason, and is not led back', async () => {
  await page.goto(`${frontendUrl}/sessions`)
  await page.getByRole('button', { name: t('frame.nav.account') }).click()
  await page.getByRole('button', { name: t('frame.nav.signOut') }).click()
  await arrival(page, '/login')
  await page.getByRole('heading', { name: t('signIn.ask.title'), level: 1 }).waitFor()
  assert.equal(await page.getByText(t('signIn.ask.ended')).count(), 0)
  assert.equal(await page.getByLabel(t('signIn.email.label')).inputValue(), '')
})

test('the page of a container that is loaded again says what to do, and its requests get a sentence', async () => {
  await page.goto(`${berth.app.spawnerUrl}/ann-dev/notes?x=1`)
  await page.getByText(t('signIn.ask.toContainer')).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('next'), '/ann-dev/notes?x=1')
  const { status, body } = await berth.call('GET', '/ann-dev/api/kernels')
  assert.equal(status, 401)
  assert.match(body.error, /sign-in has ended.*[Ll]oad this page again/)
})
