// Part of npm run test:more: a browser; gateway/wake-on-request.test.ts has what the gateway answers.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { typePaths } from '@berth/api/type-icon-paths.ts'
import {
  unavailableBody,
  unavailablePage,
  type UnavailableReason,
  type UnavailableView,
} from '@berth/gateway/pages/unavailable.ts'
import { pagePolicy } from '@berth/gateway/pages/document.ts'
import { deadPortResponse } from '@berth/gateway/pages/port.ts'
import { gatewayRefusals } from '@berth/gateway/pages/gateway-refusals.ts'
import { progressFailed, progressHead, progressReady, progressStep } from '@berth/gateway/pages/progress.ts'
import { refusalPage } from '@berth/gateway/pages/gateway-response.ts'
import { message } from '@berth/texts/localized-message.ts'
import { openTab } from '#test/support/browser.ts'
import { firstOfList, onlyLong } from '#test/support/extent.ts'
import { serveHttp } from '#test/support/serve-http.ts'

/**
 * The gateway's pages in a real browser, each served as the gateway does. `BERTH_SCREENSHOTS=folder` keeps pictures.
 */
const pictures = process.env.BERTH_SCREENSHOTS
const dashboardUrl = '/'
const view: UnavailableView = {
  prefix: 'ann-dev',
  displayName: 'Development',
  isOwner: true,
  sign: typePaths.notebook,
  usualSeconds: 15,
  launchHref: '/launch?type=dev&next=%2Fann-dev%2F',
  dashboardUrl,
  language: 'en',
}
const lines = [
  'Listening on 8080',
  ...Array.from({ length: 16 }, (_, number) => `2026-10-09T08:00:${10 + number}Z GET /files/${number} 200`),
  `Reading /home/berth/${'a-name-without-any-place-to-break-'.repeat(6)}.csv`,
  'Error: <Buffer 00> is not "valid" & cannot be read',
]
const explained = (reason: 'crashed' | 'failed', exitCode: number | null): UnavailableReason => ({
  unavailable: { reason, exitCode },
  lastLines: lines,
  displayName: 'Development',
})

const starting = progressStep(message('pages.stepStarting'), 'en')
const waiting = progressStep(message('pages.stepWaiting'), 'en')
const head = progressHead(view)
const steps = starting + waiting
const longName = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenfabrikverwaltung'

/** What stands still. Progress is shown in the middle of it as well as at its ends. */
const pages: Readonly<Record<string, string>> = {
  'refused-403': refusalPage({
    status: 403,
    message: message('gateway.notYours'),
    dashboardUrl,
    loginUrl: '/login?next=%2Fann-dev%2F',
    language: 'de',
  }),
  asleep: unavailablePage({ reason: 'asleep', exitCode: null }, view),
  evicted: unavailablePage({ reason: 'evicted', exitCode: null }, view),
  'node-lost-in-german': unavailablePage({ reason: 'node-lost', exitCode: null }, { ...view, language: 'de' }),
  missing: unavailablePage({ reason: 'missing', exitCode: null }, { ...view, displayName: longName }),
  crashed: unavailablePage(explained('crashed', 139), view),
  'crashed-in-german': unavailablePage(explained('crashed', 139), { ...view, language: 'de' }),
  'crashed-for-others': unavailablePage(explained('crashed', 139), { ...view, isOwner: false }),
  'out-of-memory': unavailablePage({ reason: 'out-of-memory', exitCode: 137 }, view),
  'no-image': unavailablePage({ reason: 'no-image', exitCode: null }, view),
  failed: unavailablePage({ reason: 'failed', exitCode: 127 }, view),
  unknown: unavailablePage({ reason: 'unknown', exitCode: null }, view),
  silent: unavailablePage({ unavailable: undefined, lastLines: [], displayName: '' }, view),
  blocked: unavailablePage('blocked', view),
  'dead-port': deadPortResponse(gatewayRefusals.nothingListens(5173), {
    port: 5173,
    listening: [{ port: 3000, url: 'http://berth.test/ann-dev--3000/' }],
    target: '/ann-dev:5173/',
    name: '/ann-dev:5173',
    sign: typePaths.notebook,
    dashboardUrl,
    language: 'en',
  }).body.replace(/<meta http-equiv.*>/, ''),
  starting: head + steps,
  'starting-failed': head + steps + progressFailed(unavailableBody(explained('failed', 1), view), view),
}

const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  // A window of 1280 pixels at 400 % zoom. Source: WCAG 2.2, 1.4.10
  narrow: { colorScheme: 'light', viewport: { width: 320, height: 256 } },
  forced: { colorScheme: 'dark', forcedColors: 'active', viewport: { width: 1280, height: 800 } },
}

for (const [index, [look, options]] of Object.entries(looks).entries()) {
  test(
    `${look}: axe finds nothing on any page, nothing is refused by its policy, nothing is cut off`,
    firstOfList(index),
    async (t) => {
      const url = await serve(t, (request, response) => {
        begin(response, 200)
        response.end(pages[request.url?.slice(1) ?? ''])
      })
      const { page, problems } = await openPage(await startBrowser(t), options)
      for (const name of Object.keys(pages)) {
        await page.goto(`${url}/${name}`)
        assert.deepEqual(await violations(page, look === 'forced' ? ['color-contrast'] : []), [], name)
        assert.deepEqual(problems, [], name)
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, name)
        if (pictures) await page.screenshot({ path: path.join(pictures, `${name}-${look}.png`), fullPage: true })
      }
    },
  )
}

test('without any script, the steps appear while they are taken, and the page moves on by itself', async (t) => {
  let isReady = false
  let stream: ServerResponse | undefined
  const url = await serve(t, (request, response) => {
    const isBefore = request.url === '/before'
    begin(response, isReady || isBefore ? 200 : 503)
    if (isBefore) response.end('<!doctype html><title>Before</title><h1>Where the link was</h1>')
    else if (isReady) response.end('<!doctype html><title>App</title><h1>The app</h1>')
    else (stream = response).write(head + starting)
  })
  const { page } = await openPage(await startBrowser(t), { javaScriptEnabled: false })
  await page.goto(`${url}/before`)
  await page.goto(`${url}/ann-dev/a?b=1#/notebooks/3`, { waitUntil: 'commit' })
  await page.getByRole('heading', { name: 'Starting Development' }).waitFor()
  await page.getByText('Starting the container').waitFor()
  assert.equal(await page.getByRole('progressbar', { name: 'Starting Development' }).isVisible(), true)

  stream?.write(waiting)
  await page.getByText('Waiting for the app to answer').waitFor()

  isReady = true
  stream?.end(progressReady('/ann-dev/a?b=1', view))
  await page.getByRole('heading', { name: 'The app' }).waitFor()
  assert.equal(page.url(), `${url}/ann-dev/a?b=1`)
  await page.goBack()
  assert.equal(page.url(), `${url}/before`, 'the way back does not lead to the progress')
})

test('a start that fails shows the reason in place of the progress, and stays', async (t) => {
  let requests = 0
  const url = await serve(t, (_, response) => {
    requests += 1
    begin(response, 503)
    response.write(head + starting)
    setTimeout(() => response.end(progressFailed(unavailableBody(explained('failed', 1), view), view)), 300)
  })
  const { page } = await openPage(await startBrowser(t), { javaScriptEnabled: false })
  await page.goto(`${url}/ann-dev/`)
  await page.getByRole('alert').getByRole('heading', { name: 'Development could not be started' }).waitFor()
  assert.equal(await page.getByRole('progressbar').count(), 0)
  assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1)
  await page.waitForTimeout(1500)
  assert.equal(requests, 1)
})

test(
  'each step counts its seconds until the next one; under reduced motion the bar stands still',
  onlyLong,
  async (t) => {
    const streams: ServerResponse[] = []
    const url = await serve(t, (_, response) => {
      begin(response, 503)
      response.write(head + starting)
      streams.push(response)
    })
    const { page } = await openPage(await startBrowser(t), { reducedMotion: 'reduce' })
    await page.goto(url, { waitUntil: 'commit' })
    await untilClock(page, 0, 2)
    streams[0]?.write(waiting)
    await untilClock(page, 1, 0)
    const first = await clock(page, 0)
    await untilClock(page, 1, 2)
    assert.equal(await clock(page, 0), first)
    const motion = await page.evaluate(
      () => getComputedStyle(document.querySelector('.bar')!, '::before').animationName,
    )
    assert.equal(motion, 'none')
    streams[0]?.end(progressReady('/', view))
  },
)

test('of the last lines the newest are in sight, and the others are reached by keyboard alone', async (t) => {
  const url = await serve(t, (_, response) => {
    begin(response, 200)
    response.end(pages.crashed)
  })
  const { page } = await openPage(await startBrowser(t), {})
  await page.goto(url)
  const box = page.getByRole('region', { name: 'Last lines of its output' })
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab')
  assert.equal(await box.evaluate((element) => element === document.activeElement), true)
  const isInSight = (end: 'top' | 'bottom') =>
    box.evaluate((element, end) => {
      const [outer, inner] = [element.getBoundingClientRect(), element.firstElementChild!.getBoundingClientRect()]
      return Math.abs(outer[end] - inner[end]) < 3
    }, end)
  assert.deepEqual([await isInSight('top'), await isInSight('bottom')], [false, true])
  await page.keyboard.press('Home')
  await page.waitForFunction(() => {
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.lines')!
    return scrollTop <= clientHeight - scrollHeight + 1
  })
  assert.deepEqual([await isInSight('top'), await isInSight('bottom')], [true, false])
})

/** Whole seconds that a step shows, NaN before it is there. */
const clock = (page: Page, step: number) =>
  page.evaluate((step) => {
    const element = document.querySelectorAll('.clock')[step]
    return element ? Number(getComputedStyle(element, '::after').getPropertyValue('--seconds')) : NaN
  }, step)

async function untilClock(page: Page, step: number, seconds: number): Promise<void> {
  const limit = Date.now() + 10_000
  while (!((await clock(page, step)) >= seconds)) {
    assert.ok(Date.now() < limit, `step ${step} never showed ${seconds} seconds`)
    await page.waitForTimeout(100)
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Answers every request so, on a free port. */
async function serve(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/favicon.ico') response.writeHead(404).end()
    else answer(request, response)
  })
  return serveHttp(t, server)
}

function begin(response: ServerResponse, status: number): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': pagePolicy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
}

async function startBrowser(t: TestContext): Promise<Browser> {
  const { page } = await openTab({ after: (work) => t.after(work) })
  return page.context().browser()!
}

async function openPage(browser: Browser, options: BrowserContextOptions): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  return { page, problems }
}

/** What axe finds, in a line each. @param except rules that are not asked: in forced colours axe reads those that were replaced */
async function violations(page: Page, except: string[]): Promise<string[]> {
  // The policy forbids scripts in the page; the browser's own console may run one.
  await page.evaluate(axe.source)
  return page.evaluate(async (except) => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }
    const { violations } = await axe.run({
      rules: Object.fromEntries(except.map((rule) => [rule, { enabled: false }])),
    })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }, except)
}
