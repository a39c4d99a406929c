import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBerth, type BerthOptions, type Lifetime } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { containerAddress } from '#test/support/routing.ts'

/**
 * The main job as a new person does it, in a real browser, against the real engine, mail server and demo images.
 * `BERTH_SCREENSHOTS=folder` keeps pictures of what they saw.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS

test('a new person signs up, opens the mail, launches both containers, works, and finds their file after a restart', async (t) => {
  const berth = await startBerth(t, { webDir, ...(await engineOfJourney(t)) })
  const { page, problems } = await openTab(t)
  const linkTo = () => /http\S+/.exec(berth.mail.newestTo('ann@example.org').text ?? '')?.[0] ?? ''
  const picture = async (name: string) => {
    if (!pictures) return
    await page.mouse.move(0, 0)
    await page.screenshot({ path: path.join(pictures, `${name}.png`) })
  }

  await t.test('signing up leads to "check your mail"', async () => {
    await page.goto(berth.app.frontendUrl)
    await page.getByLabel('E-mail address').fill('Ann@Example.org')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  })

  await t.test('opening the link elsewhere, as scanners do, uses nothing up: its button would', async () => {
    const elsewhere = await (await page.context().browser()!.newContext()).newPage()
    for (const _ of [1, 2]) {
      await elsewhere.goto(linkTo())
      await elsewhere.getByRole('button', { name: 'Finish signing up' }).waitFor()
    }
    assert.ok(!elsewhere.url().includes('token='), 'the token is gone from the address bar')
    await elsewhere.context().close()
  })

  await t.test('the browser that asked for the link goes on by itself, and is signed in', async () => {
    await page.goto(linkTo())
    await page.getByRole('heading', { name: 'Your containers' }).waitFor()
    assert.ok(!page.url().includes('token='))
  })

  await t.test(
    'the dashboard shows both types; prod is launched by its button, and opens by itself when it is ready',
    async () => {
      await page.getByRole('link', { name: 'Open Development' }).waitFor()
      await page.getByRole('button', { name: 'Launch Production' }).click()
      await arrival(page, containerAddress(berth.app, 'ann-prod'))
      await page.getByRole('heading').first().waitFor()
      await page.goto(berth.app.frontendUrl)
      await page.getByRole('link', { name: 'Open Production' }).waitFor()
    },
  )

  await t.test('after a reload the page may still launch: its proof came with the document', async () => {
    await page.reload()
    await page.getByRole('link', { name: 'Open Production' }).waitFor()
    const status = await page.evaluate(
      async () => (await fetch('/api/container/launch/prod', { method: 'POST' })).status,
    )
    assert.equal(status, 403, 'without the proof even the same origin may not')
  })

  await t.test('prod opens as a site under its own path', async () => {
    await page.getByRole('link', { name: 'Open Production' }).click()
    await arrival(page, containerAddress(berth.app, 'ann-prod'))
    await page.getByRole('heading').first().waitFor()
    await page.goto(berth.app.frontendUrl)
  })

  await t.test('dev opens, and its terminal writes a file through a WebSocket', async () => {
    await page.getByRole('link', { name: 'Open Development' }).click()
    await arrival(page, containerAddress(berth.app, 'ann-dev'))
    await typeInTerminal(page, 'echo kept-by-the-home > note.txt')
    await page.getByRole('tree', { name: 'Files' }).getByText('note.txt').waitFor()
    await picture('workspace')
  })

  await t.test('the app sees who is there, in a token that it can verify and that the API refuses', async () => {
    const who = await page.evaluate(async () => (await fetch('api/whoami')).json() as Promise<{ sub: string }>)
    assert.equal(who.sub, '1')
  })

  await t.test('restarting from the dashboard replaces the container and keeps the file', async () => {
    const before = await containerIdOf(page, berth.app.frontendUrl)
    await page.getByRole('button', { name: 'More actions for Development' }).click()
    await page.getByRole('menuitem', { name: 'Restart Development' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
    await page.getByText('Development was restarted.').waitFor({ state: 'attached' })
    const after = await containerIdOf(page, berth.app.frontendUrl)
    assert.notEqual(after, before)
    await page.getByRole('link', { name: 'Open Development' }).click()
    await page.getByRole('tree', { name: 'Files' }).getByText('note.txt').waitFor()
    const text = await page.evaluate(async () => (await fetch('view/note.txt')).text())
    assert.equal(text.trim(), 'kept-by-the-home')
  })

  await t.test('signing out ends it everywhere', async () => {
    await page.goto(berth.app.frontendUrl)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(containerAddress(berth.app, 'ann-dev'))
    await page.waitForURL('**/login?next=%2Fann-dev%2F')
  })

  await t.test('nothing on the way broke a rule of the browser', () => {
    // The launch without proof, which was meant to be refused, is the only error a console saw.
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('403 (Forbidden)')),
      [],
    )
  })
})

/** The machine's own engine with the demo images, or the cluster of `npm run test:cluster`. */
async function engineOfJourney(t: Lifetime): Promise<BerthOptions> {
  if (process.env.BERTH_TEST_CLUSTER === undefined) return { env: { CONTAINER_TEMPLATES: '' } }
  return (await import('#test/support/cluster/berth-on-cluster.ts')).demoOnCluster(t)
}

async function typeInTerminal(page: Page, command: string): Promise<void> {
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type(command)
  await page.keyboard.press('Enter')
}

async function containerIdOf(page: Page, frontendUrl: string): Promise<string> {
  await page.goto(frontendUrl)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  const { containers } = (await page.evaluate(async () => (await fetch('/api/user/containers')).json())) as {
    containers: { type: string; container_id: string }[]
  }
  return containers.find(({ type }) => type === 'dev')?.container_id ?? ''
}
