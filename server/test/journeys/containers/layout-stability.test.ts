// Part of npm run test:more: looks of pages that dashboard.test.ts and launch-page.test.ts use.
import assert from 'node:assert/strict'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { stalledPullRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { firstOfList, onlyLong, waitLimit } from '#test/support/extent.ts'

/**
 * Nothing moves below a pointer while containers start, end or fail. Cards grew when they were launched, so that a press on
 * Launch in the next row went down on the button and came up beside it, three times of three.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const image = await testImage()
// By another name, so that who waits for one image does not wait for the other.
const slowImage = 'berth-test-web:slow'
await askEngine('POST', `/images/${image}/tag`, { query: { repo: 'berth-test-web', tag: 'slow' } })
const shell = (display_name: string, script: string) => ({
  display_name,
  description: 'Where something is done',
  image,
  command: ['/bin/sh', '-c', script],
})
const serving = 'httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'
const templates = {
  dev: shell('Development', serving),
  prod: { ...shell('Production', serving), image: slowImage },
  crash: shell('Crash', 'for line in $(seq 40); do echo "line $line"; done; sleep 1; exit 3'),
  deaf: shell('Deaf', 'while :; do sleep 0.1; done'),
  batch: shell('Batch', 'echo done; sleep 1'),
  lab: shell('Laboratory', serving),
  tools: shell('Tools', serving),
  last: shell('Last', serving),
}
const pulled = Promise.withResolvers<void>()
const berth = await startBerth(
  { after },
  {
    webDir,
    env: { CONTAINER_TEMPLATES: JSON.stringify(templates), LAUNCH_PARALLEL: '8', REQUESTS_PER_MINUTE: '0' },
    wrapRuntime: (runtime) => stalledPullRuntime(runtime, 'prod', pulled.promise),
  },
)
const ann = await berth.signUp('ann@x.org')
const { page } = await openTab({ after })
page.setDefaultTimeout(waitLimit(60_000))
const cookie = { name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }
await page.context().addCookies([cookie])
await page.context().addInitScript(noteShifts)
const card = (name: string) => page.getByRole('article', { name })

/** Every shift, also right after a press, which the metric of the same name leaves out. */
function noteShifts(): void {
  const shifts: string[] = []
  Object.assign(globalThis, { shifts })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { value, sources } = entry as PerformanceEntry & { value: number; sources: { node: Node | null }[] }
      const moved = sources.map(({ node }) =>
        node instanceof Element
          ? `${node.tagName}.${node.className} "${node.textContent.slice(0, 40)}"`
          : node?.nodeName,
      )
      shifts.push(`${value.toFixed(4)} ${moved.join(', ')}`)
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

const shiftsOf = (of: Page) => of.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts)
const forgetShifts = () => page.evaluate(() => void ((globalThis as unknown as { shifts: string[] }).shifts.length = 0))

for (const [index, width] of [380, 720, 1280].entries()) {
  test(
    `at ${width} pixels no card, and nothing in one, moves while containers are fetched, started, awaited, fail and end`,
    firstOfList(index),
    async () => {
      await page.setViewportSize({ width, height: 1800 })
      await page.goto(berth.app.frontendUrl)
      await card('Last').getByRole('button', { name: 'Launch' }).waitFor()
      await observationTime(500)
      await forgetShifts()
      // Fetches its image from the first of these tests to the last.
      void ann.call('POST', '/api/container/launch/prod')
      for (const name of ['Crash', 'Deaf', 'Batch']) {
        await card(name).getByRole('button', { name: 'Launch' }).click()
      }
      // By another hand, so that nothing here was pressed for it.
      assert.equal((await ann.call('POST', '/api/container/launch/tools')).status, 200)
      await card('Tools').getByRole('link', { name: 'Open' }).waitFor()
      await card('Crash').getByRole('alert').getByText('exit code 3').waitFor()
      await card('Batch').getByRole('alert').getByText('exit code 0').waitFor()
      await card('Deaf').getByText('Waiting for the app').first().waitFor()
      await observationTime(500)
      assert.deepEqual(await shiftsOf(page), [])
      for (const type of ['tools', 'deaf']) await ann.call('POST', `/api/container/stop/${type}`)
      await card('Deaf').getByText('Stopped', { exact: true }).waitFor()
      await card('Tools').getByText('Stopped', { exact: true }).waitFor()
      await observationTime(500)
      assert.deepEqual(await shiftsOf(page), [])
    },
  )
}

test(
  'while the first row starts, a slow press on Launch in the next row lands, three times of three',
  onlyLong,
  async () => {
    await page.setViewportSize({ width: 720, height: 1800 })
    for (let time = 0; time < 3; time++) {
      await page.goto(berth.app.frontendUrl)
      const button = card('Laboratory').getByRole('button', { name: 'Launch' })
      await button.waitFor()
      const box = await button.boundingBox()
      assert.ok(box)
      const asked: string[] = []
      await page.route('**/api/container/launch/lab', async (route) => {
        asked.push(route.request().url())
        // Not launched, so that it can be pressed again.
        await route.fulfill({ status: 500, json: { error: 'There is no room.', reason: 'full' } })
      })
      void ann.call('POST', '/api/container/launch/crash')
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
      await page.mouse.down()
      await card('Crash').getByText('Starting').first().waitFor()
      await page.mouse.up()
      await card('Laboratory').getByRole('alert').getByText('There is no room.').waitFor()
      await card('Crash').getByRole('alert').getByText('exit code 3').waitFor()
      assert.equal(asked.length > 0, true, `press ${time + 1} missed`)
      await page.unroute('**/api/container/launch/lab')
    }
  },
)

test('on the launch page nothing moves until the container opens', async () => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('about:blank')
  const moved: string[] = []
  await page.exposeFunction('noteMoved', (shift: string) => void moved.push(shift))
  await page.addInitScript(() => {
    setInterval(() => {
      const { shifts, noteMoved } = globalThis as unknown as { shifts: string[]; noteMoved(shift: string): void }
      // The frame around the page stands before the script has run, and is not part of the launch.
      if (location.pathname === '/launch') for (const shift of shifts.splice(0)) noteMoved(shift)
    }, 50)
  })
  await page.goto(`${berth.app.frontendUrl}/launch?type=prod&next=%2Fann-prod%2F`)
  await page.getByText('Downloading the image: 3 of 7 layers').first().waitFor()
  // On a loaded machine the page is drawn later than two seconds after its navigation, and the image was there by then.
  await sleep(1_000)
  pulled.resolve()
  await arrival(page, '/ann-prod/')
  assert.deepEqual(moved, [])
})
