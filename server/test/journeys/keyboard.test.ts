// Part of npm run test:more: a browser; new-user.test.ts goes the same way with a pointer.
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startBerth } from '#test/support/berth.ts'
import { arrival, isFirefox, openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { t as said } from '#test/support/front-end-text.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'
import { containerAddress } from '#test/support/routing.ts'

/** The whole job of a student without a mouse: Tab, Shift and Tab, Enter, Space and Escape, and what is typed into the one field. */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')

test(
  'with the keyboard alone a person signs in, launches, reads logs, stops and signs out, and always sees where they are',
  onlyLong,
  async (t) => {
    const image = await testImage()
    const app = 'echo ready to work; exec httpd -f -p 8080 -h /home/berth'
    const template = { image, port: 8080, memory: '64m', command: ['/bin/sh', '-c', app] }
    const templates = {
      dev: { display_name: 'Development', description: 'Where work is done', ...template },
      prod: { display_name: 'Production', description: 'Where work is shown', ...template },
    }
    const berth = await startBerth(t, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
    await berth.signUp('ann@x.org')
    const { page, problems } = await openTab(t)
    page.setDefaultTimeout(waitLimit(40_000))
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const containers = page.getByRole('heading', { name: said('dashboard.title'), level: 1 })

    await t.test('asks for a link', async () => {
      await page.goto(berth.app.frontendUrl)
      await reach(page, page.getByLabel(said('signIn.email.label')))
      await page.keyboard.type('ann@x.org')
      await reach(page, button(said('signIn.ask.button')))
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: said('checkMail.title') }).waitFor()
      await focusIsSomewhere(page)
    })

    await t.test('follows it, and is signed in', async () => {
      const link = /http\S+/.exec(berth.mail.newestTo('ann@x.org').text ?? '')?.[0] ?? ''
      await page.goto(link)
      // The browser that asked for it goes on by itself.
      await containers.waitFor()
    })

    await t.test('launches a container, which opens when it is ready', async () => {
      await reach(page, button(`${said('dashboard.action.launch')} Production`))
      await page.keyboard.press('Enter')
      await arrival(page, containerAddress(berth.app, 'ann-prod'))
      await page.goto(berth.app.frontendUrl)
      await containers.waitFor()
    })

    const more = button(said('dashboard.action.more', { name: 'Development' }))
    await t.test('reads logs from a menu, and is back at the button that opened it', async () => {
      await reach(page, more)
      await page.keyboard.press('Enter')
      const logs = page.getByRole('menuitem', { name: `${said('dashboard.action.logs')} Development` })
      await page.keyboard.press('End')
      await page.keyboard.press('Home')
      assert.ok(await hasFocus(logs))
      await page.keyboard.press('Escape')
      assert.ok(await hasFocus(more))
      await page.keyboard.press('ArrowDown')
      assert.ok(await hasFocus(logs))
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: said('logs.title', { name: 'Development' }) })
      await dialog.getByText('ready to work').waitFor()
      assert.ok(await dialog.evaluate((element) => element.contains(document.activeElement)))
      await reach(page, dialog.getByRole('button', { name: said('frame.close') }))
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.ok(await hasFocus(more))
    })

    await t.test('stops one, after being asked', async () => {
      await reach(page, button(`${said('dashboard.action.stop')} Production`))
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await reach(page, dialog.getByRole('button', { name: said('dashboard.action.stop'), exact: true }))
      await page.keyboard.press('Space')
      await button(`${said('dashboard.action.launch')} Production`).waitFor()
      await focusIsSomewhere(page)
    })

    await t.test('signs out', async () => {
      await reach(page, page.getByRole('button', { name: /ann@x\.org/ }), 'Shift+Tab')
      await page.keyboard.press('Enter')
      await reach(page, button(said('frame.nav.signOut')))
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: said('signIn.ask.title') }).waitFor()
      await page.goto(containerAddress(berth.app, 'ann-dev'))
      await page.waitForURL('**/login?next=%2Fann-dev%2F')
    })

    // The tiny app has no icon.
    assert.deepEqual(
      // The page to sign in asks whether another tab has done so, and learns that none has.
      problems.filter((problem) => !/404|401 \(Unauthorized\)/.test(problem)),
      [],
    )
  },
)

/** Presses Tab until this has the focus, and sees at every step where it is. */
async function reach(page: Page, wanted: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await wanted.waitFor()
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press(key)
    // Behind the last control, of a dialog too, come the browser's own, and then the first again.
    if (await page.evaluate(() => !document.hasFocus() || document.activeElement === document.body)) {
      // Keys by BiDi go to the page even while a control of Firefox has the focus, so they do not lead back.
      if (isFirefox) await page.bringToFront()
      continue
    }
    await focusIsSeen(page)
    if (await hasFocus(wanted)) return
  }
  assert.fail(`${wanted} cannot be reached with ${key}`)
}

const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement)

/** Something of the page has the focus: who presses Tab next goes on from there, not from the top. */
async function focusIsSomewhere(page: Page): Promise<void> {
  assert.ok(await page.evaluate(() => document.activeElement !== document.body), 'the focus is lost')
}

/** The control that has the focus is in sight, not covered, and has an outline that can be seen. Source: WCAG 2.2, 2.4.7 and 2.4.11. */
async function focusIsSeen(page: Page): Promise<void> {
  const { name, outline, isInSight } = await page.evaluate(async () => {
    // What scrolls into sight has a moment to do so.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const element = document.activeElement ?? document.body
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const [x, y] = [(box.left + box.right) / 2, (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2]
    const top = document.elementFromPoint(x, y)
    return {
      name: element.outerHTML.slice(0, 200),
      outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth),
      isInSight: top !== null && (element.contains(top) || top.contains(element) || top.closest('label') !== null),
    }
  })
  assert.ok(outline >= 2, `${name} has the focus and does not show it`)
  assert.ok(isInSight, `${name} has the focus and cannot be seen`)
}
