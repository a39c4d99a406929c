import { cpus, loadavg } from 'node:os'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, Locator, Mouse, Page } from 'playwright-core'
import { startBrowser } from '../../server/test/support/browser.ts'
import { t } from '../../server/test/support/front-end-text.ts'
import { median } from '../figures.ts'
import { interactionOf, longTasksIn, openPage, paintsOf, slowLine, visitSlowly } from './browser-metrics.ts'
import { crowded, everyday, webDir, type Service } from './services.ts'

/**
 * What people wait for in the front end: `npm run bench:web`, `-- --rounds=1 --people=1000`. Bytes, paints and interactions in Chromium whose core is made
 * four times slower, the administrators' table with 100,000 users at the machine's own speed. A goal that is missed does
 * not fail the run.
 */
const option = (name: string, fallback: number) =>
  Number(process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback)
const rounds = option('rounds', 5)
const people = option('people', 100_000)
const rowsToScroll = Math.min(10_000, people)

interface Row {
  readonly title: string
  readonly result: string
  readonly goal?: string
  readonly isMet?: boolean
}

const rows: Row[] = []
const endings: (() => Promise<void>)[] = []
const lifetime = { after: (work: () => Promise<void>) => void endings.unshift(work) }
try {
  const [browser, crowd, ours] = await Promise.all([
    startBrowser(lifetime),
    crowded(lifetime, people),
    everyday(lifetime),
  ])
  await measureFirstLoad(browser, ours)
  await measureSlowLine(browser, ours)
  await measureInteractions(browser, ours, crowd)
  await measureTable(browser, crowd)
} finally {
  for (const ending of endings) await ending()
}
process.stdout.write(`${table()}\n\n${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)

async function measureFirstLoad(browser: Browser, service: Service): Promise<void> {
  for (const [at, isSignedIn] of [
    ['/login', false],
    ['/', true],
  ] as const) {
    const [firsts, largests]: [number[], number[]] = [[], []]
    let scripts: string[] = []
    let onTheWire = 0
    for (let round = 0; round < rounds; round++) {
      const page = await openPage(browser, service, isSignedIn)
      await page.goto(service.url + at)
      const { first, largest } = await paintsOf(page)
      firsts.push(first)
      largests.push(largest)
      scripts = await page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .flatMap(({ name }) => (name.endsWith('.js') ? [new URL(name).pathname] : [])),
      )
      onTheWire = await page.evaluate(() =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).reduce(
          (sum, { name, transferSize }) => sum + (name.includes('/assets/') ? transferSize : 0),
          0,
        ),
      )
      await page.context().close()
    }
    const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(path.join(webDir, name))).length, 0)
    add(`${at}: script of the first load, gzip`, `${(bytes / 1000).toFixed(1)} KB`, 'at most 120 KB', bytes <= 120_000)
    add(`${at}: all files of the first load, on the wire`, `${(onTheWire / 1000).toFixed(1)} KB`)
    add(`${at}: first paint, 4x slower`, ms(median(firsts)), 'under 1 s', median(firsts) < 1_000)
    add(`${at}: largest paint, 4x slower`, ms(median(largests)))
  }
}

/** The dashboard of somebody far away, in a browser that has nothing of it, and in the same one later. */
async function measureSlowLine(browser: Browser, service: Service): Promise<void> {
  const visits = { first: { times: [] as number[], bytes: 0 }, second: { times: [] as number[], bytes: 0 } }
  for (let round = 0; round < rounds; round++) {
    const page = await openPage(browser, service, true, 1)
    for (const visit of [visits.first, visits.second]) {
      const { heading, bytes } = await visitSlowly(page, service.url)
      visit.times.push(heading)
      visit.bytes = bytes
      await page.goto('about:blank')
    }
    await page.context().close()
  }
  const line = `${slowLine.bytesPerSecond / 1000} kB/s, ${slowLine.latency} ms`
  for (const [name, limit] of [
    ['first', 4_000],
    ['second', 1_500],
  ] as const) {
    const { times, bytes } = visits[name]
    const heading = median(times)
    const title = `/ at ${line}: heading, ${name} visit (${(bytes / 1000).toFixed(1)} KB)`
    add(title, ms(heading), `under ${limit / 1000} s`, heading < limit)
  }
}

async function measureInteractions(browser: Browser, ours: Service, crowd: Service): Promise<void> {
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  await interaction('typing an address', browser, ours, '/login', async (page) => {
    await page.getByLabel(t('signIn.email.label')).focus()
    return { do: () => page.keyboard.type('ann@example.org', { delay: 30 }) }
  })
  await interaction('pressing Launch', browser, ours, '/', async (page) => {
    // Never answered: what counts is what the press shows, and the container would open.
    await page.route('**/api/container/launch/**', () => undefined)
    return pressOf(page, button(page, `${t('dashboard.action.launch')} Production`))
  })
  await interaction('opening a dialog', browser, ours, '/', async (page) => {
    return pressOf(page, button(page, `${t('dashboard.action.restart')} Development`), page.getByRole('dialog'))
  })
  await interaction("opening a user's menu", browser, crowd, '/admin/users', async (page) => {
    return pressOf(page, page.getByRole('row').nth(1).getByRole('button').last(), page.getByRole('menu'))
  })
  await interaction('selecting all rows of the table', browser, crowd, '/admin/users', async (page) => {
    await page.locator('tr[data-index]').first().waitFor()
    const all = page.getByRole('checkbox', { name: t('admin.table.selectLoaded') })
    return pressOf(page, all, page.locator('tr[data-index][aria-selected="true"]').first())
  })
}

/** What somebody does, and what shows that it worked, once the page has come to rest. */
interface Deed {
  do(): Promise<void>
  shown?: Locator | undefined
}

/**
 * A press of the mouse on the middle of something. The place is found beforehand: Playwright's own `click` looks for what
 * lies there in the page's thread and in its events, which took as long as all that the page does itself.
 */
async function pressOf(page: Page, target: Locator, shown?: Locator): Promise<Deed> {
  await target.waitFor()
  const box = await target.boundingBox()
  if (!box) throw new Error('It is not in view.')
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  return { do: () => press(page.mouse), shown }
}

/** As long as a finger lies on a button, about. */
async function press(mouse: Mouse): Promise<void> {
  await mouse.down()
  await sleep(60)
  await mouse.up()
}

/** Ms, the worst of all rounds counts. @param prepare gives what is measured */
async function interaction(
  title: string,
  browser: Browser,
  service: Service,
  at: string,
  prepare: (page: Page) => Promise<Deed>,
): Promise<void> {
  const found: number[] = []
  const page = await openPage(browser, service, at !== '/login')
  for (let round = 0; round < rounds; round++) {
    await page.goto(service.url + at)
    const deed = await prepare(page)
    // What the page still does by itself is no interaction.
    await page.waitForTimeout(500)
    found.push(await interactionOf(page, () => deed.do()))
    await deed.shown?.waitFor()
  }
  await page.context().close()
  const worst = Math.max(...found)
  add(
    `${title}, 4x slower, the worst of ${rounds}`,
    worst === 0 ? 'under 16 ms' : ms(worst),
    'under 100 ms',
    worst < 100,
  )
}

async function measureTable(browser: Browser, crowd: Service): Promise<void> {
  const page = await openPage(browser, crowd, true, 1)
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    await page.goto(`${crowd.url}/admin`)
    const link = page.getByRole('link', { name: t('admin.shell.users'), exact: true })
    await link.waitFor()
    await page.waitForTimeout(500)
    found.push(await link.evaluate(untilFirstPage))
  }
  const first = median(found)
  add(`${people.toLocaleString('en')} users: from the press to the first page`, ms(first), 'under 200 ms', first < 200)

  const loaded = async () => Number(await page.locator('[data-loaded]').getAttribute('data-loaded'))
  await page.mouse.move(640, 500)
  const started = performance.now()
  const longTasks = await longTasksIn(page, async () => {
    while ((await loaded()) < rowsToScroll && performance.now() - started < 60_000) await page.mouse.wheel(0, 3_000)
  })
  const reached = await loaded()
  const max = longTasks.length === 0 ? '' : `, the longest ${ms(Math.max(...longTasks))}`
  add(
    `scrolling ${reached.toLocaleString('en')} rows: tasks over 50 ms`,
    `${longTasks.length}${max}, in ${((performance.now() - started) / 1_000).toFixed(1)} s`,
    'none',
    longTasks.length === 0 && reached >= rowsToScroll,
  )
  await page.context().close()
}

/** Presses the link, and gives the ms until the frame after the first rows are in the document. */
function untilFirstPage(link: Element): Promise<number> {
  return new Promise((resolve) => {
    const start = performance.now()
    const observer = new MutationObserver(() => {
      if (document.querySelector('tr[data-index]') === null) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)))
    })
    observer.observe(document, { subtree: true, childList: true })
    ;(link as HTMLElement).click()
  })
}

function add(title: string, result: string, goal?: string, isMet?: boolean): void {
  rows.push({ title, result, ...(goal === undefined ? {} : { goal }), ...(isMet === undefined ? {} : { isMet }) })
}

function ms(value: number): string {
  return `${Math.round(value)} ms`
}

/** For a terminal and for Markdown. */
function table(): string {
  const heading = ['case', 'result', 'goal', 'met']
  const cells = rows.map(({ title, result, goal = '', isMet }) => [
    title,
    result,
    goal,
    isMet === undefined ? '' : isMet ? 'yes' : '**no**',
  ])
  const widths = heading.map((_, column) => Math.max(...[heading, ...cells].map((line) => line[column]?.length ?? 0)))
  const line = (parts: readonly string[]) => `| ${parts.map((part, at) => part.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n')
}
