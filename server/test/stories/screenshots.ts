import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { isFirefox } from '#test/support/browser.ts'
import { difference } from './image-diff.ts'
import { readPng, writePng, type Pixels } from './png.ts'
import { repository } from './story-server.ts'

/** The reference pictures; `npm run stories:accept` writes them. */
export const kept = path.join(repository, 'web/stories/pictures')
/** The actual pictures that differ, and their differences. */
const seen = path.join(repository, '.berth/stories')

export const isAccepting = process.env.BERTH_PICTURES === 'accept'

/** Ms that a page has to look as in its picture: less when accepting, where a difference is what is expected. */
const timeout = isAccepting ? 1_500 : 5_000
/** Ms until a page that is accepted must have stopped changing. */
const settleTimeout = 5_000

/** `dashboard/running` in dark is `dashboard-running-dark.png`. */
export const pictureOf = (story: string, look: string) => `${story.replaceAll('/', '-')}-${look}.png`

/**
 * Compares the page with its reference picture, repeatedly for a while: late changes are no difference. Pictures are of
 * Chromium, and nothing is compared in Firefox.
 * @returns the fault, or undefined; the actual picture is in a file then
 */
export async function compare(page: Page, name: string): Promise<string | undefined> {
  if (isFirefox) return undefined
  const file = path.join(kept, name)
  const unlike = existsSync(file) ? await differenceFrom(page, readPng(readFileSync(file))) : undefined
  if (existsSync(file) && !unlike) return undefined
  if (isAccepting) return accept(page, file)
  return unlike
    ? keepWhatDiffers(name, unlike.actual, unlike.where)
    : `there is no picture ${name}; npm run stories:accept makes it`
}

/** @returns undefined as soon as the pictures match, the last actual picture after the timeout */
async function differenceFrom(page: Page, wanted: Pixels): Promise<{ actual: Pixels; where: Pixels } | undefined> {
  for (const end = performance.now() + timeout; ; await sleep(250)) {
    const actual = await shoot(page)
    const { isSame, where } = difference(wanted, actual)
    if (isSame) return undefined
    if (performance.now() > end) return { actual, where }
    await drawAnew(page)
  }
}

/**
 * Makes Chromium draw the whole page again. A dialog that grew while it was shown can keep a line at its earlier
 * position, a fraction of a pixel off.
 */
async function drawAnew(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    for (const zoom of ['1.05', '']) {
      document.documentElement.style.zoom = zoom
      await frame()
      await frame()
    }
  })
}

export const shoot = async (page: Page): Promise<Pixels> =>
  readPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }))

/**
 * Waits until two pictures in a row are the same, and writes the last one. A page that matched its reference picture at
 * any time is not accepted again, so only changed pictures change.
 */
async function accept(page: Page, file: string): Promise<undefined> {
  await drawAnew(page)
  let picture = await shoot(page)
  for (const end = performance.now() + settleTimeout; performance.now() < end;) {
    await sleep(400)
    const next = await shoot(page)
    if (Buffer.compare(picture.data, next.data) === 0) break
    picture = next
  }
  mkdirSync(kept, { recursive: true })
  writeFileSync(file, small(picture))
}

/** Encodes with the fewest colours that make no difference. */
function small(picture: Pixels): Buffer {
  for (const colours of [24, 48, 96]) {
    const file = writePng(picture, colours)
    if (difference(picture, readPng(file)).count === 0) return file
  }
  return writePng(picture, 256)
}

function keepWhatDiffers(name: string, actual: Pixels, where: Pixels): string {
  mkdirSync(seen, { recursive: true })
  const [actually, differs] = ['actual', 'differs'].map((what) =>
    path.join(seen, name.replace(/\.png$/, `.${what}.png`)),
  ) as [string, string]
  writeFileSync(actually, writePng(actual, 256))
  writeFileSync(differs, writePng(where, 256))
  return `differs from its picture, see ${actually} and ${differs}; if that is how it should look: npm run stories:accept`
}

/** Pictures without a story; accepting removes them. */
export function leftOver(wanted: readonly string[]): string[] {
  const left = existsSync(kept) ? readdirSync(kept).filter((name) => !wanted.includes(name)) : []
  if (isAccepting) for (const name of left) rmSync(path.join(kept, name))
  return isAccepting ? [] : left
}
