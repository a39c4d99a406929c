import assert from 'node:assert/strict'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { startBerth, type Berth, type BerthOptions } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'

/**
 * The front end's page that the gateway sends people to whose container does not wake by itself, with the real server.
 * `BERTH_SCREENSHOTS=folder` keeps pictures.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS

test('a link from the gateway starts the container and leads on to the page that was asked for', async (t) => {
  const { berth, page, problems } = await openAs(t, 'ann@example.org')
  const hasLooked = Promise.withResolvers<void>()
  await page.route('**/api/container/launch/*', (route) => hasLooked.promise.then(() => route.continue()))
  await page.goto(launchAddress(berth, 'prod', '/ann-prod/x?y=1#top'))
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
  const { berth, page } = await openAs(t, 'ann@example.org')
  await page.goto(launchAddress(berth, 'dev', '//evil.example/ann-dev/'))
  await arrival(page, `${berth.app.spawnerUrl}/ann-dev/`)
})

test('a failed start says why, and can be tried again', async (t) => {
  const refusal = { active: false }
  const wrapRuntime: BerthOptions['wrapRuntime'] = (runtime) => noCreateRuntime(runtime, refusal)
  const { berth, page } = await openAs(t, 'ann@example.org', { wrapRuntime })
  refusal.active = true
  await page.goto(launchAddress(berth, 'prod', '/ann-prod/x'))
  await page.getByRole('heading', { name: 'Your container was not started' }).waitFor()
  await page.getByRole('alert').getByText('could not be fetched').waitFor()
  assert.deepEqual(await violations(page), [])
  await picture(page, 'launch-failed')
  refusal.active = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await arrival(page, `${berth.app.spawnerUrl}/ann-prod/x`)
})

test('a blocked person reads that they are blocked', async (t) => {
  const { berth, page, admin, person } = await openAs(t, 'bob@example.org')
  assert.equal((await admin.call('POST', `/api/admin/users/${person.id}/block`)).status, 200)
  await page.goto(launchAddress(berth, 'prod', '/bob-prod/'))
  await page.getByRole('alert').getByText('blocked').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await page.getByRole('link', { name: 'Go to your containers' }).waitFor()
})

test('a type that is not configured leads to the dashboard, which says so once', async (t) => {
  const { berth, page } = await openAs(t, 'ann@example.org')
  await page.goto(launchAddress(berth, 'toaster', '/ann-toaster/'))
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.getByText('There is no such container type').waitFor()
  await picture(page, 'launch-unknown-type')
  assert.equal(new URL(page.url()).pathname, '/')
  await page.reload()
  await page.getByRole('link', { name: 'Open Development' }).waitFor()
  assert.equal(await page.getByText('There is no such container type').count(), 0)
})

test('who is signed out signs in first, and the container is started after that', async (t) => {
  const { berth, page } = await openAs(t, 'ann@example.org')
  await page.context().clearCookies()
  const link = launchAddress(berth, 'prod', '/ann-prod/x')
  await page.goto(link)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('next'), new URL(link).pathname + new URL(link).search)
  await page.getByLabel('E-mail address').fill('ann@example.org')
  await page.getByRole('button', { name: 'Mail me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  // The browser that asked for the link uses it by itself.
  await page.goto(`${berth.app.frontendUrl}/verify-login?token=${berth.mail.tokenFor('ann@example.org')}`)
  await arrival(page, `${berth.app.spawnerUrl}/ann-prod/x`)
})

test('on plain http away from localhost, where documents carry no proof, signing in starts it', async (t) => {
  const host = 'room.test'
  const { berth, page } = await openAs(t, 'ann@x.org', { env: { SPAWNER_SUBDOMAIN: '', BASE_DOMAIN: host } }, host)
  const here = `http://${host}:${berth.app.port}`
  await page.goto(`${here}/launch?type=prod&next=%2Fann-prod%2Fx`)
  await page.getByText('Berth cannot confirm that you opened this page yourself').waitFor()
  await page.getByRole('link', { name: 'Sign in to start your container' }).click()
  await page.getByLabel('E-mail address').fill('ann@x.org')
  await page.getByRole('button', { name: 'Mail me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await page.goto(`${here}/verify-login?token=${berth.mail.tokenFor('ann@x.org')}`)
  const started = page.waitForResponse((response) => response.url().endsWith('/api/container/launch/prod'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  assert.equal((await started).status(), 200)
})

/** A Berth with an administrator and this person, and a browser in which the person is signed in. */
async function openAs(t: TestContext, email: string, options: BerthOptions = {}, host?: string) {
  const berth = await startBerth(t, { webDir, ...options })
  // The first to come is the administrator.
  const admin = await berth.signUp('root@example.org')
  const person = await berth.signUp(email)
  const tab = await openTab(t, host)
  const url = host === undefined ? berth.app.frontendUrl : `http://${host}`
  await tab.page.context().addCookies([{ name: 'spawner_token', value: person.token, url, httpOnly: true }])
  return { berth, person, admin, ...tab }
}

const launchAddress = (berth: Berth, type: string, next: string) =>
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
