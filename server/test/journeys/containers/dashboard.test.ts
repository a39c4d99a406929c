// Part of npm run test:more: a browser; specification/containers has the rules, and new-user.test.ts uses the page.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { waitLimit } from '#test/support/extent.ts'
import { containerAddress } from '#test/support/routing.ts'

/** What a person does with their containers from the dashboard, with the real server and engine. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const image = await testImage()
const command = ['/bin/sh', '-c', 'trap "exit 0" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done']
const templates = {
  dev: { display_name: 'Development', description: 'Where work is done', image, command },
  prod: { display_name: 'Production', description: 'Where work is shown', image, command },
}
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
const ann = await berth.signUp('ann@x.org')
const { page, problems } = await openTab({ after })
page.setDefaultTimeout(waitLimit(60_000))
const cookie = { name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }
await page.context().addCookies([cookie])
const card = (name: string) => page.getByRole('article', { name })

test('who chooses to stay stays, and has the container ready to be opened', async () => {
  const isAllowed = Promise.withResolvers<void>()
  await page.route('**/api/container/launch/*', (route) => isAllowed.promise.then(() => route.continue()))
  await page.goto(berth.app.frontendUrl)
  await card('Production').getByRole('button', { name: 'Launch' }).click()
  await card('Production').getByText('Opens when ready.').waitFor()
  await card('Production').getByRole('button', { name: 'Stay here' }).click()
  isAllowed.resolve()
  await card('Production').getByRole('link', { name: 'Open' }).waitFor()
  await card('Production').getByText('Production is running.').waitFor({ state: 'attached' })
  assert.equal(new URL(page.url()).pathname, '/')
})

test('with keys alone a container is chosen, stopped after a question, and launched again, which leads into it although the network was changing', async () => {
  await page.goto(berth.app.frontendUrl)
  await card('Production').getByRole('link', { name: 'Open' }).waitFor()
  await page.keyboard.press('s')
  await page.getByText('Choose a container first').waitFor()
  await page.keyboard.press('2')
  await page.keyboard.press('s')
  const dialog = page.getByRole('dialog', { name: 'Stop Production?' })
  await dialog.getByText('Your files are kept.').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await card('Production').getByText('Stopped', { exact: true }).waitFor()
  // With reduced motion, as here, it stayed for ever.
  await page.getByText('Choose a container first').waitFor({ state: 'detached' })
  // As in CI: the press was lost, the card said that Berth cannot be reached, and nothing was launched.
  await page.route('**/api/container/launch/*', (route) => route.abort('connectionreset'), { times: 1 })
  await page.keyboard.press('2')
  await page.keyboard.press('l')
  await arrival(page, containerAddress(berth.app, 'ann-prod'))
})

// Its requests started the container again within seconds, and the card said that it was stopped and that it runs.
test('what its owner stops stays stopped while a tab of its application is open, and a reload of the tab starts it', async () => {
  assert.equal((await ann.call('POST', '/api/container/launch/dev')).status, 200)
  const tab = await page.context().newPage()
  await tab.goto(containerAddress(berth.app, 'ann-dev'))
  const ask = () =>
    tab.evaluate(async () => {
      new Image().src = 'picture.png'
      const socket = new WebSocket('socket')
      socket.addEventListener('error', () => undefined)
      document.body.append(Object.assign(document.createElement('iframe'), { src: 'frame.html' }))
      return (await fetch('data.json')).status
    })
  assert.equal(await ask(), 404, 'the application answers')
  assert.equal((await ann.call('POST', '/api/container/stop/dev')).status, 200)
  for (let round = 0; round < 3; round++) assert.equal(await ask(), 503)
  await page.goto(berth.app.frontendUrl)
  await card('Development').getByText('Stopped', { exact: true }).waitFor()
  await tab.reload()
  await card('Development').getByText('Running', { exact: true }).waitFor()
  await tab.close()
})

test('keys can be turned off, in this browser until they are turned on again', async () => {
  await page.goto(berth.app.frontendUrl)
  const menu = card('Development').getByRole('button', { name: 'More actions for' })
  const logs = card('Development').getByRole('menuitem', { name: 'Logs' })
  await menu.click()
  assert.equal(await logs.getAttribute('aria-keyshortcuts'), 'g')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByLabel('Use keyboard shortcuts').uncheck()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.reload()
  await menu.click()
  assert.equal(await logs.getAttribute('aria-keyshortcuts'), null)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await page.getByRole('dialog').getByLabel('Use keyboard shortcuts').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await menu.click()
  assert.equal(await logs.getAttribute('aria-keyshortcuts'), 'g')
  // The key works while the menu is closed, too.
  await page.keyboard.press('Escape')
  await page.keyboard.press('1')
  await page.keyboard.press('g')
  await page.getByRole('dialog', { name: 'Logs of Development' }).waitFor()
})

test('what another page of the same person does is seen at once, without a look being due', async () => {
  await page.goto(berth.app.frontendUrl)
  await card('Production').getByRole('link', { name: 'Open' }).waitFor()
  const lists: string[] = []
  page.on('request', (request) => request.url().endsWith('/api/user/containers') && lists.push(request.url()))
  assert.equal((await ann.call('POST', '/api/container/stop/prod')).status, 200)
  await card('Production').getByText('Stopped', { exact: true }).waitFor()
  assert.ok(lists.length <= 3, `one change leads to few looks, not ${lists.length}`)
})

test('nothing on the way broke a rule of the browser', () => {
  // A folder without a page, which is what these apps serve.
  assert.deepEqual(
    problems.filter((problem) => !/404 \(Not Found\)|ERR_CONNECTION_RESET/.test(problem)),
    [],
  )
})
