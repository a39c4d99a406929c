// Part of npm run test:more: a second scheme; plain-http-proof.test.ts has its rules.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { onlyLong } from '#test/support/extent.ts'

/**
 * A server in the next room, without TLS: browsers keep their `Sec-Fetch-*` headers to themselves there, so the documents
 * cannot carry the proof that they are ours. Found when the first dashboard on such an address could launch nothing.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const host = 'room.test'
const options = { webDir, env: { SPAWNER_SUBDOMAIN: '', BASE_DOMAIN: host, SHARING: 'people', SNAPSHOTS: 'on' } }

test('on plain http away from localhost a person can sign in and launch, and after a reload has to sign in again', async (t) => {
  const berth = await startBerth(t, options)
  const { page } = await openTab(t, host)
  const here = `http://${host}:${berth.app.port}`
  await page.goto(`${here}/signup`)
  assert.equal(await page.evaluate(() => isSecureContext), false)
  await page.getByLabel('E-mail address').fill('ann@x.org')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await page.goto(`${here}/verify-signup?token=${berth.mail.tokenFor('ann@x.org')}`)
  await page.getByRole('button', { name: 'Finish signing up' }).click()
  await page.getByRole('button', { name: 'Launch Production' }).click()
  await page.getByRole('link', { name: 'Open Production' }).waitFor()
  await page.reload()
  await page.getByText('to change anything you have to sign in again').waitFor()
  await page.getByRole('button', { name: 'More actions for Development' }).click()
  const restart = page.getByRole('menuitem', { name: 'Restart Development' })
  assert.equal(await restart.getAttribute('aria-disabled'), 'true')
  await page.keyboard.press('Escape')
  // Pages on which buttons do nothing say why, each; they said nothing but on the dashboard.
  for (const path of ['sessions', 'tokens', 'groups', 'sharing', 'snapshots', 'admin/groups'] as const) {
    await page.goto(`${here}/${path}`)
    await page.getByText('to change anything you have to sign in again').waitFor()
  }
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('there, too, the launch page starts the container after signing in', onlyLong, async (t) => {
  const berth = await startBerth(t, options)
  const { token } = await berth.signUp('ann@x.org')
  const { page } = await openTab(t, host)
  await page.context().addCookies([{ name: 'spawner_token', value: token, url: `http://${host}`, httpOnly: true }])
  const here = `http://${host}:${berth.app.port}`
  await page.goto(`${here}/launch?type=prod&next=%2Fann-prod%2Fx`)
  await page.getByText('Berth cannot confirm that you opened this page yourself').waitFor()
  await page.getByRole('link', { name: 'Sign in to start your container' }).click()
  await page.getByLabel('E-mail address').fill('ann@x.org')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await page.goto(`${here}/verify-login?token=${berth.mail.tokenFor('ann@x.org')}`)
  const started = page.waitForResponse((response) => response.url().endsWith('/api/container/launch/prod'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  assert.equal((await started).status(), 200)
})
