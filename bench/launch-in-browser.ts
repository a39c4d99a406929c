import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Locator, Page, Route } from 'playwright-core'
import { startBerth, type Berth, type Person } from '../server/test/support/berth.ts'
import { openTab, type Tab } from '../server/test/support/browser.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { launchDirectly, recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { addressOf, askApp } from './first-byte.ts'

/** Time in ms for Berth and the page to receive events, and for the engine to settle. */
const settleTime = 1_000
const type = 'prod'
/** Expressions of the pages. Both moments are in ms since 1970, because each page counts from its own beginning. */
const tellClicks =
  "addEventListener('click', () => console.log('clicked ' + (performance.timeOrigin + performance.now())), true)"
const firstByteOfPage = "performance.timeOrigin + performance.getEntriesByType('navigation')[0].responseStart"

/**
 * What a user waits for after a click, in Chromium, and the bare engine in turns: `Open` of a paused container until the
 * first byte of its app, and `Launch` of one that has to be made until its app's page.
 */
export async function measureInBrowser(rounds: number): Promise<void> {
  const endings: (() => unknown)[] = []
  const lifetime = { after: (ending: () => unknown) => void endings.unshift(ending) }
  try {
    const berth = await startBerth(lifetime, { webDir: path.resolve(import.meta.dirname, '../web/dist') })
    const person = await berth.signUp('clicker@bench.test')
    const { page } = (await openTab(lifetime)) as Tab
    const cookie = { name: 'spawner_token', value: person.token, url: berth.app.frontendUrl, httpOnly: true }
    await page.context().addCookies([cookie])
    await open(berth, person, page, rounds)
    await launch(berth, person, page, rounds)
  } finally {
    for (const ending of endings) await ending()
  }
}

async function open(berth: Berth, person: Person, page: Page, rounds: number): Promise<void> {
  const id = await launchByApi(person)
  const unmanaged = await launchDirectly(`${berth.installation}-unpause`, await unmanagedRecipe(berth, id, 'unpause'))
  const [clicks, engine]: [number[], number[]] = [[], []]
  try {
    for (let round = 0; round < rounds; round++) {
      await askEngine('POST', `/containers/${id}/pause`)
      clicks.push(await clicked(berth, page, (card) => card.getByRole('link', { name: /^Open/ })))
      await askEngine('POST', `/containers/${unmanaged}/pause`)
      await sleep(settleTime)
      engine.push((await timed(() => askEngine('POST', `/containers/${unmanaged}/unpause`))).ms)
    }
  } finally {
    await removeDirectly(unmanaged)
  }
  report('in the browser: Open of a paused container', {
    rounds,
    'click to first byte, median': milliseconds(median(clicks)),
    "engine's unpause, median": milliseconds(median(engine)),
    'difference (at most 40 ms)': milliseconds(median(clicks) - median(engine)),
  })
}

async function launch(berth: Berth, person: Person, page: Page, rounds: number): Promise<void> {
  const recipe = await unmanagedRecipe(berth, await launchByApi(person), 'made')
  const [clicks, beside, alone]: [number[], number[], number[]] = [[], [], []]
  const launchButton = (card: Locator) => card.getByRole('button', { name: /^Launch/ })
  const viaBrowser = async () => {
    await takeAway(berth, person)
    clicks.push(await clicked(berth, page, launchButton))
  }
  const viaEngine = async () => {
    const { ms, value: id } = await timed(async () => {
      const made = await launchDirectly(`${berth.installation}-made`, recipe)
      await askApp(await addressOf(made))
      return made
    })
    await removeDirectly(id)
    return ms
  }
  const besideThePage = async () => {
    await takeAway(berth, person)
    beside.push(await whileLaunching(berth, page, launchButton, viaEngine))
  }
  const byItself = async () => {
    await page.goto('about:blank')
    await sleep(settleTime)
    alone.push(await viaEngine())
  }
  const turns = [viaBrowser, besideThePage, byItself]
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < turns.length; turn++) await turns[(round + turn) % turns.length]?.()
  report('in the browser: Launch of a container that has to be made', {
    rounds,
    "click to the app's page, median": milliseconds(median(clicks)),
    "engine's create, start and first answer while a page waits, median": milliseconds(median(beside)),
    'the same without a page': milliseconds(median(alone)),
    'ratio (at most 1.10)': (median(clicks) / median(beside)).toFixed(3),
    'ratio to the engine without a page': (median(clicks) / median(alone)).toFixed(3),
  })
}

/**
 * The engine's own time on the same machine in the same state: the browser shows a launch whose request is held, so that it
 * takes as much of the cores as it does while Berth launches. A user's browser is on another machine.
 */
async function whileLaunching(
  berth: Berth,
  page: Page,
  control: (card: Locator) => Locator,
  action: () => Promise<number>,
): Promise<number> {
  const requests = '**/api/container/launch/**'
  const held: Route[] = []
  await page.route(requests, (route) => void held.push(route))
  const { target, click } = await readyToClick(berth, page, control)
  await target.click()
  await click
  const ms = await action()
  // Before the page leaves: a request that is held is sent on when the routes end.
  for (const route of held) await route.abort()
  await page.goto('about:blank')
  await page.unroute(requests)
  return ms
}

/** Clicks on the dashboard. @returns ms from there to the first byte of the app's document, by the browser's clock */
async function clicked(berth: Berth, page: Page, control: (card: Locator) => Locator): Promise<number> {
  const { target, click } = await readyToClick(berth, page, control)
  await target.click()
  await page.waitForURL((url) => url.pathname.endsWith(`-${type}/`))
  await page.waitForLoadState()
  const answered = await page.evaluate<number>(firstByteOfPage)
  return answered - (await click)
}

interface ReadyToClick {
  readonly target: Locator
  /** When the click came, in ms since 1970. */
  readonly click: Promise<number>
}

/** Opens the dashboard and lets it settle. */
async function readyToClick(berth: Berth, page: Page, control: (card: Locator) => Locator): Promise<ReadyToClick> {
  // Otherwise the second visit is answered from the browser's cache, and the container sleeps on.
  await (await page.context().newCDPSession(page)).send('Network.clearBrowserCache')
  await page.goto(berth.app.frontendUrl)
  const target = control(page.getByRole('article', { name: 'Production' }))
  await target.waitFor()
  await sleep(settleTime)
  const click = page
    .waitForEvent('console', (message) => message.text().startsWith('clicked '))
    .then((message) => Number(message.text().split(' ')[1]))
  await page.evaluate(tellClicks)
  return { target, click }
}

/** Without labels Berth does not manage it, and ignores its events. */
async function unmanagedRecipe(berth: Berth, like: string, name: string): Promise<object> {
  return { ...(await recipeOf(like))(`${berth.installation}-${name}`), Labels: {} }
}

async function launchByApi(person: Person): Promise<string> {
  const { status, text, body } = await person.call('POST', `/api/container/launch/${type}`)
  if (status !== 200) throw new Error(`launch answered ${status}: ${text}`)
  return (body as { container_id: string }).container_id
}

/** Stopped first: the reconciler brings back what ran, within half a minute. */
async function takeAway(berth: Berth, person: Person): Promise<void> {
  const { status, text } = await person.call('POST', `/api/container/stop/${type}`)
  if (status !== 200) throw new Error(`stop answered ${status}: ${text}`)
  const found = await berth.runtime.inspect(`${berth.installation}-${person.slug}-${type}`)
  if (found) await removeDirectly(found.id)
}
