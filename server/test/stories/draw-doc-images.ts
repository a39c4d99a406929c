import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { openStory, settle } from './story-checks.ts'
import { startStoryServer, repository } from './story-server.ts'

/**
 * Draws the pictures of the documents that stories can show: `npm run pictures`. The journey of a new user takes those
 * that need a real container.
 */
const folder = path.join(repository, 'docs/images')

interface Picture {
  readonly story: string
  readonly width?: number
  readonly height?: number
  readonly isDark?: true
}

const pictures: Readonly<Record<string, Picture>> = {
  'check-mail': { story: 'check-mail/sent', height: 680 },
  dashboard: { story: 'dashboard/running', height: 560 },
  'dashboard-dark': { story: 'dashboard/running', height: 560, isDark: true },
  launching: { story: 'dashboard/starting', height: 560 },
  phone: { story: 'dashboard/running', width: 390, height: 844 },
  overview: { story: 'overview/day', height: 1000 },
  usage: { story: 'usage/days', height: 1000 },
  users: { story: 'users/selected', height: 720 },
  block: { story: 'users/block', height: 720 },
  audit: { story: 'audit/full', height: 720 },
  connect: { story: 'dashboard/connect', height: 720 },
  'ssh-keys': { story: 'ssh-keys/many', height: 720 },
  ports: { story: 'dashboard/ports', height: 560 },
  takeover: { story: 'takeover/acting', height: 560 },
}

const endings: (() => Promise<void>)[] = []
try {
  const stage = await startStoryServer({ after: (work) => void endings.unshift(work) }, 1)
  mkdirSync(folder, { recursive: true })
  for (const [name, picture] of Object.entries(pictures)) {
    if (!stage.names.includes(picture.story)) throw new Error(`There is no story ${picture.story} for ${name}.png.`)
    await stage.withTab(async (tab) => {
      await openStory(tab, stage.url, picture.story)
      await draw(tab.page, name, picture)
    })
  }
} finally {
  for (const ending of endings) await ending()
}

async function draw(page: Page, name: string, { width = 1200, height = 800, isDark }: Picture): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  await settle(page)
  await page.waitForTimeout(500)
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' })
}
