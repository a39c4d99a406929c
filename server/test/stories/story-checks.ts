import type { Page } from 'playwright-core'
import type { Tab } from './story-server.ts'

/** What a story's page exposes to tests; see `web/stories/main.ts`. */
interface StoryWindow {
  readonly unanswered: readonly string[]
  chooseLanguage(language: 'en' | 'de'): Promise<void>
}

/** Opens the story, and waits until its presses are done and the page has settled. */
export async function openStory({ page, problems }: Tab, url: string, name: string): Promise<void> {
  problems.length = 0
  await page.setViewportSize({ width: 1200, height: 800 })
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
  await page.goto(`${url}/?picture&story=${encodeURIComponent(name)}`)
  const state = () => document.documentElement.dataset.story !== undefined && document.querySelector('h1') !== null
  await page.waitForFunction(state).catch((error: unknown) => {
    throw new Error([`${name} did not open`, ...problems].join('\n'), { cause: error })
  })
  await settle(page)
}

/**
 * Waits until the document has not changed for a moment, or changes for two seconds. The comparison waits for later
 * changes.
 */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready
    const quiet = 60
    const end = performance.now() + 2_000
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, quiet)
      // Long timers do not fire in a page whose time has been stopped.
      const observer = new MutationObserver(() => {
        clearTimeout(timer)
        if (performance.now() > end) resolve()
        else timer = setTimeout(resolve, quiet)
      })
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    })
  })
}

/** Faults of the story itself: errors, requests without a response, broken text, and a missing title. */
export async function faultsOf({ page, problems }: Tab): Promise<string[]> {
  const unanswered = await page.evaluate(() => (globalThis as unknown as StoryWindow).unanswered)
  const title = await page.title()
  const text = await page.locator('body').innerText()
  return [
    ...problems,
    ...(text.match(/.*(?:\[object |\bundefined\b|\bNaN\b).*/g) ?? []).map((line) => `it says: ${line}`),
    ...unanswered.map((request) => `the story has no answer to ${request}`),
    ...(/^.+ · (?:Berth|Technical University Lab)$/.test(title) ? [] : [`the title is "${title}"`]),
  ]
}

/** In CSS pixels: a window of 1280 at a zoom of 400 %. Source: WCAG 2.2, 1.4.10. */
const narrow = { width: 320, height: 256 }

/** What has to be scrolled sideways in a narrow window, in English and in German. */
export async function overflows(page: Page): Promise<string[]> {
  await page.setViewportSize(narrow)
  const found: string[] = []
  for (const language of ['en', 'de'] as const) {
    await page.evaluate((language) => (globalThis as unknown as StoryWindow).chooseLanguage(language), language)
    await settle(page)
    const wide = await page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('dialog[open], [role=dialog], [role=menu]')]
        .filter((element) => element.scrollWidth > element.clientWidth)
        .map((element) => `${element.tagName.toLowerCase()} is ${element.scrollWidth} wide in ${element.clientWidth}`),
    )
    found.push(...wide.map((each) => `${language}: ${each}`))
  }
  return found
}

const phone = { width: 390, height: 844 }

/**
 * What a finger misses on a phone in German, and what a card covers: controls below 44 px (WCAG 2.2, 2.5.5) outside of
 * sentences, and states of cards that are higher than the space that is kept for them.
 */
export async function phoneFaults(page: Page): Promise<string[]> {
  await page.setViewportSize(phone)
  await page.evaluate(() => (globalThis as unknown as StoryWindow).chooseLanguage('de'))
  await settle(page)
  return page.evaluate(() => {
    // Rows that the browser has not laid out yet have no size.
    const seen = (selector: string) =>
      [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility({ contentVisibilityAuto: true }))
    const low = seen('button, a.button, summary, .account-panel a, .admin-nav a, select').filter(
      (each) => Math.round(each.getBoundingClientRect().height) < 44,
    )
    const cut = seen('.card-overlay').filter((each) => each.scrollHeight > each.clientHeight + 1)
    return [
      ...low.map((each) => `${each.getBoundingClientRect().height} px: ${each.outerHTML.slice(0, 120)}`),
      ...cut.map((each) => `${each.scrollHeight} px in ${each.clientHeight}: ${each.textContent.slice(0, 120)}`),
    ]
  })
}

/**
 * Controls that look like plain text, and a focus without an outline. Controls in a table are recognized by their
 * position.
 */
export async function bareControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll('button, input, select, textarea, a.button')].filter(
      (control) => control.checkVisibility() && control.closest('table') === null,
    )
    const bare = controls.filter((control) => {
      const { borderTopStyle, borderTopWidth, borderBottomStyle, textDecorationLine, appearance } =
        getComputedStyle(control)
      const hasEdge = (borderTopStyle !== 'none' && parseFloat(borderTopWidth) > 0) || borderBottomStyle !== 'none'
      return !hasEdge && !textDecorationLine.includes('underline') && appearance !== 'auto'
    })
    const focused = document.activeElement ?? document.body
    const isSeen = getComputedStyle(focused).outlineStyle !== 'none'
    return [...bare, ...(isSeen ? [] : [focused])].map((control) => control.outerHTML.slice(0, 160))
  })
}
