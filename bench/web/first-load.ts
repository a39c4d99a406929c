import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { median } from '../figures.ts'
import { openPage, paintsOf, slowLine, visitSlowly } from './browser-metrics.ts'
import { webDir, type Service } from './services.ts'
import { add, ms } from './figures-table.ts'
import { rounds } from './options.ts'

/** Measures script bytes and paints of the sign-in page and the dashboard. */
export async function measureFirstLoad(browser: Browser, service: Service): Promise<void> {
  for (const [at, isSignedIn] of [
    ['/login', false],
    ['/', true],
  ] as const) {
    const [firsts, largests]: [number[], number[]] = [[], []]
    let scripts: string[] = []
    let onTheWire = 0
    for (let round = 0; round < rounds; round++) {
      const page = await openPage(browser, service, isSignedIn)
      await page.goto(service.url + at)
      const { first, largest } = await paintsOf(page)
      firsts.push(first)
      largests.push(largest)
      scripts = await page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .flatMap(({ name }) => (name.endsWith('.js') ? [new URL(name).pathname] : [])),
      )
      onTheWire = await page.evaluate(() =>
        (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).reduce(
          (sum, { name, transferSize }) => sum + (name.includes('/assets/') ? transferSize : 0),
          0,
        ),
      )
      await page.context().close()
    }
    const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(path.join(webDir, name))).length, 0)
    add(`${at}: script of the first load, gzip`, `${(bytes / 1000).toFixed(1)} KB`, 'at most 120 KB', bytes <= 120_000)
    add(`${at}: all files of the first load, on the wire`, `${(onTheWire / 1000).toFixed(1)} KB`)
    add(`${at}: first paint, 4x slower`, ms(median(firsts)), 'under 1 s', median(firsts) < 1_000)
    add(`${at}: largest paint, 4x slower`, ms(median(largests)))
  }
}

/** What each page is for: its path, whether a person is signed in, and the role of what has to be there. */
const purposes = [
  ['/login', false, 'textbox'],
  ['/', true, 'article'],
] as const
/** Limits in ms of a visit with an empty cache, and of one with a filled one. */
const limits = { first: 4_000, second: 1_500 } as const

/** Loads the sign-in page and the dashboard over a slow line with an empty cache, and again with a filled one. */
export async function measureSlowLine(browser: Browser, service: Service): Promise<void> {
  const line = `${slowLine.bytesPerSecond / 1000} kB/s, ${slowLine.latency} ms`
  for (const [at, isSignedIn, wanted] of purposes) {
    const visits = { first: { times: [] as number[], bytes: 0 }, second: { times: [] as number[], bytes: 0 } }
    for (let round = 0; round < rounds; round++) {
      const page = await openPage(browser, service, isSignedIn, 1)
      for (const visit of [visits.first, visits.second]) {
        const { usable, bytes } = await visitSlowly(page, service.url + at, wanted)
        visit.times.push(usable)
        visit.bytes = bytes
        await page.goto('about:blank')
      }
      await page.context().close()
    }
    for (const name of ['first', 'second'] as const) {
      const { times, bytes } = visits[name]
      const usable = median(times)
      const title = `${at} at ${line}: ${wanted}, ${name} visit (${(bytes / 1000).toFixed(1)} KB)`
      add(title, ms(usable), `under ${limits[name] / 1000} s`, usable < limits[name])
    }
  }
}
