// Part of npm run test:long: pages count by the clock of the server, which the tests in web/src/time state.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, logIn, mailsTo, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { t as said } from '#test/support/front-end-text.ts'

/**
 * A browser whose clock is an hour wrong, in a Berth whose sessions and API tokens last less than that: with a fast clock
 * every one of them was shown as over, and could not be ended.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const tokenLifetime = 6
const env = {
  SESSION_IDLE: '1800',
  SESSION_MAX: '2700',
  JWT_ACCESS_TOKEN_EXPIRES: String(tokenLifetime),
  MAGIC_LINK_RATE_LIMIT: '100',
}
const berth = await startBerth({ after }, { webDir, wrapRuntime: noCreateRuntime, env })
await berth.signUpWithoutContainer('boss@x.org')
const linksMailed = () => mailsTo(berth, 'boss@x.org')

for (const [what, offset] of [
  ['fast', 3_600_000],
  ['slow', -3_600_000],
] as const)
  test(`a browser's clock that is an hour ${what} changes nothing in sessions, renewals and times of pages`, async (t) => {
    const { page, problems } = await openTab(t)
    await page.clock.install({ time: Date.now() + offset })
    const { spawnerUrl } = berth.app
    await page.goto(`${spawnerUrl}/verify-login?token=${await tokenBy(berth, 'login', 'boss@x.org')}`)
    await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
    await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
    const before = linksMailed()

    // Renewed by the page while it is used, and after a pause that is longer than a token.
    for (const pause of [tokenLifetime * 0.6, tokenLifetime * 1.5]) {
      await sleep(pause * 1_000)
      await page.getByRole('button', { name: said('frame.nav.account') }).click()
      await page.keyboard.press('Escape')
    }
    const { access_token: token } = (await logIn(berth, 'boss@x.org')).body
    const body = { name: what, scopes: ['containers:read'], expires_in: 600 }
    assertOk(await berth.call('POST', '/api/user/tokens', { token, body }))
    await page.getByRole('button', { name: said('frame.nav.account') }).click()
    await page.getByRole('link', { name: said('frame.nav.sessions') }).click()
    await page.getByRole('heading', { name: /This browser$/ }).waitFor()
    await page.getByRole('button', { name: said('sessions.others') }).click()
    await page.getByText(said('sessions.alone')).waitFor()

    await page.goto(`${spawnerUrl}/admin/users`)
    await page
      .getByRole('row', { name: /boss@x\.org/ })
      .getByText(/^(now|\d+ seconds? ago)$/)
      .first()
      .waitFor()

    await page.goto(`${spawnerUrl}/tokens`)
    await page.getByRole('heading', { name: what, exact: true }).waitFor()
    assert.equal(await page.getByText(said('tokens.expired')).count(), 0)
    assert.equal(linksMailed(), before + 1, 'the other sign-in alone needed a mail')
    assert.deepEqual(problems, [])
  })
