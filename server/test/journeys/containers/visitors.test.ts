// Part of npm run test:long: the rules of shares have quick tests in specification/sharing and hostile-visitors.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Ann shares her workspace with Ben, on a host of its own: what both see, at a desk and on a phone, with the real engine. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const dev = { display_name: 'Workspace', image: 'berth-demo-dev:latest', memory: '256m' }
const env = {
  CONTAINER_TEMPLATES: JSON.stringify({ dev }),
  CONTAINER_ROUTING: 'subdomain',
  SHARING: 'people',
  MAGIC_LINK_RATE_LIMIT: '50',
}
const berth = await startBerth({ after }, { webDir, env })
const { spawnerUrl: front, containerOrigin } = berth.app
const workspace = `${containerOrigin?.('ann-dev')}/`
const ann = await berth.signUp('ann@x.org')
await berth.signUp('ben@x.org')
assertOk(await ann.call('POST', '/api/container/launch/dev'))
const [{ page: desk }, { page: phone }] = [await openTab({ after }), await openTab({ after })]
await phone.setViewportSize({ width: 390, height: 844 })

async function signIn(page: Page, email: string): Promise<void> {
  await steadily(async () => page.goto(`${front}/verify-login?token=${await tokenBy(berth, 'login', email)}`))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
}

async function share(may: 'look' | 'use it'): Promise<void> {
  await desk.getByRole('button', { name: 'Share Workspace' }).click()
  const dialog = desk.getByRole('dialog', { name: 'Share Workspace' })
  // It said "tell them the address", and showed none.
  assert.equal(await dialog.locator('.address').textContent(), `${front}/ann-dev`)
  await dialog.getByLabel('E-mail addresses').fill('ben@x.org')
  await dialog.getByLabel('They may').selectOption(may)
  assert.deepEqual(await violations(desk), [])
  await dialog.getByRole('button', { name: 'Share', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  // Screen readers were told nothing of it.
  await desk.getByRole('status').filter({ hasText: 'Workspace is shared now.' }).waitFor()
}

const endOf = () => desk.getByRole('button', { name: 'End the share with ben@x.org' })

test('without a share Ben is refused, by the page of the container', async () => {
  await signIn(desk, 'ann@x.org')
  await signIn(phone, 'ben@x.org')
  await phone.goto(workspace)
  await phone.getByRole('heading', { name: 'Access denied' }).waitFor()
})

test('Ann lets him look: he finds the container on his dashboard, and reads in it, without a terminal', async () => {
  await desk.goto(`${front}/sharing`)
  await share('look')
  await phone.goto(front)
  await phone.getByRole('link', { name: 'Workspace of ann@x.org' }).click()
  await phone.locator('.cm-content').waitFor()
  await phone.locator('#terminal-state', { hasText: /\w/ }).waitFor()
  assert.equal(await phone.locator('.xterm-rows', { hasText: '$' }).count(), 0, 'no shell answers')
  await desk.getByText('ben@x.org is here, since').waitFor()
  if (pictures) await desk.screenshot({ path: path.join(pictures, 'visitors-desk.png') })
  if (pictures) await phone.screenshot({ path: path.join(pictures, 'visitors-look.png') })
})

test('Ann lets him use it: his terminal runs in her container, and ends within a second when she ends the share', async () => {
  // Only the window in front has a focus in Firefox.
  await desk.bringToFront()
  await endOf().click()
  await desk.getByText('Shared with no one.').waitFor()
  // Not at the top of the document: the row is gone with the pressed button.
  await desk.locator('h2:focus').waitFor()
  await desk.getByRole('status').filter({ hasText: 'ben@x.org no longer has access.' }).waitFor()
  await share('use it')
  await phone.bringToFront()
  await steadily(() => phone.goto(workspace))
  await phone.locator('.xterm').click()
  await phone.keyboard.type('echo shared-$((40+2)) | tee shared.txt\n')
  await phone.locator('.xterm-rows', { hasText: 'shared-42' }).waitFor()
  if (pictures) await phone.screenshot({ path: path.join(pictures, 'visitors-use.png') })
  await endOf().click()
  const begun = performance.now()
  await phone.locator('#terminal-state', { hasText: /connect|lost|ended/i }).waitFor()
  assert.ok(performance.now() - begun < timeLimit(1_000))
  await phone.goto(workspace)
  await phone.getByRole('heading', { name: 'Access denied' }).waitFor()
  await phone.goto(`${front}/sharing`)
  await phone.getByRole('heading', { name: 'Shared containers' }).waitFor()
  assert.equal(await phone.getByText('ann@x.org').count(), 0)
  assert.deepEqual(await violations(phone), [])
  const sizes = await phone.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  assert.ok(sizes[0]! <= sizes[1]!, 'nothing is wider than the phone')
})

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
