import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { difference } from './image-diff.ts'
import { readPng, writePng, type Pixels } from './png.ts'
import { repository } from './story-server.ts'

/** The kept pictures; `npm run stories:accept` writes them. */
export const kept = path.join(repository, 'web/stories/pictures')
/** What was seen instead, and where it differs. */
const seen = path.join(repository, '.berth/stories')

export const isAccepting = process.env.BERTH_PICTURES === 'accept'

/** Ms that a page has to look as in its picture: less when accepting, where a difference is what is expected. */
const timeout = isAccepting ? 1_500 : 5_000
/** Ms until a page that is accepted must have stopped changing. */
const settleTimeout = 5_000

/** `dashboard/running` in dark is `dashboard-running-dark.png`. */
export const pictureOf = (story: string, look: string) => `${story.replaceAll('/', '-')}-${look}.png`

/**
 * Compares the page with its kept picture, again and again for a while: what came late is no difference.
 * @returns what is wrong, or undefined; with what was seen in a file then
 */
export async function compare(page: Page, name: string): Promise<string | undefined> {
  const file = path.join(kept, name)
  const unlike = existsSync(file) ? await differenceFrom(page, readPng(readFileSync(file))) : undefined
  if (existsSync(file) && !unlike) return undefined
  if (isAccepting) return accept(page, file)
  return unlike
    ? keepWhatDiffers(name, unlike.actual, unlike.where)
    : `there is no picture ${name}; npm run stories:accept makes it`
}

/** @returns undefined as soon as the page looks as it should, and what it looks like when its time is over */
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
 * Has Chromium draw all of it again. What grew while it was shown, such as a dialog in the middle, can keep a line as it was
 * drawn before, a part of a pixel from where it would be drawn now.
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
 * Waits until two pictures in a row are the same: what is kept is to be what comes in the end. What looked as in its picture
 * at any time was not asked for: accepting changes nothing but what changed.
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

/** With no more colours than it takes to show the same. */
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

/** Pictures that no story has any more; accepting takes them away. */
export function leftOver(wanted: readonly string[]): string[] {
  const left = existsSync(kept) ? readdirSync(kept).filter((name) => !wanted.includes(name)) : []
  if (isAccepting) for (const name of left) rmSync(path.join(kept, name))
  return isAccepting ? [] : left
}
