import type { Browser, Page } from 'playwright-core'
import type { Service } from './services.ts'

/** CPU slowdown of a page by default: about a cheap phone. */
const slowdown = 4

/** A page of a user in a browser with an empty cache, slowed down. @param as undefined for a signed-out visitor */
export async function openPage(
  browser: Browser,
  { url, token }: Service,
  isSignedIn: boolean,
  rate = slowdown,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  if (isSignedIn) await context.addCookies([{ name: 'spawner_token', value: token, url, httpOnly: true }])
  await context.addInitScript(note)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  return page
}

/** A slow line: bytes per second in each direction, and latency of each request in ms. */
export const slowLine = { bytesPerSecond: 50_000, latency: 400 } as const

/**
 * Ms from a navigation over a slow line until what the page is for can be used, at this machine's speed, and the
 * received bytes.
 * @param wanted the role of what is waited for: the field of the sign-in page, or a card of the dashboard
 */
export async function visitSlowly(
  page: Page,
  url: string,
  wanted: 'textbox' | 'article',
): Promise<{ usable: number; bytes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const { bytesPerSecond: downloadThroughput, latency } = slowLine
  const conditions = { offline: false, latency, downloadThroughput, uploadThroughput: downloadThroughput }
  await session.send('Network.emulateNetworkConditions', conditions)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole(wanted).first().waitFor()
  // Since the navigation; the search for it adds some ms.
  const usable = await page.evaluate(() => performance.now())
  await session.detach()
  return { usable, bytes }
}

/** What a page records about itself, in ms. */
interface Noted {
  largest: number
  interactions: number[]
  longTasks: number[]
}

function note(): void {
  const noted: Noted = { largest: 0, interactions: [], longTasks: [] }
  Object.assign(globalThis, { noted })
  const observe = (type: string, work: (entry: PerformanceEntry) => void, more: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(work)).observe({ type, buffered: true, ...more })
  observe('largest-contentful-paint', ({ startTime }) => (noted.largest = startTime))
  observe('longtask', ({ duration }) => noted.longTasks.push(duration))
  // Source: Event Timing API; an entry with an interaction is a press or a key, and lasts until the next frame.
  observe(
    'event',
    (entry) =>
      (entry as PerformanceEntry & { interactionId: number }).interactionId && noted.interactions.push(entry.duration),
    { durationThreshold: 16 },
  )
}

const notedOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { noted: Noted }).noted)

/** First paint and largest contentful paint in ms. */
export async function paintsOf(page: Page): Promise<{ first: number; largest: number }> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForTimeout(500)
  const first = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN)
  return { first, largest: (await notedOf(page)).largest }
}

/**
 * Max duration of the interactions that `work` causes, from a press or key to the next frame, in ms; 0 when all took
 * less than 16.
 */
export async function interactionOf(page: Page, work: () => Promise<void>): Promise<number> {
  await page.evaluate(() => void ((globalThis as unknown as { noted: Noted }).noted.interactions = []))
  await work()
  await page.waitForTimeout(400)
  return Math.max(0, ...(await notedOf(page)).interactions)
}

/** Duration in ms of each task over 50 ms while `work` runs. */
export async function longTasksIn(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => void ((globalThis as unknown as { noted: Noted }).noted.longTasks = []))
  await work()
  return (await notedOf(page)).longTasks
}
