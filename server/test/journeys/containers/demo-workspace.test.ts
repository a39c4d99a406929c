// Part of npm run test:more: an image that is there to be tried out.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { firstOfList, onlyLong, waitLimit } from '#test/support/extent.ts'

/** The demo workspace behind the gateway, as its owner uses it: on a phone, enlarged, in German, and through a restart. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const dev = { display_name: 'Development', image: 'berth-demo-dev:latest', memory: '256m' }
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify({ dev }) } })
const ann = await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
const browser = page.context().browser()!
const address = `${berth.app.spawnerUrl}/ann-dev/`

async function open(locale: string, width: number, height: number) {
  const context = await browser.newContext({ locale, viewport: { width, height } })
  after(() => context.close())
  await context.addCookies([
    { name: 'spawner_token', value: ann.token, domain: '.berth.localhost', path: '/', httpOnly: true },
  ])
  const tab = await context.newPage()
  tab.setDefaultTimeout(waitLimit(30_000))
  await steadily(() => tab.goto(address))
  await tab.locator('.cm-content').waitFor()
  return tab
}

const windows = [
  ['400 % of 1280 by 1024', 320, 256],
  ['a phone', 360, 640],
  ['a desk', 1280, 800],
] as const
for (const [index, [what, width, height]] of windows.entries())
  test(`nothing of it is wider than ${what}, and its editor can be used there`, firstOfList(index), async () => {
    const tab = await open('en', width, height)
    const sizes = await tab.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      // In Firefox a scroll bar takes its part of the window.
      room: document.documentElement.clientWidth,
      editor: document.querySelector('.editor')?.getBoundingClientRect().height ?? 0,
    }))
    assert.equal(sizes.width, sizes.room)
    assert.ok(sizes.editor >= 150, `${sizes.editor} px`)
    await tab.locator('.cm-content').click()
    await tab.keyboard.type('typed ')
    await tab.getByRole('tab', { name: 'README.md, not saved' }).waitFor()
  })

test('it leads back to Berth, from its pages too', async () => {
  const tab = await open('en', 1280, 800)
  await tab.getByRole('link', { name: 'Request' }).click()
  await tab.getByRole('heading', { name: 'Your request, as this container saw it' }).waitFor()
  await tab.getByRole('link', { name: 'Your containers' }).click()
  await tab.getByRole('heading', { name: 'Your containers' }).waitFor()
})

test(
  'it speaks German to who reads German, and calls the other container as the dashboard does',
  onlyLong,
  async () => {
    const tab = await open('de-DE', 1280, 800)
    await tab.getByRole('heading', { name: 'Dateien' }).waitFor()
    await tab.getByRole('tab', { name: 'LIESMICH.md' }).waitFor()
    assert.match((await tab.locator('.cm-content').textContent()) ?? '', /Production/)
    assert.equal(await tab.evaluate(() => document.documentElement.lang), 'de')
    await tab.getByRole('link', { name: 'Deine Container' }).waitFor()
  },
)

test('its terminal connects again by itself when the container was restarted', onlyLong, async () => {
  const tab = await open('en', 1280, 800)
  // Only a page that is looked at connects by itself.
  await tab.bringToFront()
  await tab.locator('.xterm').click()
  await tab.keyboard.type('echo before-$((40+2))\n')
  await tab.locator('.xterm-rows', { hasText: 'before-42' }).waitFor()
  assertOk(await ann.call('POST', '/api/container/restart'))
  await tab.locator('#terminal-state', { hasText: 'this is a new shell' }).waitFor()
  await tab.keyboard.type('echo after-$((40+3))\n')
  await tab.locator('.xterm-rows', { hasText: 'after-43' }).waitFor()
})
