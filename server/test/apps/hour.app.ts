import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate } from './support/catalogue.ts'
import { watchIdle } from './support/idle.ts'
import { installCodeServer } from './support/install-npm-packages.ts'
import { runApp, type RunningApp } from './support/run-app.ts'

/**
 * Pages that are left open for an hour by the clock: `npm run test:apps -- hour`, and only by this name. The files of
 * the two applications have the same in minutes, with a page that counts for 3 s in place of five minutes.
 */

/** In s: an hour after its page was opened a container that is not used has been suspended, and not before. */
const idleTimeout = 3_000
/** For which a page that was opened counts, in s. */
const navigation = 300
const hour = 3_600
/** In s: probes and checks of idle times come late by less than that, also on a machine with other work. */
const tolerance = 120

// The image of JupyterLab is that of its own file, which makes it.
const [notebooks, editors] = [await start('jupyterlab'), await start('code-server')]

async function start(name: 'jupyterlab' | 'code-server'): Promise<RunningApp> {
  const image = await appImage(
    name,
    name === 'jupyterlab' ? () => Promise.reject(new Error(missing)) : installCodeServer,
  )
  const fields = { ...catalogueTemplate(name), idle_timeout: idleTimeout }
  // The page is signed in for all that time, as by a session.
  const env = { JWT_ACCESS_TOKEN_EXPIRES: '10000' }
  return runApp(
    { after },
    image,
    { open: fields, busy: fields, ...(name === 'jupyterlab' && { printing: fields }) },
    { env },
  )
}
const missing = 'the image is not there: run `npm run test:apps -- jupyterlab` before'

/** Answers with the status that the page itself gets, which is signed in. */
const statusFor = ({ page }: RunningApp, path: string) =>
  page.evaluate(`fetch(${JSON.stringify(path)}).then(({ status }) => status)`)

test('JupyterLab: a cell that sleeps for an hour, and a terminal that prints, whose pages are closed', async () => {
  const { page } = notebooks
  await notebooks.open('busy', 'lab?reset')
  await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click()
  await page.locator('.jp-Notebook .cm-content').first().click()
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor()
  await page.keyboard.type(`import time; time.sleep(${hour * 3})`)
  await page.keyboard.press('Shift+Enter')
  await page.locator('.jp-Notebook-ExecutionIndicator[data-status="busy"]').waitFor()
  await notebooks.open('printing', 'lab?reset')
  await page.locator('.jp-LauncherCard[title="Start a new terminal session"]').first().click()
  await page.locator('.jp-Terminal .xterm-screen').first().click()
  await page.keyboard.type('while sleep 60; do date; done\n')
  await page.waitForTimeout(2_000)
})

test('code-server: a command in a terminal, whose page is closed', async () => {
  const { page } = editors
  await editors.open('busy')
  await page.locator('.monaco-workbench').waitFor()
  await page.waitForTimeout(5_000)
  await page.keyboard.press('Control+Shift+`')
  const typed = page.locator('.terminal-wrapper.active .xterm-helper-textarea')
  await typed.waitFor({ state: 'attached' })
  await page.waitForTimeout(1_500)
  await typed.focus()
  await page.keyboard.type(`sleep ${hour * 3}\n`)
  await page.waitForTimeout(2_000)
})

test('a tab of JupyterLab and one of code-server are open for an hour: both are suspended, what works is not', async (t) => {
  const lab = await notebooks.open('open', 'lab?reset')
  await notebooks.page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click()
  await notebooks.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor()
  const code = await editors.open('open')
  await editors.page.locator('.monaco-workbench').waitFor()
  const begun = Date.now()
  const seconds = () => (Date.now() - begun) / 1_000
  const tabs = [watchIdle(notebooks, 'open'), watchIdle(editors, 'open')]
  const busy = [watchIdle(notebooks, 'busy'), watchIdle(notebooks, 'printing'), watchIdle(editors, 'busy')]
  const suspendedAt: (number | undefined)[] = [undefined, undefined]
  let lastStatus: unknown[] = []
  while (seconds() < hour + tolerance) {
    for (const each of busy) assert.ok(await each.isRunning(), `what works was suspended after ${seconds()} s`)
    for (const [at, each] of tabs.entries()) if (!(await each.isRunning())) suspendedAt[at] ??= seconds()
    // In the last minutes before, each page asks for its application, and is answered.
    if (seconds() > idleTimeout + navigation - 200 && lastStatus.length === 0) {
      lastStatus = [
        await statusFor(notebooks, `${lab.home}api/kernels`),
        await statusFor(editors, `${code.home}healthz`),
      ]
    }
    await sleep(5_000)
  }
  assert.deepEqual(lastStatus, [200, 200])
  for (const at of suspendedAt) {
    t.diagnostic(`suspended after ${at?.toFixed(0)} s`)
    assert.ok(at !== undefined && at > idleTimeout && at < idleTimeout + navigation + tolerance, `${at} s`)
  }
  // The pages are open, try to connect, and wake nothing; a person who opens one again has it.
  for (const each of tabs) assert.equal(await each.isRunning(), false)
  await editors.page.goto('about:blank')
  await editors.open('open')
  assert.ok(await watchIdle(editors, 'open').isRunning())
})
