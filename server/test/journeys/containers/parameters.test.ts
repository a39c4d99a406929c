// Part of npm run test:more: the dialog of what template-parameters.test.ts states.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { waitLimit } from '#test/support/extent.ts'

/** How a user chooses the parameters of a container on the dashboard, with the real server and engine. */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS
const image = await testImage()
const script = 'mkdir -p /tmp/w; env > /tmp/w/env; exec httpd -f -p 8080 -h /tmp/w'
const templates = {
  plain: { display_name: 'Plain', image },
  lab: {
    display_name: 'Laboratory',
    image,
    command: ['/bin/sh', '-c', script],
    parameters: {
      course: { label: 'Course', type: 'choice', choices: ['statistics', 'biology'], env: 'COURSE' },
      workers: { label: 'Worker processes', type: 'number', min: 1, max: 8, default: 2, env: 'WORKERS' },
      debug: { label: 'Write a debug log', type: 'boolean', env: 'DEBUG' },
      branch: { label: 'Branch', type: 'text', max: 20, env: 'BRANCH' },
    },
  },
}
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
const ann = await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
page.setDefaultTimeout(waitLimit(60_000))
const cookie = { name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }
await page.context().addCookies([cookie])
const launch = page.getByRole('article', { name: 'Laboratory' }).getByRole('button', { name: 'Launch' })
const dialog = page.getByRole('dialog', { name: 'Launch Laboratory' })

test('a launch asks for the parameters, refuses a number outside of its limits, and starts the container with them', async () => {
  await page.goto(berth.app.frontendUrl)
  await launch.click()
  assert.equal(await dialog.getByLabel('Worker processes').inputValue(), '2')
  assert.deepEqual(await violations(), [])
  if (pictures) await page.screenshot({ path: path.join(pictures, 'parameters.png') })
  await dialog.getByLabel('Course').selectOption('biology')
  await dialog.getByLabel('Write a debug log').check()
  await dialog.getByLabel('Branch').fill('main')
  await dialog.getByLabel('Worker processes').fill('9')
  await dialog.getByRole('button', { name: 'Launch' }).click()
  assert.ok(await dialog.isVisible(), 'the browser says what is wrong')
  await dialog.getByLabel('Worker processes').fill('8')
  await dialog.getByLabel('Branch').press('Enter')
  await arrival(page, `${berth.app.spawnerUrl}/ann-lab/`)
  const env = (await ann.call('GET', '/ann-lab/env')).text.split('\n')
  for (const line of ['COURSE=biology', 'WORKERS=8', 'DEBUG=true', 'BRANCH=main']) assert.ok(env.includes(line), line)
})

test('the next launch shows what was chosen, and Cancel launches nothing', async () => {
  await ann.call('POST', '/api/container/stop/lab')
  await page.goto(berth.app.frontendUrl)
  await launch.click()
  assert.equal(await dialog.getByLabel('Course').inputValue(), 'biology')
  assert.equal(await dialog.getByLabel('Worker processes').inputValue(), '8')
  assert.ok(await dialog.getByLabel('Write a debug log').isChecked())
  assert.equal(await dialog.getByLabel('Branch').inputValue(), 'main')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  assert.ok(await launch.evaluate((button) => button === document.activeElement), 'the focus is where it was')
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  assert.equal(containers[1].status, 'exited')
})

async function violations(): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
