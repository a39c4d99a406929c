import type { OpenPage } from './open-page.ts'
import type { VisitRecord } from './visit-record.ts'

/** Max clicks, and how long the answer to one is waited for, in ms. */
const [maxClicks, answerTime] = [12, 1_500]

interface Clickable {
  readonly label: string
  readonly x: number
  readonly y: number
}

/**
 * Clicks what looks like a control, each once, as a user would who looks around; what ends, removes or signs out is left
 * alone. A click that leads out of the application is followed by a return to its first page.
 * @param limit ms for all clicks
 */
export async function clickAround(page: OpenPage, record: VisitRecord, home: string, limit: number): Promise<void> {
  const end = performance.now() + limit
  const done = new Set<string>()
  const start = record.finalUrl
  while (record.clicks < maxClicks && performance.now() < end) {
    if (!((await page.evaluate<string>('location.href')) ?? '').startsWith(home)) {
      if (!start.startsWith(home)) return
      await page.goTo(start, 2 * answerTime)
      continue
    }
    const found = (await page.evaluate<Clickable[]>(clickablesScript)) ?? []
    const next = found.find(({ label }) => !done.has(label))
    if (!next) return
    done.add(next.label)
    record.clicks += 1
    await page.click(next.x, next.y)
    await page.untilQuiet(Math.max(0, Math.min(answerTime, end - performance.now())))
  }
}

const clickablesScript = `(() => {
  const risky = /log ?out|sign ?out|delete|remove|shut ?down|quit|exit|stop|reset|kill|destroy|restart|abmelden|lösch/i
  const all = document.querySelectorAll('a[href], button, [role=button], [role=tab], [role=menuitem], summary, input[type=submit], input[type=button]')
  return [...all].slice(0, 300).flatMap((each) => {
    const { left, top, width, height } = each.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const label = (each.innerText || each.title || each.getAttribute('aria-label') || each.value || each.id || each.className || '').toString().trim().slice(0, 60)
    const isShown = width > 0 && height > 0 && x > 0 && y > 0 && x < innerWidth && y < innerHeight
    const isOther = each.tagName === 'A' && (new URL(each.href, location).origin !== location.origin || each.download)
    if (!isShown || isOther || each.disabled || label === '' || risky.test(label)) return []
    const top_ = document.elementFromPoint(x, y)
    return top_ && (each === top_ || each.contains(top_)) ? [{ label: each.tagName + ' ' + label, x, y }] : []
  })
})()`
