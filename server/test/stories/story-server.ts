import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { contentSecurityPolicy } from '#/http/front-end/front-end-document.ts'
import type { Lifetime } from '#test/support/berth.ts'
import { startBrowser } from '#test/support/browser.ts'
import { serveHttp } from '#test/support/serve-http.ts'

export const repository = path.resolve(import.meta.dirname, '../../..')

/** One of several tabs that stories share. */
export interface Tab {
  readonly page: Page
  /** Console errors, violations of the content security policy among them, and uncaught exceptions. */
  readonly problems: string[]
}

/** The stories of `web/stories`, built and served, and a browser. */
export interface StoryServer {
  readonly url: string
  /** Names of all stories, in order. */
  readonly names: readonly string[]
  /** Runs work with a tab of its own. */
  withTab<T>(work: (tab: Tab) => Promise<T>): Promise<T>
}

/** More than the cores of a small machine, because a tab often waits. */
export const tabs = 3

/** Scale of the compared pictures: readable, and smaller ones are decoded and compared faster. */
const pixelsPerPixel = 0.75

/** Makes text look the same on every machine. */
const alike = ['--font-render-hinting=none', '--disable-lcd-text', '--force-color-profile=srgb']

/** @param scale device pixels per CSS pixel */
export async function startStoryServer(lifetime: Lifetime, scale: number = pixelsPerPixel): Promise<StoryServer> {
  const [dist, browser] = await Promise.all([build(lifetime), startBrowser(lifetime, alike)])
  const url = await serve(lifetime, dist)
  const { names, today } = await readList(browser, url)
  const free = await Promise.all(Array.from({ length: tabs }, () => openTab(browser, today, scale)))
  const waiting: ((tab: Tab) => void)[] = []
  return {
    url,
    names,
    async withTab(work) {
      const tab = free.pop() ?? (await new Promise<Tab>((resolve) => waiting.push(resolve)))
      try {
        return await work(tab)
      } finally {
        const next = waiting.shift()
        if (next) next(tab)
        else free.push(tab)
      }
    },
  }
}

async function build(lifetime: Lifetime): Promise<string> {
  const dist = await mkdtemp(path.join(tmpdir(), 'berth-stories-'))
  lifetime.after(() => rm(dist, { recursive: true, force: true }))
  const vite = path.join(repository, 'node_modules/vite/bin/vite.js')
  // Not minified: that takes time, and the size does not matter here.
  const options = ['--config', 'stories/vite.config.ts', '--outDir', dist, '--emptyOutDir', '--minify', 'false']
  const where = { cwd: path.join(repository, 'web'), timeout: 120_000 }
  await promisify(execFile)(process.execPath, [vite, 'build', ...options], where)
  return dist
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Serves the folder with the content security policy of the server's documents: no page may need more. */
async function serve(lifetime: Lifetime, dist: string): Promise<string> {
  const nonce = 'c3Rvcnk='
  const document = (await readFile(path.join(dist, 'index.html'), 'utf8')).replaceAll('__BERTH_NONCE__', nonce)
  const server = createServer((request, response) => {
    const file = /^\/assets\/[\w.-]+$/.exec(request.url ?? '')?.[0]
    if (file === undefined) {
      const headers = { 'content-type': 'text/html', 'content-security-policy': contentSecurityPolicy(nonce) }
      response.writeHead(200, headers).end(document)
      return
    }
    readFile(path.join(dist, file)).then(
      (content) =>
        response
          .writeHead(200, { 'content-type': types[path.extname(file)], 'cache-control': 'max-age=3600' })
          .end(content),
      () => response.writeHead(404).end(),
    )
  })
  return serveHttp(lifetime, server)
}

/** The page without a story lists all stories, and has the time at which they take place. */
async function readList(browser: Browser, url: string): Promise<{ names: string[]; today: string }> {
  const page = await browser.newPage()
  await page.goto(url)
  await page.locator('li').first().waitFor()
  const names = await page.locator('li').allTextContents()
  const today = await page.evaluate(() => document.documentElement.dataset.today ?? '')
  await page.close()
  return { names, today }
}

async function openTab(browser: Browser, today: string, deviceScaleFactor: number): Promise<Tab> {
  const context = await browser.newContext({
    timezoneId: 'UTC',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    deviceScaleFactor,
  })
  await context.clock.setFixedTime(today)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  return { page, problems }
}
