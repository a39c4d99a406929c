// Part of npm run test:more: states of single pages, beside the journeys that pass them.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { inGerman, t as said } from '#test/support/front-end-text.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/** What stands around every page, and the way in, where only a real browser can show that it holds. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const env = { MAGIC_LINK_RATE_LIMIT: '20' }
const berth = await startBerth({ after }, { webDir, env, wrapRuntime: noCreateRuntime })
const { frontendUrl } = berth.app
const ann = await berth.signUpWithoutContainer('ann@x.org')
const { page: first } = await openTab({ after })

/** A page of a browser that was here never before; of Ann's, who is the administrator, when she is signed in. */
async function openPage({ isSignedIn = false } = {}): Promise<Page> {
  const context = await first.context().browser()!.newContext()
  if (isSignedIn) await context.addCookies([cookie])
  const page = await context.newPage()
  page.setDefaultTimeout(waitLimit(40_000))
  return page
}

const cookie = { name: 'spawner_token', value: ann.token, url: frontendUrl, httpOnly: true }

test('who chooses a language stays where they are, and has refusals, mails and the next document in it', async () => {
  const page = await openPage()
  await page.goto(`${frontendUrl}/login`)
  await page.getByRole('button', { name: 'Deutsch' }).click()
  await page.getByRole('heading', { name: inGerman('signIn.ask.title') }).waitFor()
  const focused = await page.evaluate(() => document.activeElement?.textContent)
  assert.deepEqual([focused, await page.evaluate(() => document.documentElement.lang)], ['Deutsch', 'de'])
  await page.getByLabel(inGerman('signIn.email.label')).fill('ann@x')
  await page.keyboard.press('Enter')
  await page.getByText('An diese Adresse können wir keine E-Mail schicken.').waitFor()
  await page.getByLabel(inGerman('signIn.email.label')).fill('ann@x.org')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: inGerman('checkMail.title') }).waitFor()
  assert.match(berth.mail.newestTo('ann@x.org').text ?? '', /Öffne diesen Link/)
  await page.goto(`${frontendUrl}/login`)
  await page.getByRole('heading', { name: inGerman('signIn.ask.title') }).waitFor()
})

test('the page that waits for the mail goes on when its link was used in another tab', async () => {
  const page = await openPage()
  await page.goto(`${frontendUrl}/login`)
  await page.getByLabel(said('signIn.email.label')).fill('ann@x.org')
  await page.getByRole('button', { name: said('signIn.ask.button') }).click()
  await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
  await page.context().addCookies([cookie])
  // Chromium without a window shows all its tabs at once; this is what it says when one is looked at.
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
})

test('a page whose session another tab replaced shows the new user as soon as it is visible', onlyLong, async () => {
  const page = await openPage({ isSignedIn: true })
  await page.goto(`${frontendUrl}/`)
  await page.getByText('ann@x.org').first().waitFor()
  const { token } = await berth.signUpWithoutContainer('bob@x.org')
  await page.context().addCookies([{ ...cookie, value: token }])
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
  await page.getByText('bob@x.org').first().waitFor()
})

// A container's page shares our origin: it could leave its author's address for "check your mail", have "send it again"
// pressed there, lead to the author's link, and the browser would sign in to the author's account without another press.
test('only with an address that was typed there does a page say that this browser asked', onlyLong, async () => {
  const page = await openPage()
  const proofs: (string | undefined)[] = []
  await page.route('**/api/auth/link', (route) => {
    proofs.push(route.request().headers()['x-csrf-token'])
    return route.fulfill({ json: { message: 'Sent.' } })
  })
  await page.goto(`${frontendUrl}/login`)
  await page.evaluate(() => history.replaceState({ email: 'eve@x.org', at: 0 }, '', '/check-mail'))
  await page.reload()
  await page.getByRole('button', { name: said('checkMail.again') }).click()
  await page.getByText(said('checkMail.sentAgain')).waitFor()
  await page.goto(`${frontendUrl}/login`)
  await page.getByLabel(said('signIn.email.label')).fill('ann@x.org')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
  assert.deepEqual(
    proofs.map((proof) => proof !== undefined),
    [false, true],
  )
})

test('a link is asked for once, however often the button is pressed', onlyLong, async () => {
  const page = await openPage()
  let asked = 0
  await page.route('**/api/auth/link', async (route) => {
    asked += 1
    await route.continue()
  })
  await page.goto(`${frontendUrl}/login`)
  await page.getByLabel(said('signIn.email.label')).fill('ann@x.org')
  await page.getByRole('button', { name: said('signIn.ask.button') }).dblclick()
  await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
  assert.equal(asked, 1)
})

test('a used link says so, and its address field leads to a new one', onlyLong, async () => {
  const page = await openPage()
  const link = `${frontendUrl}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`
  await page.goto(link)
  await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
  await page.context().clearCookies()
  await page.goto(link)
  await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await page.getByRole('heading', { name: said('signIn.refused.used.title') }).waitFor()
  await page.getByLabel(said('signIn.email.label')).fill('ann@x.org')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
})

test('a page says that Berth cannot be reached, and goes on by itself when it can', onlyLong, async () => {
  const page = await openPage({ isSignedIn: true })
  await page.goto(`${frontendUrl}/sessions`)
  await page
    .getByText(said('signIn.ask.continue'))
    .or(page.getByText(said('sessions.current')))
    .first()
    .waitFor()
  await page.context().setOffline(true)
  await page.getByText(said('frame.connectivity.offline')).waitFor()
  await page.context().setOffline(false)
  await page.getByText(said('frame.connectivity.offline')).waitFor({ state: 'detached' })
})

test('a part that an updated server does not have any more reloads the page once, and then says so', async () => {
  const page = await openPage({ isSignedIn: true })
  await page.route('**/assets/admin-*.js', (route) => route.fulfill({ status: 404 }))
  let documents = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents += 1
  })
  await page.goto(`${frontendUrl}/admin`)
  await page.getByRole('heading', { name: said('frame.outdated.title') }).waitFor()
  assert.equal(documents, 2)
  await page.unroute('**/assets/admin-*.js')
  await page.getByRole('button', { name: said('frame.outdated.button') }).click()
  await page.getByRole('heading', { name: said('admin.shell.overview'), level: 1 }).waitFor()
})
