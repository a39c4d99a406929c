// Part of npm run test:more: a browser; specification/oidc has the rules.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { arrival, openTab } from '#test/support/browser.ts'
import { t } from '#test/support/front-end-text.ts'
import { startProvider } from '#test/support/oidc/provider.ts'
import { registerAt, startBerthWith } from '#test/support/oidc/berth-with-providers.ts'

/** Sign-in and sign-out by a certified provider, in Chromium. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const provider = await startProvider({ after })
const fields = await registerAt(provider, 'main', { display_name: 'School' })
const berth = await startBerthWith({ after }, { main: fields }, { webDir, env: { BASE_DOMAIN: '' } })
const { frontendUrl } = berth.app
await registerAt(provider, 'main', {}, { url: frontendUrl, backchannel: berth.url })
await provider.personIs('ann', { email: 'ann@x.org', email_verified: true })
const { page } = await openTab({ after })
const button = t('signIn.ask.provider', { name: 'School' })

test('a person signs in by the button of the provider, and a sign-out ends the session there as well', async () => {
  await page.goto(`${frontendUrl}/login?next=%2Fsessions`)
  await page.getByRole('link', { name: button }).click()
  await arrival(page, '/sessions')
  await page.getByRole('heading', { name: t('sessions.title'), level: 1 }).waitFor()
  await page.getByRole('button', { name: t('frame.nav.account') }).click()
  await page.getByRole('button', { name: t('frame.nav.signOut') }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await arrival(page, '/login')
  await page.getByRole('link', { name: button }).waitFor()
  assert.equal(berth.mails.length, 0)
})

test('a sign-out at the provider ends an open page of Berth by itself', async () => {
  await page.goto(frontendUrl)
  await page.getByRole('link', { name: button }).click()
  await page.getByRole('heading', { name: t('dashboard.title'), level: 1 }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${provider.issuer}/session/end`)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await arrival(page, '/login')
  await page.getByText(t('signIn.ask.ended')).waitFor()
})

test('a sign-in that the provider refuses is explained on the login page, beside the other ways', async () => {
  await provider.order({ signsIn: { error: 'access_denied', error_description: 'no' } })
  await page.goto(`${frontendUrl}/login`)
  await page.getByRole('link', { name: button }).click()
  await page.getByRole('alert').getByText(t('signIn.problem.cancelled')).waitFor()
  await page.getByLabel(t('signIn.email.label')).waitFor()
})
