// Part of npm run test:more: a browser; specification/containers/launch.test.ts has the rules.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { noCreateRuntime, type Fault } from '#test/support/engine/faulty-runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

/**
 * The front end's page that the gateway sends people to whose container does not wake by itself, with the real server.
 * `BERTH_SCREENSHOTS=folder` keeps pictures.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const noImage: Fault = { active: false }
const berth = await startBerth({ after }, { webDir, wrapRuntime: (runtime) => noCreateRuntime(runtime, noImage) })
const admin = await berth.administrator()

test('a link from the gateway starts the container and leads on to the page that was asked for', async (t) => {
  const { page, problems } = await openAs(t, 'ann@example.org')
  const hasLooked = Promise.withResolvers<void>()
  await page.route('**/api/container/launch/*', (route) => hasLooked.promise.then(() => route.continue()))
  await page.goto(launchAddress('prod', '/ann-prod/x?y=1#top'))
  await page.getByRole('status').getByText('It is starting').waitFor()
  assert.deepEqual(await violations(page), [])
  await picture(page, 'launch-starting')
  hasLooked.resolve()
  await arrival(page, `${berth.app.spawnerUrl}/ann-prod/x?y=1#top`)
  assert.deepEqual(
    problems.filter((problem) => !problem.includes('404')),
    [],
  )
  await page.goBack().catch(() => null)
  assert.ok(!page.url().includes('/launch'), 'the way back does not start it again')
})

test('a link that names another place leads to the container itself', async (t) => {
  const { page } = await openAs(t, 'bea@example.org')
  await page.goto(launchAddress('dev', '//evil.example/bea-dev/'))
  await arrival(page, `${berth.app.spawnerUrl}/bea-dev/`)
})

test('a failed start says why, and can be tried again', onlyLong, async (t) => {
  const { page } = await openAs(t, 'cat@example.org')
  noImage.active = true
  t.after(() => (noImage.active = false))
  await page.goto(launchAddress('prod', '/cat-prod/x'))
  await page.getByRole('heading', { name: 'Your container was not started' }).waitFor()
  await page.getByRole('alert').getByText('could not be fetched').waitFor()
  assert.deepEqual(await violations(page), [])
  await picture(page, 'launch-failed')
  noImage.active = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await arrival(page, `${berth.app.spawnerUrl}/cat-prod/x`)
})

test('a blocked person reads that they are blocked', async (t) => {
  const { page, person } = await openAs(t, 'bob@example.org')
  assert.equal((await admin.call('POST', `/api/admin/users/${person.id}/block`)).status, 200)
  await page.goto(launchAddress('prod', '/bob-prod/'))
  await page.getByRole('alert').getByText('blocked').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.getByRole('link', { name: 'Go to your containers' }).waitFor()
})

test('a type that is not configured leads to the dashboard, which says so once', onlyLong, async (t) => {
  const { page } = await openAs(t, 'eve@example.org')
  await page.goto(launchAddress('toaster', '/eve-toaster/'))
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.getByText('There is no such container type').waitFor()
  await picture(page, 'launch-unknown-type')
  assert.equal(new URL(page.url()).pathname, '/')
  await page.reload()
  await page.getByRole('link', { name: 'Open Development' }).waitFor()
  assert.equal(await page.getByText('There is no such container type').count(), 0)
})

test('who is signed out signs in first, and the container is started after that', onlyLong, async (t) => {
  const { page } = await openAs(t, 'fay@example.org')
  await page.context().clearCookies()
  const link = launchAddress('prod', '/fay-prod/x')
  await page.goto(link)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('next'), new URL(link).pathname + new URL(link).search)
  await page.getByLabel('E-mail address').fill('fay@example.org')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  // The browser that asked for the link uses it by itself.
  await page.goto(`${berth.app.frontendUrl}/verify-login?token=${berth.mail.tokenFor('fay@example.org')}`)
  await arrival(page, `${berth.app.spawnerUrl}/fay-prod/x`)
})

/** A person, and a browser in which they are signed in. */
async function openAs(t: TestContext, email: string) {
  const person = await berth.signUp(email)
  const tab = await openTab(t)
  const cookie = { name: 'spawner_token', value: person.token, url: berth.app.frontendUrl, httpOnly: true }
  await tab.page.context().addCookies([cookie])
  return { person, ...tab }
}

const launchAddress = (type: string, next: string) =>
  `${berth.app.frontendUrl}/launch?${new URLSearchParams({ type, next })}`

async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: path.join(pictures, `${name}.png`) })
}

/** What axe finds, in a line each. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
