import { setTimeout as wait } from 'node:timers/promises'
import type { Chromium } from './chromium.ts'
import { PageWatcher, reportBinding, reportScript } from './watch-page.ts'
import type { SeenCookie, VisitRecord } from './visit-record.ts'

/** How long nothing may be loading until a page counts as loaded, in ms. */
const quietTime = 500

/** A page in a fresh profile, with its frames and workers. */
export interface OpenPage {
  readonly watcher: PageWatcher
  /** Goes to an address, and waits until nothing is loading; at most the limit in ms. */
  goTo(url: string, limit: number): Promise<void>
  /** Waits until nothing is loading; at most the limit in ms. */
  untilQuiet(limit: number): Promise<void>
  /** Value of an expression in the page, as JSON; undefined where it throws. */
  evaluate<T>(expression: string): Promise<T | undefined>
  /** A click of the left button, as of a mouse. */
  click(x: number, y: number): Promise<void>
  cookies(): Promise<SeenCookie[]>
  close(): Promise<void>
}

/** Of a page, and of each of its frames and workers. */
const watched = ['Network.enable', 'Runtime.enable', 'Log.enable']
const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }

/**
 * Opens a page with the platform's cookie. @param cookie its domain begins with a dot @param signal ends waits
 * @throws {Error} when the browser has ended
 */
export async function openPage(
  { devtools }: Chromium,
  record: VisitRecord,
  cookie: { readonly token: string; readonly domain: string },
  signal: AbortSignal,
): Promise<OpenPage> {
  const { browserContextId } = await devtools.send<{ browserContextId: string }>('Target.createBrowserContext')
  const { targetId } = await devtools.send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
  })
  const { sessionId } = await devtools.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const page = <T>(method: string, params: object = {}) => devtools.send<T>(method, params, sessionId)
  const watcher = new PageWatcher(record)
  const sessions = new Set([sessionId])
  const stop = devtools.listen((event) => {
    if (event.sessionId === undefined || !sessions.has(event.sessionId)) return
    if (event.method === 'Target.attachedToTarget') {
      const { sessionId: child } = event.params as { sessionId: string }
      sessions.add(child)
      for (const method of [...watched, 'Runtime.runIfWaitingForDebugger'])
        void devtools.send(method, {}, child).catch(() => undefined)
    } else if (event.method === 'Page.javascriptDialogOpening')
      // A question whether to leave is answered with yes, every other with no.
      void page('Page.handleJavaScriptDialog', { accept: event.params.type === 'beforeunload' }).catch(() => undefined)
    else watcher.take(event)
  })
  for (const method of [...watched, 'Page.enable']) await page(method)
  await page('Target.setAutoAttach', attach)
  await page('Runtime.addBinding', { name: reportBinding })
  await page('Page.addScriptToEvaluateOnNewDocument', { source: reportScript })
  await devtools.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })
  const { token: value, domain } = cookie
  await page('Network.setCookie', { name: 'spawner_token', value, domain, path: '/', httpOnly: true })
  const untilQuiet = async (limit: number) => {
    const end = performance.now() + limit
    for (let quietSince = performance.now(); performance.now() < end; await wait(50, undefined, { signal })) {
      if (!watcher.isQuiet) quietSince = performance.now()
      if (performance.now() - quietSince >= quietTime) return
    }
  }
  const mouse = { button: 'left', clickCount: 1 }
  return {
    watcher,
    untilQuiet,
    goTo: async (url, limit) => {
      await page('Page.navigate', { url })
      await untilQuiet(limit)
    },
    evaluate: async <T>(expression: string) => {
      const asked = { expression, returnByValue: true, timeout: 5_000 }
      const { result } = await page<{ result: { value?: T } }>('Runtime.evaluate', asked)
      return result.value
    },
    click: async (x, y) => {
      await page('Input.dispatchMouseEvent', { type: 'mousePressed', x, y, ...mouse })
      await page('Input.dispatchMouseEvent', { type: 'mouseReleased', x, y, ...mouse })
    },
    cookies: async () =>
      (await devtools.send<{ cookies: SeenCookie[] }>('Storage.getCookies', { browserContextId })).cookies,
    close: async () => {
      stop()
      await devtools.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined)
    },
  }
}
