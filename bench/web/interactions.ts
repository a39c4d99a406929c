import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Locator, Mouse, Page } from 'playwright-core'
import { t } from '../../server/test/support/front-end-text.ts'
import { median } from '../figures.ts'
import { interactionOf, longTasksIn, openPage } from './browser-metrics.ts'
import type { Service } from './services.ts'
import { add, ms } from './figures-table.ts'
import { rounds, people, rowsToScroll } from './options.ts'

/** Measures the response to typing, buttons, dialogs, menus and selection. */
export async function measureInteractions(browser: Browser, ours: Service, crowd: Service): Promise<void> {
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  await interaction('typing an address', browser, ours, '/login', async (page) => {
    await page.getByLabel(t('signIn.email.label')).focus()
    return { do: () => page.keyboard.type('ann@example.org', { delay: 30 }) }
  })
  await interaction('pressing Launch', browser, ours, '/', async (page) => {
    // Never answered: only the page's own response is measured, and the container must not open.
    await page.route('**/api/container/launch/**', () => undefined)
    return pressOf(page, button(page, `${t('dashboard.action.launch')} Production`))
  })
  await interaction('opening a dialog', browser, ours, '/', async (page) => {
    return pressOf(page, button(page, `${t('dashboard.action.stop')} Development`), page.getByRole('dialog'))
  })
  await interaction('opening the menu of a card', browser, ours, '/', async (page) => {
    return pressOf(page, button(page, t('dashboard.action.more', { name: 'Development' })), page.getByRole('menu'))
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

/** An interaction, and the element that shows its result. */
interface Interaction {
  do(): Promise<void>
  shown?: Locator | undefined
}

/**
 * A click on the middle of an element. Its position is determined beforehand: Playwright's own `click` runs checks in the
 * page's thread, which took as long as the page's own work.
 */
async function pressOf(page: Page, target: Locator, shown?: Locator): Promise<Interaction> {
  await target.waitFor()
  const box = await target.boundingBox()
  if (!box) throw new Error('It is not in view.')
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  return { do: () => press(page.mouse), shown }
}

/** A click about as long as a real one. */
async function press(mouse: Mouse): Promise<void> {
  await mouse.down()
  await sleep(60)
  await mouse.up()
}

/** Reports the maximum of all rounds, in ms. @param prepare brings the page into position and returns the interaction */
async function interaction(
  title: string,
  browser: Browser,
  service: Service,
  at: string,
  prepare: (page: Page) => Promise<Interaction>,
): Promise<void> {
  const found: number[] = []
  const page = await openPage(browser, service, at !== '/login')
  for (let round = 0; round < rounds; round++) {
    await page.goto(service.url + at)
    const deed = await prepare(page)
    // Work of the page itself is not part of the interaction.
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

/** Measures the administrators' table: time to the first page, and long tasks while scrolling. */
export async function measureTable(browser: Browser, crowd: Service): Promise<void> {
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

/** Clicks the link. @returns ms until the frame after the first rows are in the document */
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
