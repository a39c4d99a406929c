import type { Browser, Page } from 'playwright-core'
import type { Service } from './services.ts'

/** How much slower than this machine's core a page runs where nothing else is said: about a cheap phone. */
const slowdown = 4

/** Somebody's page in a browser that has nothing of it yet, made slower. @param as undefined for who is not signed in */
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

/** A slow line: bytes a second in each direction, and ms that each request waits for its answer. */
export const slowLine = { bytesPerSecond: 50_000, latency: 400 } as const

/** Ms from a navigation over a slow line until the main heading is there, at this machine's own speed, and the bytes that came for it. */
export async function visitSlowly(page: Page, url: string): Promise<{ heading: number; bytes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const { bytesPerSecond: downloadThroughput, latency } = slowLine
  const conditions = { offline: false, latency, downloadThroughput, uploadThroughput: downloadThroughput }
  await session.send('Network.emulateNetworkConditions', conditions)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  // From the navigation on; that somebody looks for the heading adds some milliseconds.
  const heading = await page.evaluate(() => performance.now())
  await page.getByRole('article').first().waitFor()
  await session.detach()
  return { heading, bytes }
}

/** What a page notes of itself, in ms. */
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
  // Source: Event Timing API; what has an interaction is a press or a key, and lasts until the next frame is there.
  observe(
    'event',
    (entry) =>
      (entry as PerformanceEntry & { interactionId: number }).interactionId && noted.interactions.push(entry.duration),
    { durationThreshold: 16 },
  )
}

const notedOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { noted: Noted }).noted)

/** Ms until something, and until the largest thing, was on the screen. */
export async function paintsOf(page: Page): Promise<{ first: number; largest: number }> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForTimeout(500)
  const first = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN)
  return { first, largest: (await notedOf(page)).largest }
}

/** Ms from a press or a key to the frame that shows what came of it; the longest of those that the work made, 0 when all took less than 16. */
export async function interactionOf(page: Page, work: () => Promise<void>): Promise<number> {
  await page.evaluate(() => void ((globalThis as unknown as { noted: Noted }).noted.interactions = []))
  await work()
  await page.waitForTimeout(400)
  return Math.max(0, ...(await notedOf(page)).interactions)
}

/** Ms of each task that blocked the page for more than 50 while this was done. */
export async function longTasksIn(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => void ((globalThis as unknown as { noted: Noted }).noted.longTasks = []))
  await work()
  return (await notedOf(page)).longTasks
}
