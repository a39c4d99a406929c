// Part of npm run test:more: a browser; gateway/headers has which headers of an app pass.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'

/**
 * What a page of a container shares with the front end because both have one origin: workers, cookies, storage and history.
 * The app answers with whatever headers it likes; Eve, whose account it is about, has put it there.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')

/** A web server that runs scripts, so that an answer can have any header. */
const app = `
mkdir -p cgi-bin
cat > cgi-bin/worker <<'END'
#!/bin/sh
printf 'Content-Type: text/javascript\\r\\nService-Worker-Allowed: /\\r\\n\\r\\n'
echo "addEventListener('fetch', (event) => event.respondWith(new Response('hijacked')))"
END
cat > cgi-bin/page <<'END'
#!/bin/sh
printf 'Content-Type: text/html\\r\\nCross-Origin-Opener-Policy: same-origin\\r\\n'
printf 'Set-Cookie: spawner_token=evil; Path=/\\r\\nSet-Cookie: spawner_language=de; Path=/\\r\\n'
printf 'Clear-Site-Data: "cookies", "storage", "cache"\\r\\n\\r\\n<title>An app</title>'
END
chmod +x cgi-bin/*
exec httpd -f -p 8080 -h /home/berth`
const templates = await testTemplates({ command: ['/bin/sh', '-c', app] })
const berth = await startBerth(
  { after },
  { webDir, env: { CONTAINER_TEMPLATES: templates, MAGIC_LINK_RATE_LIMIT: '20' } },
)
await berth.signUp('ann@x.org')
const eve = await berth.signUp('eve@x.org')
const { page } = await openTab({ after })
const context = page.context()
const origin = berth.app.spawnerUrl

const openContainer = (at = '') => page.goto(`${origin}/ann-dev/${at}`)
const named = async (name: string) => (await context.cookies()).filter((cookie) => cookie.name === name)
const emailNow = () => page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email ?? null)

async function signIn(): Promise<void> {
  await page.goto(`${origin}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
}

test('the history that it can read names no page of Berth’s, and no page told it where it came from', async () => {
  await signIn()
  await page.evaluate(() => location.assign('/ann-dev/'))
  await page.waitForURL('**/ann-dev/')
  const [addresses, state, referrer] = await page.evaluate(() => {
    const { navigation } = globalThis as unknown as { navigation: { entries(): { url: string | null }[] } }
    return [navigation.entries().map(({ url }) => url), history.state as unknown, document.referrer] as const
  })
  assert.ok(addresses.length > 1 && addresses.includes(page.url()))
  assert.deepEqual(
    addresses.filter((address) => address !== null && address !== page.url()),
    [],
  )
  assert.deepEqual([state, referrer], [null, ''])
})

test('a worker at its bare address is refused', async () => {
  await openContainer()
  assert.match(await register('/ann-dev', '/'), /bad HTTP response code \(403\)|unsupported MIME/)
})

test('a worker whose app allows it the whole origin is confined to the prefix, and Berth’s pages stay its own', async () => {
  await openContainer()
  assert.match(await register('/ann-dev/cgi-bin/worker', '/'), /max scope allowed|not under/)
  assert.equal(await register('/ann-dev/cgi-bin/worker', '/ann-dev/'), 'registered')
  await page.reload()
  assert.equal(await page.evaluate(() => document.body.textContent), 'hijacked', 'the app may do so with its own')
  await page.goto(berth.app.frontendUrl)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.evaluate(async () => {
    const all = await navigator.serviceWorker.getRegistrations()
    await Promise.all(all.map((each) => each.unregister()))
  })
})

test('an answer of its app sets no cookie of Berth’s, clears nothing, and isolates no window', async () => {
  await page.evaluate(() => localStorage.setItem('kept', 'yes'))
  const before = await context.cookies()
  const answer = await openContainer('cgi-bin/page')
  assert.equal(answer?.headers()['cross-origin-opener-policy'], undefined)
  assert.deepEqual(
    (await context.cookies()).filter(({ path }) => path === '/' || path.startsWith('/api')),
    before,
  )
  assert.equal(await page.evaluate(() => localStorage.getItem('kept')), 'yes')
  assert.equal(await emailNow(), 'ann@x.org')
})

test('a language that it tosses in is no markup, and no language that there is not', async () => {
  await openContainer()
  await page.evaluate(() => {
    document.cookie = 'spawner_language="><script>alert(1)</script>; path=/'
  })
  const answer = await page.goto(berth.app.frontendUrl)
  assert.ok(!((await answer?.text()) ?? '').includes('alert(1)'))
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en')
  await context.clearCookies({ name: 'spawner_language' })
})

test('junk of the token’s name that it tosses in does not sign its visitor out', async () => {
  await openContainer()
  await page.evaluate(() => {
    for (const at of ['/', '/api', '/api/user']) document.cookie = `spawner_token=junk; path=${at}`
  })
  // The browser stores a script's cookies a moment after the script.
  await until(async () => (await named('spawner_token')).length === 4)
  assert.equal(await emailNow(), 'ann@x.org')
  await page.goto(berth.app.frontendUrl)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
})

test('another user’s token that it injects never signs its visitor in as that user; the session of the visitor goes on without it', async () => {
  await openContainer()
  await page.evaluate((token) => void (document.cookie = `spawner_token=${token}; path=/`), eve.token)
  await until(async () => (await named('spawner_token')).some(({ value }) => value === eve.token))
  assert.equal(await emailNow(), null)
  await page.goto(berth.app.frontendUrl)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  assert.deepEqual(
    (await named('spawner_token')).filter(({ value }) => value === eve.token),
    [],
  )
  assert.equal(await emailNow(), 'ann@x.org')
})

/** What becomes of a service worker: "registered", or why not. */
const register = (script: string, scope: string) =>
  page.evaluate(
    ([script, scope]) =>
      navigator.serviceWorker.register(script ?? '', { scope: scope ?? '' }).then(
        () => navigator.serviceWorker.ready.then(() => 'registered'),
        (error: Error) => error.message,
      ),
    [script, scope],
  )
