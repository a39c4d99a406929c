import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, WebSocket } from 'playwright-core'
import { assertOk, logIn } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab, steadily } from '#test/support/browser.ts'
import { extent, timeLimit } from '#test/support/extent.ts'
import { t as said } from '#test/support/front-end-text.ts'

/**
 * A session that outlives many tokens, in a real browser with the demo workspace, whose terminal is a WebSocket. Tokens
 * last ten seconds; `npm run test:long` works for two minutes.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const tokenLifetime = 10
const seconds = extent(14, 120)

test('a user works on while tokens expire, comes back after a pause, and is cut when the session is ended', async (t) => {
  const env = { CONTAINER_TEMPLATES: '', JWT_ACCESS_TOKEN_EXPIRES: String(tokenLifetime), MAGIC_LINK_RATE_LIMIT: '50' }
  const berth = await startBerth(t, { webDir, env })
  const { page: dashboard } = await openTab(t)
  const linkTo = () => /http\S+/.exec(berth.mail.newestTo('ann@example.org').text ?? '')?.[0] ?? ''
  await dashboard.goto(berth.app.frontendUrl)
  await dashboard.getByLabel('E-mail address').fill('ann@example.org')
  await dashboard.getByRole('button', { name: 'Mail me a link' }).click()
  await dashboard.getByRole('heading', { name: 'Check your mail' }).waitFor()
  await dashboard.goto(linkTo())
  await dashboard.getByRole('link', { name: 'Open Development' }).waitFor()
  const mails = berth.mail.received.length
  const workspace = await dashboard.context().newPage()
  const address = `${berth.app.spawnerUrl}/ann-dev/`
  let socket = await openTerminal(workspace, address)
  const read = () => workspace.evaluate(async () => (await fetch('./')).status)
  // On a busy machine the token may expire while the page loads; the second navigation finds everything warm.
  if ((await read()) === 401) socket = await openTerminal(workspace, address)

  await t.test('the terminal stays open and the files are read while tokens come and go', async () => {
    const end = Date.now() + seconds * 1_000
    while (Date.now() < end) {
      await workspace.keyboard.type('x')
      assert.equal(await read(), 200)
      assert.ok(!socket.isClosed(), 'the terminal was cut')
      await sleep(1_000)
    }
  })

  await t.test('after a pause longer than a token the open page goes on with the first click', async () => {
    await sleep((tokenLifetime + 2) * 1_000)
    await dashboard.bringToFront()
    await dashboard.getByRole('button', { name: said('frame.nav.account') }).click()
    await dashboard.getByRole('link', { name: said('sessions.title') }).click()
    await dashboard.getByRole('heading', { name: /This browser$/ }).waitFor()
    assert.ok(!socket.isClosed(), 'the terminal was cut')
  })

  await t.test('after a pause a navigation into the container, and to a page, needs no sign-in', async () => {
    await sleep((tokenLifetime + 2) * 1_000)
    const again = await dashboard.context().newPage()
    await steadily(() => again.goto(`${berth.app.spawnerUrl}/ann-dev/`))
    await again.getByRole('tree', { name: 'Files' }).waitFor()
    await sleep((tokenLifetime + 2) * 1_000)
    await steadily(() => again.goto(`${berth.app.frontendUrl}/sessions`))
    await again.getByRole('heading', { name: /This browser$/ }).waitFor()
    await again.close()
    assert.equal(berth.mail.received.length, mails, 'a mail was needed')
  })

  await t.test('"End" elsewhere cuts the terminal at once, and the page says so and has the address', async () => {
    assert.ok(!socket.isClosed(), 'the terminal was cut before')
    const token: string = (await logIn(berth, 'ann@example.org')).body.access_token
    const { sessions } = (await berth.call('GET', '/api/user/sessions', { token })).body
    const browser = sessions.find((each: { is_current: boolean }) => !each.is_current)
    const closed = socket.waitForEvent('close', { timeout: 5_000 })
    assertOk(await berth.call('DELETE', `/api/user/sessions/${browser.id}`, { token }))
    const ended = Date.now()
    await closed
    assert.ok(Date.now() - ended < timeLimit(1_000), `${Date.now() - ended} ms`)
    await dashboard.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await arrival(dashboard, '/login?next=%2Fsessions')
    await dashboard.getByText(said('signIn.ask.ended')).waitFor()
    assert.equal(await dashboard.getByLabel(said('signIn.email.label')).inputValue(), 'ann@example.org')
  })
})

/** Opens the workspace and waits for its terminal. @returns the terminal's connection */
async function openTerminal(page: Page, url: string): Promise<WebSocket> {
  const opened = page.waitForEvent('websocket', { timeout: 20_000 })
  await steadily(() => page.goto(url))
  const socket = await opened
  await page.locator('.xterm-helper-textarea').focus()
  return socket
}
