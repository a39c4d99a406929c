import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertOk, tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'

/**
 * A service worker of a container saw the address by which every window of the shared origin was opened, and so the token of
 * each link before it was used. Here an app looks in every way that a browser has, while links are opened in other tabs.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const worker = `
const seen = new Set()
const wait = () => new Promise((resolve) => setTimeout(resolve, 5))
async function watch() {
  for (const end = Date.now() + 240000; Date.now() < end; await wait())
    for (const { url } of await clients.matchAll({ includeUncontrolled: true, type: 'all' })) seen.add(url)
}
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('message', (event) => {
  if (event.data === 'watch') return event.waitUntil(watch())
  event.ports[0].postMessage([...seen])
})`
/** Asks for what the service worker has seen, as a script of the origin can. */
const sharedWorker = `
onconnect = ({ ports: [port] }) => {
  port.onmessage = async ({ data }) => {
    const texts = []
    for (const url of data) texts.push(url, await fetch(url).then(async (answer) => answer.url + await answer.text(), () => ''))
    const entries = performance.getEntriesByType('resource').map(({ name }) => name)
    port.postMessage([...texts, ...entries])
  }
}`
const app = `
cat > index.html <<'END'
<!doctype html><title>An app</title>
END
cat > worker.js <<'END'
${worker}
END
cat > shared.js <<'END'
${sharedWorker}
END
exec httpd -f -p 8080 -h /home/berth`
const env = {
  CONTAINER_TEMPLATES: await testTemplates({ command: ['/bin/sh', '-c', app] }),
  MAGIC_LINK_RATE_LIMIT: '50',
}
const berth = await startBerth({ after }, { webDir, env })
const front = berth.app.spawnerUrl
const boss = await berth.administrator()
await berth.signUp('ann@x.org')
const { page: hostile } = await openTab({ after })
const context = hostile.context()
const victim = await context.newPage()

const linkFor = async (email: string) => {
  const token = await tokenBy(berth, 'login', email)
  return { token, link: `${front}/verify-login?token=${token}` }
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
async function signIn(page: Page, email: string): Promise<void> {
  await page.goto((await linkFor(email)).link)
  await button(page, 'Sign in').click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
}

/** The app registers its workers and begins to look. */
async function beginToWatch(): Promise<void> {
  await hostile.goto(`${front}/ann-dev/`)
  await hostile.evaluate(async () => {
    await navigator.serviceWorker.register('/ann-dev/worker.js', { scope: '/ann-dev/' })
    const { active } = await navigator.serviceWorker.ready
    active?.postMessage('watch', [])
  })
}

/** All that the app has found out by its workers. */
async function found(): Promise<string> {
  const seen = await hostile.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready
    const urls = await new Promise<string[]>((resolve) => {
      const { port1, port2 } = new MessageChannel()
      port1.addEventListener('message', ({ data }) => resolve(data as string[]))
      port1.start()
      active?.postMessage('tell', [port2])
    })
    const { port } = new SharedWorker('/ann-dev/shared.js')
    const more = await new Promise<string[]>((resolve) => {
      port.addEventListener('message', ({ data }) => resolve(data as string[]))
      port.start()
      port.postMessage(urls.filter((url) => !url.includes('/api/')))
    })
    return [...urls, ...more]
  })
  return seen.join('\n')
}
/** What a page of the app can tell of the tab that it is in. */
const historyOf = (page: Page) =>
  page.evaluate(() => {
    const { navigation } = globalThis as unknown as {
      navigation: { entries(): { url: string }[]; activation: unknown }
    }
    const from = (navigation.activation as { from?: { url?: string } } | null)?.from?.url
    const timings = performance.getEntries().map(({ name }) => name)
    return JSON.stringify([navigation.entries().map(({ url }) => url), from, document.referrer, history.state, timings])
  })

test('no worker of a container learns the token of a sign-in link, nor gets it by asking for the page', async () => {
  await signIn(victim, 'ann@x.org')
  await beginToWatch()
  for (const email of ['ann@x.org', 'boss@x.org']) {
    const { token, link } = await linkFor(email)
    await victim.goto(link)
    await button(victim, 'Sign in').waitFor()
    await until(async () => (await found()).includes('/verify-login'))
    assert.ok(!(await found()).includes(token), email)
    assert.ok(!victim.url().includes(token))
    await victim.reload()
    await button(victim, 'Sign in').click()
    await victim.getByRole('heading', { name: 'Your containers' }).waitFor()
    assert.ok(!(await found()).includes(token), email)
  }
})

test('nor a secret of any other address of the front end, also where nothing but a refusal is shown', async () => {
  await signIn(victim, 'ann@x.org')
  const addresses = [
    '/verify-signup?token=secret-1',
    '/verify-login/?token=secret-2',
    '/archive?token=secret-3',
    '/groups?code=secret-4',
    '/verify-login?token=secret-5&token=secret-5',
    '/api/auth/verify-login?token=secret-6',
    '/api/auth/oidc/none/callback?code=secret-7&state=secret-7',
    '/api/no-such?token=secret-8',
    `/verify-login?token=secret-9${'x'.repeat(200)}`,
    `/verify-login?token=secret-10&x=${'x'.repeat(40_000)}`,
  ]
  for (const address of addresses) {
    await victim.goto(front + address)
    await victim.waitForTimeout(100)
  }
  await victim.goto(`${front}/verify-login?token=secret-11`)
  await button(victim, 'Sign in').waitFor()
  await until(async () => (await found()).includes('/archive'))
  assert.deepEqual(/secret-\d+/.exec(await found())?.[0], undefined)
})

test('nor does a page that a window of the link was opened by, or that is behind or before it in its tab', async () => {
  const { token, link } = await linkFor('ann@x.org')
  const opening = context.waitForEvent('page')
  await hostile.evaluate(() => {
    const seen: string[] = []
    const other = open('/ann-dev/', 'other')
    const look = () => {
      try {
        const { navigation } = other as unknown as { navigation: { entries(): { url: string }[] } }
        const entries = navigation.entries().map(({ url }) => url)
        const timings = other?.performance.getEntries().map(({ name }) => name) ?? []
        seen.push(other?.location.href ?? '', ...entries, ...timings, JSON.stringify(other?.history.state))
      } catch {
        // The window was taken away.
      }
    }
    const interval = setInterval(look, 1)
    Object.assign(globalThis, { told: () => (clearInterval(interval), seen.join('\n')) })
  })
  const opened = await opening
  await opened.waitForLoadState()
  await opened.goto(link)
  await button(opened, 'Sign in').waitFor()
  // The document is kept for "back", and the one before it is shown again.
  await steadily(() => opened.evaluate((to) => void location.assign(to), '/ann-dev/?again'))
  await opened.waitForURL('**/?again')
  assert.ok(!(await historyOf(opened)).includes(token))
  await opened.goBack()
  await button(opened, 'Sign in').waitFor()
  await opened.goBack()
  await opened.waitForURL('**/ann-dev/')
  assert.ok(!(await historyOf(opened)).includes(token))
  const told = await hostile.evaluate(() => (globalThis as unknown as { told(): string }).told())
  assert.ok(told.includes('/ann-dev/'), 'it looked')
  assert.ok(!told.includes(token))
  assert.ok(!(await found()).includes(token))
  await opened.goForward()
  await button(opened, 'Sign in').click()
  await opened.getByRole('heading', { name: 'Your containers' }).waitFor()
  await opened.close()
})

test('a frame, a fetch and prefetches leave no cookie of a link behind, and do not use it up', async () => {
  const { token, link } = await linkFor('ann@x.org')
  await hostile.evaluate(async (to) => {
    const frame = Object.assign(document.createElement('iframe'), { src: to })
    const prefetch = Object.assign(document.createElement('link'), { rel: 'prefetch', href: to })
    const rules = Object.assign(document.createElement('script'), {
      type: 'speculationrules',
      text: JSON.stringify({
        prefetch: [{ urls: [to], eagerness: 'immediate' }],
        prerender: [{ urls: [to], eagerness: 'immediate' }],
      }),
    })
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
    document.body.append(frame, prefetch, rules)
    await loaded
    await fetch(to)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }, link)
  const cookies = await context.cookies([`${front}/verify-login`, front])
  assert.deepEqual(
    cookies.filter(({ name }) => name.includes('spawner_link')),
    [],
  )
  assertOk(await berth.call('GET', `/api/auth/verify-login?token=${token}`))
})

test('a tab that is left open at a link tells the next user of the browser nothing after a sign-out', async () => {
  const { token, link } = await linkFor('boss@x.org')
  await victim.goto(link)
  await button(victim, 'Sign in').waitFor()
  const next = await context.newPage()
  await context.clearCookies({ name: 'spawner_token' })
  await context.clearCookies({ name: 'berth_session' })
  await signIn(next, 'ann@x.org')
  await beginToWatch()
  await until(async () => (await found()).includes('/verify-login'))
  assert.ok(!(await found()).includes(token))
  await next.close()
})

test('while a container’s page makes the head of each request too long, the refusal at a link’s address is not seen', async () => {
  const { token, link } = await linkFor('ann@x.org')
  await hostile.evaluate(() => {
    for (let at = 0; at < 12; at++) document.cookie = `bomb${at}=${'x'.repeat(4_000)}; path=/verify-login`
  })
  await until(async () => (await context.cookies(`${front}/verify-login`)).length > 12)
  assert.equal((await victim.goto(link))?.status(), 431)
  await victim.waitForTimeout(300)
  assert.ok(!(await found()).includes(token))
})

test('a link to join keeps its code until its user has signed in, and no address has it', async () => {
  const group = (await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics', types: ['dev'] } })).body.group
  const { code } = (await boss.call('POST', `/api/groups/${group.id}/join-code`)).body as { code: string }
  await context.clearCookies()
  await victim.goto(`${front}/groups?code=${code}`)
  await victim.getByLabel('E-mail address').fill('ann@x.org')
  assert.ok(!victim.url().includes(code))
  await button(victim, 'Send me a link').click()
  await victim.getByText('A link is on its way').waitFor()
  const stored = await victim.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  assert.ok(!stored.includes(code) && stored.includes('/groups'), stored)
  const mailed = /http\S+\/verify-login\?token=\S+/.exec(berth.mail.newestTo('ann@x.org').text ?? '')?.[0] ?? ''
  await victim.goto(mailed)
  await victim.waitForURL('**/groups*')
  const field = victim.getByLabel('Join code')
  await field.waitFor()
  assert.equal(await field.inputValue(), code)
  await victim.reload()
  assert.equal(await field.inputValue(), code)
  await button(victim, 'Join').click()
  await victim.getByText('You are a member of').waitFor()
  assert.ok(!(await historyOf(victim).then((text) => text.replace(/"token":"[^"]*"/, ''))).includes(code))
})

test('the old form of a link to archives, with the token behind the #, is opened again by an address without it', async () => {
  await victim.goto(`${front}/archive#token=secret-20`)
  await victim.waitForURL(`${front}/archive`)
  await victim.getByRole('heading').first().waitFor()
  await victim.getByRole('alert').first().waitFor()
  const openedAt = () => performance.getEntriesByType('navigation').map(({ name }) => name)
  assert.ok(!String(await victim.evaluate(openedAt)).includes('secret-20'), 'the document is another one')
})
