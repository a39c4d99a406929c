import type { Chromium } from './chromium.ts'
import { clickAround } from './click-around.ts'
import { openPage, type OpenPage } from './open-page.ts'
import { newRecord, type VisitRecord } from './visit-record.ts'

/** How long the first page may load, in ms, and how often it is opened again when networks of the machine change. */
const [loadTimeout, maxVisits] = [20_000, 4]

/** What is visited, and as whom. */
export interface VisitTarget {
  /** With its slash. */
  readonly home: string
  /** Path and query below the home to begin with. */
  readonly openPath: string
  readonly token: string
  /** Domain of the platform's cookie, with its dot. */
  readonly cookieDomain: string
}

/**
 * Opens an application, waits until it is loaded, and clicks around in it. Chromium gives up what it is loading when an
 * interface of the machine changes, as with every container that starts beside it: then the visit begins again.
 * @param clickTime ms for all clicks; 0: none
 * @throws {Error} when the browser ends, or networks change all the time · the reason of the signal
 */
export async function visitApp(
  chromium: Chromium,
  target: VisitTarget,
  clickTime: number,
  signal: AbortSignal,
): Promise<VisitRecord> {
  for (let visit = 1; visit <= maxVisits; visit += 1) {
    const record = newRecord()
    const cookie = { token: target.token, domain: target.cookieDomain }
    const page = await openPage(chromium, record, cookie, signal)
    try {
      await look(page, record, target)
      if (clickTime > 0 && !page.watcher.isDisturbed) await clickAround(page, record, target.home, clickTime)
      record.cookies.push(...(await page.cookies()))
      if (!page.watcher.isDisturbed) return record
    } finally {
      await page.close()
    }
  }
  throw new Error('networks of this machine change all the time, and the browser gives up what it loads')
}

async function look(page: OpenPage, record: VisitRecord, { home, openPath }: VisitTarget): Promise<void> {
  const end = performance.now() + loadTimeout
  await page.goTo(home + openPath, loadTimeout)
  record.isEmpty = (await page.evaluate<boolean>(emptyScript)) ?? false
  // Large scripts work for seconds before they show anything.
  while (record.isEmpty && performance.now() < end) {
    await page.untilQuiet(end - performance.now())
    record.isEmpty = (await page.evaluate<boolean>(emptyScript)) ?? false
  }
  record.finalUrl = (await page.evaluate<string>('location.href')) ?? ''
  record.links.push(...((await page.evaluate<string[]>(linksScript)) ?? []))
}

/** Neither a letter nor a picture nor a control: what is left of a page whose scripts are not found. */
const emptyScript = `(() => {
  const shown = document.body?.innerText?.trim() ?? ''
  return shown === '' && !document.querySelector('img, canvas, svg, video, iframe, frame, input, button, textarea, object, embed')
})()`

/** Addresses that the page names in its attributes, resolved by the browser. */
const linksScript = `[...document.querySelectorAll('a[href], area[href], link[href], form[action], [src]')]
  .map((each) => each.tagName === 'FORM' ? new URL(each.getAttribute('action'), document.baseURI).href : each.href || each.src)
  .filter((each) => typeof each === 'string' && /^(https?|wss?):/.test(each))
  .slice(0, 500)`
