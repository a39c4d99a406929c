import { cpus, loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from '../../server/test/support/browser.ts'
import { openStream } from '../../server/test/support/event-stream.ts'
import { startGroupBerth, type Signed } from '../../server/test/support/group-berth.ts'
import { median, timed } from '../figures.ts'
import { interactionOf, longTasksIn, openPage, paintsOf } from './browser-metrics.ts'
import { add, ms, table } from './figures-table.ts'
import { numberOption } from '../options.ts'
import { rounds } from './options.ts'
import { webDir, type Service } from './services.ts'
import { BenchLifetime } from '../lifetime.ts'

/**
 * The page of a group with many members, as their manager sees it: `npm run bench:class`, `-- --members=300 --rounds=5`. Paints
 * and interactions in Chromium with a CPU slowed down four times, at the widths of a laptop and of a phone; what the page asks
 * for while containers change; and the API behind it. Containers are a stand-in's: the engine is no part of the page.
 */
/** With the manager. */
const members = numberOption('members', 300)
const widths = { laptop: 1280, phone: 390 } as const
const template = { image: 'nowhere:latest', port: 8080, memory: '16m' }
const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev: template, lab: template }), SHARING: 'groups' }

await using lifetime = new BenchLifetime()
const rig = await startGroupBerth(lifetime, { webDir, env })
rig.engine.memory = { total: 1e12, available: 1e12 }
const teacher = await rig.signUp('teacher@bench.test')
const pupils: Signed[] = []
for (let at = 1; at < members; at++) {
  const pupil = await rig.signUp(`pupil${at}.of-a-school@bench.test`)
  await rig.launch(pupil, 'lab')
  pupils.push(pupil)
}
const { id } = await rig.group({ name: 'Class', types: ['lab'] }, pupils, [teacher])
const service = { url: rig.berth.app.frontendUrl, token: teacher.token }
await measureApi(teacher, id)
await measureStream(rig.berth, teacher, id)
const browser = await startBrowser(lifetime)
for (const name of ['laptop', 'phone'] as const) await measureLoad(browser, service, id, name)
await measureWork(browser, service, id, pupils, teacher)
await lifetime.end()
process.stdout.write(`${table()}\n\n${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
process.exit()

async function measureApi(teacher: Signed, id: number): Promise<void> {
  const path = `/api/groups/${id}/members?limit=300`
  const times: number[] = []
  let bytes = 0
  for (let round = 0; round < 4 * rounds; round++) {
    const { ms: took, value } = await timed(() => teacher.call('GET', path))
    if (value.status !== 200) throw new Error(value.text)
    times.push(took)
    bytes = value.text.length
  }
  times.sort((one, other) => one - other)
  const p95 = times[Math.floor(times.length * 0.95)] ?? NaN
  add(`list of ${members} members, median`, ms(median(times)))
  add(`list of ${members} members, p95 (${(bytes / 1000).toFixed(0)} KB)`, ms(p95), 'under 50 ms', p95 < 50)
}

/** From the request until the states of all members are there. */
async function measureStream(berth: Parameters<typeof openStream>[0], teacher: Signed, id: number): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { ms: took } = await timed(async () => {
      const stream = await openStream(berth, teacher.token, { path: `/api/groups/${id}/events` })
      const received = () => stream.events.flatMap(({ data }) => (data.members as unknown[] | undefined) ?? []).length
      while (received() < members) await new Promise((resolve) => setTimeout(resolve, 1))
      stream.close()
    })
    times.push(took)
  }
  add('event stream: states of all members', ms(median(times)), 'under 100 ms', median(times) < 100)
}

function addressOf({ url }: Service, id: number): string {
  return `${url}/groups/members?group=${id}`
}

async function measureLoad(browser: Browser, service: Service, id: number, name: keyof typeof widths): Promise<void> {
  const found = { first: [] as number[], list: [] as number[], live: [] as number[], longest: [] as number[] }
  let [nodes, heap] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const page = await openPage(browser, service, true)
    await page.setViewportSize({ width: widths[name], height: 800 })
    const long = await longTasksIn(page, async () => {
      await page.goto(addressOf(service, id), { waitUntil: 'commit' })
      found.list.push(await whenRowsAre(page, members, ''))
      found.live.push(await whenRowsAre(page, members - 1, 'running'))
    })
    found.first.push((await paintsOf(page)).first)
    found.longest.push(Math.max(0, ...long))
    nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    const session = await page.context().newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    heap = (await session.send('Runtime.getHeapUsage')).usedSize
    await page.context().close()
  }
  const [first, list, longest] = [median(found.first), median(found.list), median(found.longest)]
  add(`${name}: first paint, 4x slower`, ms(first), 'under 1 s', first < 1_000)
  add(`${name}: all ${members} rows in the document, 4x slower`, ms(list), 'under 2 s', list < 2_000)
  add(`${name}: all rows live, 4x slower`, ms(median(found.live)))
  add(`${name}: longest task of the load, 4x slower`, ms(longest), 'under 500 ms', longest < 500)
  add(`${name}: elements in the document`, String(nodes), 'at most 10,000', nodes <= 10_000)
  add(`${name}: heap of the page`, `${(heap / 1e6).toFixed(1)} MB`)
}

/** ms since the navigation until so many rows have this word. */
function whenRowsAre(page: Page, count: number, word: string): Promise<number> {
  return page
    .waitForFunction(
      ([wanted, text]) => {
        const rows = [...document.querySelectorAll('.member-row')]
        return rows.filter(({ textContent }) => textContent.includes(text)).length >= wanted && performance.now()
      },
      [count, word] as const,
      { polling: 'raf' },
    )
    .then((handle) => handle.jsonValue() as Promise<number>)
}

/** Looks in each frame: a locator looks every half second by then, and its search takes 0.1 s of the page that is measured. */
function whenRowIs(page: Page, email: string, word: string): Promise<unknown> {
  return page.waitForFunction(
    ([who, text]) =>
      [...document.querySelectorAll('.member-row')].some(
        ({ textContent }) => textContent.includes(who) && textContent.includes(text),
      ),
    [email, word] as const,
    { polling: 'raf' },
  )
}

/** Interactions, one change, changes of all members at once, and what the page asks for meanwhile. */
async function measureWork(
  browser: Browser,
  service: Service,
  id: number,
  pupils: readonly Signed[],
  teacher: Signed,
): Promise<void> {
  const page = await openPage(browser, service, true)
  await page.goto(addressOf(service, id))
  await whenRowsAre(page, members - 1, 'running')
  await page.waitForTimeout(1_000)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))

  const field = page.getByRole('searchbox')
  await field.focus()
  const typing = await interactionOf(page, () => page.keyboard.type('pupil7', { delay: 60 }))
  add('typing a name, 4x slower', ms(typing), 'under 200 ms', typing < 200)
  await field.fill('')
  const filter = page.getByRole('button', { name: /^Failed: / })
  const pressing = await interactionOf(page, () => filter.click())
  add('showing only those that failed, 4x slower', ms(pressing), 'under 200 ms', pressing < 200)
  const all = await interactionOf(page, () => page.getByRole('button', { name: /^All: / }).click())
  add('showing all again, 4x slower', ms(all), 'under 500 ms', all < 500)

  const latencies: number[] = []
  for (const pupil of pupils.slice(0, 2 * rounds)) {
    const { ms: took } = await timed(() =>
      Promise.all([whenRowIs(page, pupil.email, 'lab: stopped'), pupil.call('POST', '/api/container/stop/lab')]),
    )
    latencies.push(took)
  }
  add('one container stops, until the page says so', ms(median(latencies)), 'under 1 s', median(latencies) < 1_000)

  const long = await longTasksIn(page, async () => {
    await teacher.call('POST', `/api/groups/${id}/stop`)
    await whenRowsAre(page, members - 1, 'stopped')
  })
  const longest = Math.max(0, ...long)
  add('all containers stop: longest task, 4x slower', ms(longest), 'under 500 ms', longest < 500)
  await page.waitForTimeout(10_000)
  const own = asked.filter((path) => path.startsWith('/api/'))
  add(
    'requests of the page meanwhile, and for 10 s after',
    [own.length, ...new Set(own)].join(' '),
    'none',
    own.length === 0,
  )
  await page.context().close()
}
