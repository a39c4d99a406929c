// Part of npm run test:more: a browser at each page; new-user.test.ts and teacher.test.ts go through those that are used most.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { pages } from '@berth/web/paths.ts'
import axe, { type AxeResults } from 'axe-core'
import type { Page, Response } from 'playwright-core'
import { tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'

/**
 * An administrator opens every page there is, and one that there is not, and another browser opens those for users who are signed out.
 * What the browser was told, what it had to refuse, what it loaded, and what was left behind on the origin.
 */
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const berth = await startBerth({ after }, { webDir, wrapRuntime: noCreateRuntime })
const ada = await berth.signUp('ada@x.org')
const { page, problems } = await openTab({ after })
const context = page.context()

/** What a page did that another page of the origin could hear, or that its policy forbids. */
interface Noted {
  readonly violations: string[]
  readonly channels: string[]
}

await context.addInitScript(() => {
  const noted: Noted = { violations: [], channels: [] }
  Object.assign(globalThis, { noted })
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
    noted.violations.push(`${effectiveDirective}: ${blockedURI} by ${sourceFile}`),
  )
  const listen = globalThis.addEventListener.bind(globalThis)
  globalThis.addEventListener = ((type: string, ...rest: [EventListener]) => {
    if (/^(message|messageerror|storage)$/.test(type)) noted.channels.push(type)
    listen(type, ...rest)
  }) as typeof globalThis.addEventListener
  for (const name of ['BroadcastChannel', 'SharedWorker', 'Worker'] as const)
    globalThis[name] = new Proxy(globalThis[name] as typeof Worker, {
      construct: (target, args: [string]) => (noted.channels.push(`${name} ${args[0]}`), new target(...args)),
    }) as never
})

interface Visited extends Noted {
  readonly at: string
  readonly status: number
  readonly headers: Record<string, string>
  readonly html: string
  /** Bytes of each script that was loaded, as gzip leaves of it. */
  readonly scripts: readonly number[]
}

async function visit(at: string, of: Page): Promise<Visited> {
  const scripts: Promise<Buffer>[] = []
  const listener = (response: Response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body())
  }
  of.on('response', listener)
  const answer = await of.goto(`${berth.app.spawnerUrl}${at}`)
  assert.ok(answer)
  await of.getByRole('heading', { level: 1 }).waitFor()
  of.off('response', listener)
  const noted = await of.evaluate(() => (globalThis as unknown as { noted: Noted }).noted)
  const sizes = (await Promise.all(scripts)).map((body) => gzipSync(body).length)
  return { at, status: answer.status(), headers: answer.headers(), html: await answer.text(), scripts: sizes, ...noted }
}

const paths = [...Object.values(pages), '/admin/no-such-page']
const link = await tokenBy(berth, 'login', 'ada@x.org')
const visited: Visited[] = []
for (const at of ['/', '/login']) visited.push(await visit(at, page))
const url = berth.app.frontendUrl
await context.addCookies([{ name: 'spawner_token', value: ada.token, url, httpOnly: true }])
for (const at of paths) visited.push(await visit(at === pages.verifyLogin ? `${at}?token=${link}` : at, page))

test('each page, found or not, cannot be framed, is isolated from its opener, runs only its own scripts, and sends no referrer', () => {
  for (const { at, status, headers } of visited.filter((each) => each.at !== pages.apiDocs)) {
    assert.equal(status, at === '/admin/no-such-page' ? 404 : 200, at)
    const policy = policyOf(headers)
    const nonce = /^'nonce-([\w+/=]{20,})' 'strict-dynamic'$/.exec(policy.get('script-src') ?? '')?.[1] ?? ''
    assert.equal(visited.filter(({ html }) => html.includes(`"${nonce}"`)).length, 1, `${at}: a nonce is used once`)
    assert.deepEqual(
      ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'connect-src'].map((name) => policy.get(name)),
      ["'none'", "'none'", "'none'", "'none'", "'self'"],
      at,
    )
    for (const [name, value] of Object.entries(wanted)) assert.equal(headers[name], value, `${at}: ${name}`)
  }
})

const wanted = {
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

test('the reference of the API is one document for everyone, in which no script may run', () => {
  const { status, headers, scripts } = visited.find(({ at }) => at === pages.apiDocs) ?? assert.fail()
  assert.deepEqual([status, scripts], [200, []])
  const policy = policyOf(headers)
  assert.deepEqual(
    ['default-src', 'script-src', 'style-src', 'base-uri', 'form-action', 'frame-ancestors'].map((name) =>
      policy.get(name),
    ),
    ["'none'", undefined, "'self'", "'none'", "'none'", "'none'"],
  )
  for (const [name, value] of Object.entries({ ...wanted, 'cache-control': 'no-cache' }))
    assert.equal(headers[name], value, name)
})

test('the reference of the API has no fault of accessibility in light and dark, and fits a phone', async (t) => {
  const { page: reader } = await openTab(t)
  await reader.setViewportSize({ width: 360, height: 800 })
  await reader.goto(`${berth.app.spawnerUrl}${pages.apiDocs}#createApiToken`)
  const overflow = await reader.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(overflow <= 0, `${overflow} px beyond the screen of a phone`)
  await reader.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await reader.emulateMedia({ colorScheme })
    const faults = await reader.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(parts: object): Promise<AxeResults> } }
      // All sections look alike: a hundred of them took 20 s.
      const parts = { include: ['header', 'nav ul', '#createApiToken', '#user'].map((selector) => [selector]) }
      return (await axe.run(parts)).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} (${nodes.length})`)
    })
    assert.deepEqual(faults, [], colorScheme)
  }
})

/** Sources by directive. */
const policyOf = (headers: Record<string, string>) =>
  new Map(
    (headers['content-security-policy'] ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )

test('nothing on any page is against its policy', () => {
  assert.deepEqual(
    visited.flatMap(({ at, violations }) => violations.map((each) => `${at}: ${each}`)),
    [],
  )
  assert.deepEqual(
    problems.filter((problem) => !/40[134] \(/.test(problem)),
    [],
  )
})

test('no page listens to messages or to storage; the one channel that pages of containers share carries nothing', () => {
  // What it may do to a page, `session-ended.test.ts` states: have it look again, every five seconds at most.
  const channels = visited.flatMap(({ at, channels }) => channels.map((each) => `${at}: ${each}`))
  assert.deepEqual(
    channels.filter((each) => !each.endsWith(': BroadcastChannel berth.session')),
    [],
  )
})

test('after all of them neither storage nor a script’s cookies have a token, a proof or an address', async () => {
  const proofs = visited.flatMap(({ html }) =>
    [...html.matchAll(/"(?:csrf|visit)":"([^"]+)"/g)].map(([, it = '']) => it),
  )
  const found = await page.evaluate(async () =>
    JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      await indexedDB.databases(),
      await caches.keys(),
      document.cookie,
    ]),
  )
  assert.ok(proofs.length > 10)
  for (const secret of [ada.token, link, 'x.org', ...proofs]) assert.ok(!found.includes(secret), found)
})

test('the pages that people see first load at most 120 KB of script, as gzip leaves of it', () => {
  for (const { at, scripts } of visited.filter(({ at }) => at === '/' || at === '/login')) {
    const bytes = scripts.reduce((sum, each) => sum + each, 0)
    assert.ok(bytes > 10_000 && bytes <= 120_000, `${at} loads ${bytes} bytes`)
  }
})
