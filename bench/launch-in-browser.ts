import { setTimeout as sleep } from 'node:timers/promises'
import { testTemplates } from '../server/test/support/berth.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { runProgram, signIn, type Program } from '../server/test/support/program.ts'
import { openQuietTab, type QuietTab } from './browser/quiet-tab.ts'
import { launchDirectly, recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { addressOf, askApp } from './first-byte.ts'
import { BenchLifetime } from './lifetime.ts'

/** Time in ms for Berth and the page to receive events, and for the engine to settle. */
const settleTime = 1_000
const type = 'prod'
/** Expressions of the pages. Both moments are in ms since 1970, because each page counts from its own beginning. */
const noteClicks =
  "addEventListener('click', () => { sessionStorage.clicked = performance.timeOrigin + performance.now() }, true)"
const firstByteOfPage = "performance.timeOrigin + performance.getEntriesByType('navigation')[0].responseStart"
const isAtApp = `location.pathname.endsWith('-${type}/') && document.readyState === 'complete'`
const card = "[...document.querySelectorAll('article')].find((each) => each.textContent.includes('Production'))"
/** @param words with which the name of a button or link of the card begins */
const control = (words: string) =>
  `[...(${card})?.querySelectorAll('button, a') ?? []].find((each) => (each.ariaLabel ?? each.textContent).trim().startsWith('${words}'))`

/** The program with its two processes, as an operator runs it, and a user who is signed in. */
interface World {
  readonly program: Program
  readonly tab: QuietTab
  readonly token: string
  /** Where the user's browser finds Berth. */
  readonly origin: string
}

/**
 * What a user waits for after a click, in Chromium, and the bare engine in turns: `Open` of a paused container until the
 * first byte of its app, and `Launch` of one that has to be made until its app's page.
 */
export async function measureInBrowser(rounds: number): Promise<void> {
  await using lifetime = new BenchLifetime()
  const program = runProgram(lifetime, { CONTAINER_TEMPLATES: await testTemplates() })
  const [, port] = await program.said(/listening on 127\.0\.0\.1:(\d+)/)
  const world = {
    program,
    tab: await openQuietTab(lifetime),
    token: await signIn(program, 'clicker@bench.test'),
    // The default of BASE_DOMAIN; a request for another name is redirected there.
    origin: `http://spawner.berth.localhost:${port}`,
  }
  const cookie = { name: 'spawner_token', value: world.token, url: world.origin, httpOnly: true }
  await world.tab.command('Network.setCookie', cookie)
  await open(world, rounds)
  await launch(world, rounds)
}

async function open(world: World, rounds: number): Promise<void> {
  const id = await launchByApi(world)
  const unmanaged = await launchDirectly(`berth-bench-${process.pid}-unpause`, await unmanagedRecipe(id, 'unpause'))
  const [clicks, engine]: [number[], number[]] = [[], []]
  try {
    for (let round = 0; round < rounds; round++) {
      await askEngine('POST', `/containers/${id}/pause`)
      clicks.push(await clicked(world, 'Open'))
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

async function launch(world: World, rounds: number): Promise<void> {
  const recipe = await unmanagedRecipe(await launchByApi(world), 'made')
  const [clicks, beside, alone]: [number[], number[], number[]] = [[], [], []]
  const viaBrowser = async () => {
    await takeAway(world)
    clicks.push(await clicked(world, 'Launch'))
  }
  const viaEngine = async () => {
    const { ms, value: id } = await timed(async () => {
      const made = await launchDirectly(`berth-bench-${process.pid}-made`, recipe)
      await askApp(await addressOf(made))
      return made
    })
    await removeDirectly(id)
    return ms
  }
  const besideThePage = async () => {
    await takeAway(world)
    beside.push(await whileLaunching(world, viaEngine))
  }
  const byItself = async () => {
    await world.tab.visit('about:blank')
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
async function whileLaunching(world: World, action: () => Promise<number>): Promise<number> {
  const { tab } = world
  await readyToClick(world, 'Launch')
  await tab.command('Fetch.enable', { patterns: [{ urlPattern: '*/api/container/launch/*' }] })
  await tab.click(control('Launch'))
  const ms = await action()
  // Before requests are let through again: the one that is held ends with its page.
  await tab.visit('about:blank')
  await tab.command('Fetch.disable')
  return ms
}

/** Clicks on the dashboard. @returns ms from there to the first byte of the app's document, by the browser's clock */
async function clicked(world: World, words: string): Promise<number> {
  const { tab } = world
  await readyToClick(world, words)
  await tab.click(control(words))
  // Nothing asks the browser meanwhile.
  await sleep(settleTime)
  await tab.until(isAtApp)
  return tab.evaluate<number>(`${firstByteOfPage} - Number(sessionStorage.clicked)`)
}

/** Opens the dashboard and lets it settle. */
async function readyToClick({ tab, origin }: World, words: string): Promise<void> {
  // Otherwise the second visit is answered from the browser's cache, and the container sleeps on.
  await tab.command('Network.clearBrowserCache')
  await tab.visit(origin)
  await tab.until(`(${control(words)}) !== undefined`)
  await sleep(settleTime)
  await tab.evaluate(noteClicks)
}

/** Without labels Berth does not manage it, and ignores its events. */
async function unmanagedRecipe(like: string, name: string): Promise<object> {
  return { ...(await recipeOf(like))(`berth-bench-${process.pid}-${name}`), Labels: {} }
}

async function launchByApi(world: World): Promise<string> {
  return (await post(world, `/api/container/launch/${type}`)).container_id
}

/** Stopped first: the reconciler brings back what ran, within half a minute. */
async function takeAway(world: World): Promise<void> {
  const id = await launchByApi(world)
  await post(world, `/api/container/stop/${type}`)
  await removeDirectly(id)
}

async function post({ program, token }: World, target: string): Promise<{ container_id: string }> {
  const answer = await program.fetch(target, token, { method: 'POST' })
  if (answer.status !== 200) throw new Error(`${target} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { container_id: string }
}
