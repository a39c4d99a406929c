import { chromium, type Browser, type JSHandle, type Page } from 'playwright-core'
import type { Lifetime } from './berth.ts'
import { browserNetwork } from './browser-network.ts'
import { launchFirefox } from './firefox/firefox.ts'
import { ReusedProgram } from './reused-program.ts'
import { waitLimit } from './extent.ts'

/** Where Debian puts it; the library's own download is never used. */
const installed = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** `npm run test:firefox` sets it. */
export const isFirefox = process.env.BERTH_TEST_BROWSER === 'firefox'

/** What pages see of their user's preference, unless a test says otherwise: `BERTH_TEST_COLOR_SCHEME=dark`. */
const colorScheme = process.env.BERTH_TEST_COLOR_SCHEME === 'dark' ? 'dark' : 'light'

/** A page in a fresh context of a headless Chromium or Firefox, with everything that went wrong in it. */
export interface Tab {
  readonly page: Page
  /** Console errors, refused by our content security policy or not, and uncaught exceptions. */
  readonly problems: string[]
}

/** Each user opens a context of its own; what is left open is closed when nothing uses the browser any more. */
const sharedBrowser = new ReusedProgram<Browser>({
  start: async (forget) => (await launch([])).on('disconnected', forget),
  clear: async (browser) => {
    for (const context of browser.contexts()) await context.close()
  },
  stop: (browser) => browser.close(),
})

/**
 * Opens a page in a context of its own, which ends with the test. Names below `localhost` lead to this machine in it, and
 * certificates that tests made themselves will do.
 * @param host another name that does
 */
export async function openTab(lifetime: Lifetime, host?: string): Promise<Tab> {
  const browser = await (host === undefined ? sharedBrowser.use(lifetime) : startBrowser(lifetime, [], [host]))
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ignoreHTTPSErrors: true,
    // Animations of what waits take an eighth of the CPU time of all journeys; none of them says anything of its own.
    reducedMotion: 'reduce',
    colorScheme,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(waitLimit(20_000))
  for (const visit of ['goto', 'reload'] as const) steady(page, visit)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`.trimEnd()
    if (message.type() === 'error' && !isByMachine(text)) problems.push(text)
  })
  return { page, problems }
}

/** Where Chromium has no network of its own, the containers of other tests change its machine's; see `browserNetwork`. */
const isByMachine = (problem: string) => problem.includes('ERR_NETWORK_CHANGED')

/** Has a page come to where it is sent although the machine's networks change meanwhile. */
function steady(page: Page, visit: 'goto' | 'reload'): void {
  const once = page[visit].bind(page) as (...args: unknown[]) => Promise<null>
  page[visit] = (...args: unknown[]) => steadily(() => once(...args))
}

/**
 * A browser without a window open; it ends with the test.
 * @param args of Chromium
 * @param hosts names that lead to this machine, beside those below `localhost`
 */
export async function startBrowser(
  lifetime: Lifetime,
  args: readonly string[] = [],
  hosts: readonly string[] = [],
): Promise<Browser> {
  const starting = launch(args, hosts)
  // Before anything is waited for: after a promise of an earlier test file, Node's runner takes a hook for that file's.
  lifetime.after(async () => (await starting).close())
  return starting
}

async function launch(args: readonly string[], hosts: readonly string[] = []): Promise<Browser> {
  if (isFirefox) return launchFirefox(hosts, colorScheme)
  const usual = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-sync',
    keepFrames,
  ]
  const network = await browserNetwork(installed)
  const env = { ...process.env, ...network.env } as Record<string, string>
  const { executablePath } = network
  return chromium.launch({ executablePath, env, args: [...usual, ...network.args, ...hosts.map(hostRule), ...args] })
}

/**
 * Chromium 150 replaces the frame of a page at each navigation, and its renderer crashes now and then when the DevTools session
 * of the old frame ends: 4 times in 50 rounds of sixteen navigations in three tabs, and never in 138 rounds with this option.
 * Of several lists of features the last one counts, so those that Playwright enables are repeated.
 */
const keepFrames =
  '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame'

const hostRule = (host: string) => `--host-resolver-rules=MAP ${host} 127.0.0.1`

/**
 * Does it again when Chromium gave a request up, which it does when the machine's networks change, as with each container
 * that another test starts. The work may have been done the first time.
 */
export async function steadily<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 10; ; left -= 1) {
    try {
      return await work()
    } catch (error) {
      if (left === 0 || !/NETWORK_CHANGED|Failed to fetch|interrupted|Timeout/.test(String(error))) throw error
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  }
}

/**
 * Waits until a page has been led to an address. A launch changes the machine's networks at the very moment at which pages
 * move on to what was launched, and Chromium then gives that navigation up. With a window it loads the page again by
 * itself; without one we do.
 * @param path how the address ends
 */
export async function arrival(page: Page, path: string): Promise<void> {
  const isThere = () => page.url().endsWith(path)
  for (const deadline = Date.now() + waitLimit(60_000); !isThere(); await page.waitForTimeout(100)) {
    if (Date.now() > deadline) throw new Error(`The page is at ${page.url()} and not at ${path}.`)
    if (page.url().startsWith('chrome-error:')) await page.reload().catch(() => undefined)
  }
  await page.waitForLoadState()
}

/** A connection that a page has opened, as the page knows it: Firefox says nothing of WebSockets by BiDi. */
export interface Connection {
  isClosed(): Promise<boolean>
  /** Resolves when it is closed, at once if it is already. */
  closed(): Promise<void>
}

/**
 * The first WebSocket of the document that a page is led to.
 * @param lead has the page load that document
 */
export async function connectionOf(page: Page, lead: () => Promise<unknown>): Promise<Connection> {
  await page.addInitScript(() => {
    const sockets: WebSocket[] = []
    Object.assign(globalThis, { sockets })
    globalThis.WebSocket = new Proxy(WebSocket, {
      construct(target, args: ConstructorParameters<typeof WebSocket>) {
        const socket = new target(...args)
        sockets.push(socket)
        return socket
      },
    })
  })
  await lead()
  const first = await page.waitForFunction(() => (globalThis as unknown as { sockets: WebSocket[] }).sockets[0])
  const socket = first as JSHandle<WebSocket>
  return {
    isClosed: () => socket.evaluate(({ readyState }) => readyState >= WebSocket.CLOSING),
    closed: () =>
      socket.evaluate(async (opened) => {
        if (opened.readyState === WebSocket.CLOSED) return
        await new Promise((resolve) => opened.addEventListener('close', resolve))
      }),
  }
}
