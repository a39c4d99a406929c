// Part of npm run test:more: how pages show what launch-failures.test.ts states.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test, type TestContext } from 'node:test'
import axe, { type AxeResults } from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { startBerth } from '#test/support/berth.ts'
import { arrival, openTab } from '#test/support/browser.ts'
import { outside } from '#test/support/control-plane.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { stalledPullRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { eventually } from '#test/support/engine/runtimes.ts'
import { extent, onlyLong } from '#test/support/extent.ts'

/**
 * What a person sees of a launch while it goes on, when it fails, and of what their app writes.
 * `BERTH_SCREENSHOTS=folder` keeps pictures.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const pictures = process.env.BERTH_SCREENSHOTS

const image = await testImage()
const shell = (script: string) => ({ image, command: ['/bin/sh', '-c', script] })
/** Until a test says so, so that it sees what stands there before. */
const untilEnd = 'rm -f /tmp/end; until [ -e /tmp/end ]; do sleep 0.1; done'
const serving = 'httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'
const templates = {
  dev: {
    display_name: 'Development',
    description: 'Where work is done',
    ...shell(`trap "echo something new" USR1; echo ready to work; ${serving}`),
  },
  prod: { display_name: 'Production', description: 'Where work is shown', ...shell(serving) },
  lab: {
    display_name: 'Laboratory',
    description: 'Where things go wrong',
    ...shell('echo reading /etc/app.conf; echo "no such port: 99999"; exit 3'),
  },
  brief: {
    display_name: 'Exercise',
    description: 'What a student has just written',
    ...shell(`echo "no such file: data.csv" >&2; ${untilEnd}; exit 3`),
  },
  done: { display_name: 'Batch', description: 'Ends without an error', ...shell(`echo "all done"; ${untilEnd}`) },
}
const pulled = Promise.withResolvers<void>()
const berth = await startBerth(
  { after },
  {
    webDir,
    env: { CONTAINER_TEMPLATES: JSON.stringify(templates) },
    wrapRuntime: (runtime) => stalledPullRuntime(runtime, 'prod', pulled.promise),
  },
)
const ann = await berth.signUp('ann@x.org')
const { page, problems } = await openTab({ after })
await page
  .context()
  .addCookies([{ name: 'spawner_token', value: ann.token, url: berth.app.frontendUrl, httpOnly: true }])

const launchPage = (type: string) =>
  `${berth.app.frontendUrl}/launch?${new URLSearchParams({ type, next: `/ann-${type}/` })}`
const card = (name: string, of = page) => of.getByRole('article', { name })

test('while an image is fetched the launch page and the dashboard say how far it is, and go on by themselves', async () => {
  await page.goto(launchPage('prod'))
  await page.getByText('Downloading the image: 3 of 7 layers, 120 of 400 MB').first().waitFor()
  assert.equal(await page.getByRole('progressbar', { name: 'Downloading the image' }).getAttribute('value'), '0.3')
  assert.deepEqual(await violations(page), [])
  await picture('launch-pulling')
  const other = await page.context().newPage()
  await other.goto(berth.app.frontendUrl)
  await card('Production', other).getByText('3 of 7 layers').first().waitFor()
  assert.equal(
    await card('Production', other).getByRole('button', { name: 'Launch' }).getAttribute('aria-disabled'),
    'true',
  )
  assert.deepEqual(await violations(other), [])
  await picture('dashboard-pulling', other)
  pulled.resolve()
  await arrival(page, `${berth.app.spawnerUrl}/ann-prod/`)
  await card('Production', other).getByRole('link', { name: 'Open' }).waitFor()
  await other.close()
})

test(
  'a launch that fails says how its program ended and what it wrote last, also where the stream is not there',
  onlyLong,
  async () => {
    await page.route('**/api/container/events', (route) => route.abort())
    await page.goto(launchPage('lab'))
    await page.getByRole('heading', { name: 'Your container was not started' }).waitFor()
    await page.getByRole('alert').getByText('exit code 3').waitFor()
    const lines = page.getByRole('region', { name: 'Last lines of its output' })
    assert.match((await lines.textContent()) ?? '', /reading \/etc\/app\.conf\nno such port: 99999$/)
    assert.deepEqual(await violations(page), [])
    await picture('launch-crashed')
    await page.unroute('**/api/container/events')
    await page.goto(berth.app.frontendUrl)
    // The page learns how the last launch ended, as long as the server remembers it.
    await card('Laboratory')
      .getByRole('button', { name: /^(Launch|Try again)/ })
      .click()
    await card('Laboratory').getByText('Last lines of its output', { exact: true }).click()
    await card('Laboratory')
      .getByRole('region', { name: 'Last lines of its output' })
      .getByText('no such port')
      .waitFor()
    assert.deepEqual(await violations(page), [])
    await picture('dashboard-crashed')
  },
)

async function containerId(type: string): Promise<string | undefined> {
  const found = (await berth.runtime.list({ userId: ann.id })).find(({ owner }) => owner?.type === type)
  return found?.id
}

/** Ends the program of a type, as soon as it runs. */
async function end(type: string): Promise<void> {
  await eventually(async () => execInContainer((await containerId(type)) ?? '', 'touch /tmp/end'))
}

/** At the call, since the engine saw the container's program end. The fault was a minute; a long run holds the goal of 1 s. */
async function assertToldSoon(t: TestContext, type: string, where: string): Promise<void> {
  const now = Date.now()
  const path = `/containers/${await containerId(type)}/json`
  const { State } = await askEngine<{ State: { FinishedAt: string } }>('GET', path)
  const ms = now - Date.parse(State.FinishedAt)
  t.diagnostic(`${where}: told within ${ms} ms after the end`)
  assert.ok(ms < extent(9_000, 1_000), `${where}: ${ms} ms`)
}

test('a program that ends while its app is awaited is reported soon: on the launch page, on the dashboard, and by the gateway', async (t) => {
  // The commonest mistake of a student: "Waiting for the app" stood there for a minute.
  await page.goto(launchPage('brief'))
  await page.getByText('Waiting for the app').first().waitFor()
  await end('brief')
  await page.getByRole('heading', { name: 'Your container was not started' }).waitFor()
  await assertToldSoon(t, 'brief', 'launch page')
  await page.getByRole('alert').getByText('exit code 3').waitFor()
  const lines = (of: Page | Locator) => of.getByRole('region', { name: 'Last lines of its output' })
  await lines(page).getByText('no such file: data.csv').waitFor()
  assert.deepEqual(await violations(page), [])

  await page.goto(berth.app.frontendUrl)
  await card('Batch').getByRole('button', { name: 'Launch' }).click()
  await card('Batch').getByText('Waiting for the app').first().waitFor()
  await end('done')
  await card('Batch').getByRole('alert').getByText('exit code 0').waitFor()
  await assertToldSoon(t, 'done', 'dashboard')
  // Folded, so that nothing below the card moves by itself.
  await card('Batch').getByText('Last lines of its output', { exact: true }).click()
  await lines(card('Batch')).getByText('all done').waitFor()
  assert.equal(new URL(page.url()).pathname, '/', 'what has ended is not opened')

  await page.goto(`${berth.app.spawnerUrl}/ann-done/`, { waitUntil: 'commit' })
  await page.getByText('Waiting for the app').first().waitFor()
  await end('done')
  await page.getByRole('heading', { name: 'Batch has ended' }).waitFor()
  await assertToldSoon(t, 'done', 'gateway')
  await page.getByText('all done').waitFor()
})

test('what an app writes can be read as it writes it, and until when', async () => {
  await page.goto(berth.app.frontendUrl)
  await card('Development').getByRole('button', { name: 'More actions for' }).click()
  await card('Development').getByRole('menuitem', { name: 'Logs' }).click()
  const dialog = page.getByRole('dialog', { name: 'Logs of Development' })
  await dialog.getByText('ready to work').waitFor()
  await outside.signal(ann.auth.user.container_id ?? '', 'SIGUSR1')
  await dialog.getByText('something new').waitFor()
  assert.deepEqual(await violations(page), [])
  await picture('logs')
  await outside.signal(ann.auth.user.container_id ?? '', 'SIGKILL')
  await dialog.getByText('The program has ended').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await card('Development').getByText('Stopped').waitFor()
})

test('nothing on the way broke a rule of the browser', () => {
  const expected = /50[03] \(|net::ERR_FAILED|404 \(Not Found\)/
  assert.deepEqual(
    problems.filter((problem) => !expected.test(problem)),
    [],
  )
})

async function picture(name: string, of = page): Promise<void> {
  if (pictures) await of.screenshot({ path: path.join(pictures, `${name}.png`) })
}

/** What axe finds, in a line each. */
async function violations(of: Page): Promise<string[]> {
  await of.evaluate(axe.source)
  return of.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
