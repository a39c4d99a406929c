// Part of npm run test:more: a browser; gateway/hosts and specification/subdomain-routing have the rules of hosts.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { connectionOf, openTab } from '#test/support/browser.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { t as said } from '#test/support/front-end-text.ts'
import { waitsForWindows } from './opened-windows.ts'

/**
 * Subdomain routing: what the journeys beside this one try on the origin that all share, a hostile app tries from a host of
 * its own, in the browser of Ann, who owns its container, its neighbour and a workspace, and visits the app of Eve.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')

/** Web server that keeps a list of what it was asked for with its visitor's name, and answers with any header. */
const app = `
mkdir -p cgi-bin
echo '<!doctype html><title>An app</title><h1>An app</h1>' > page.html
cat > cgi-bin/env <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
env
END
cat > cgi-bin/note <<'END'
#!/bin/sh
echo "$REQUEST_METHOD by $HTTP_X_BERTH_USER: $QUERY_STRING" >> /home/berth/noted
printf 'Content-Type: text/javascript\\r\\nAccess-Control-Allow-Origin: %s\\r\\nAccess-Control-Allow-Credentials: true\\r\\n\\r\\n' "$HTTP_ORIGIN"
echo 'globalThis.stolen = "the secret"'
END
cat > cgi-bin/cookies <<'END'
#!/bin/sh
printf 'Content-Type: text/html\\r\\nSet-Cookie: wide=1; Path=/; Domain=spawner.berth.localhost\\r\\n'
printf 'Set-Cookie: wider=1; Path=/; domain=.berth.localhost\\r\\nSet-Cookie: own=1; Path=/\\r\\n'
printf 'Set-Cookie: spawner_token=evil; Path=/\\r\\nClear-Site-Data: "cookies"\\r\\n\\r\\n<title>An app</title>'
END
echo "addEventListener('fetch', (event) => event.respondWith(new Response('hijacked')))" > worker.js
echo "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))" > passing.js
touch noted
chmod +x cgi-bin/*
exec httpd -f -p 8080 -h /home/berth`
const type = { image: await testImage(), port: 8080, memory: '64m', command: ['/bin/sh', '-c', app] }
const templates = {
  dev: { ...type, display_name: 'Development', access: 'authenticated' },
  prod: { ...type, display_name: 'Production' },
  work: { display_name: 'Workspace', image: 'berth-demo-dev:latest', memory: '256m' },
}
const berth = await startBerth(
  { after },
  {
    webDir,
    env: {
      CONTAINER_TEMPLATES: JSON.stringify(templates),
      CONTAINER_ROUTING: 'subdomain',
      JWT_ACCESS_TOKEN_EXPIRES: '10',
      MAGIC_LINK_RATE_LIMIT: '50',
    },
  },
)
const { spawnerUrl: front, containerOrigin } = berth.app
const hostOf = (prefix: string) => containerOrigin?.(prefix) ?? ''
const ann = await berth.signUp('ann@x.org')
await berth.signUp('eve@x.org')
const { page } = await openTab({ after })
const context = page.context()
await waitsForWindows(context)

async function signIn(): Promise<void> {
  await page.goto(`${front}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await page.getByRole('button', { name: said('signIn.verify.loginButton') }).click()
  await page.getByRole('heading', { name: said('dashboard.title') }).waitFor()
}
const emailAtFront = async () => {
  await page.goto(front)
  return page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email ?? null)
}
/** What an app has received of a navigation, by the names of CGI. */
const seenBy = async (prefix: string) => {
  // When the machine's networks change, Chromium asks again for the address that it was led to, whose code is used by then.
  for (let left = 3; left > 0; left--) {
    const answer = await page.goto(`${hostOf(prefix)}/cgi-bin/env`)
    if (answer?.status() !== 400) break
  }
  return (await page.textContent('body')) ?? ''
}
/** What an app was asked for at its list; by another address each time, because a browser keeps such files. */
const notedBy = async (prefix: string) => {
  await page.goto(`${hostOf(prefix)}/noted?${Math.random()}`)
  return page.textContent('body')
}
const cookiesOf = async (prefix: string) => context.cookies(`${hostOf(prefix)}/`)
/** What became of something that a page tried. */
const tried = (work: string) =>
  page.evaluate<string>(
    `(async () => { try { return String(await (async () => { ${work} })()) } catch (error) { return error.name } })()`,
  )

test('a person signs in, opens a container from the dashboard, and is at a host of its own', async () => {
  for (const each of ['prod', 'work']) assertOk(await logInAsAnn(`/api/container/launch/${each}`))
  await signIn()
  await page.getByRole('link', { name: 'Open Development' }).click()
  await page.getByText('hello').waitFor()
  assert.equal(page.url(), `${hostOf('ann-dev')}/`)
})

/** Of the account itself: tokens are short here. */
async function logInAsAnn(target: string) {
  const reply = await berth.call('GET', `/api/auth/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  return berth.call('POST', target, { token: reply.body.access_token })
}

test('of the platform the app sees one scoped token, no prefix, and its visitor', async () => {
  const env = await seenBy('ann-dev')
  const cookie = /^HTTP_COOKIE=(.*)$/m.exec(env)?.[1] ?? ''
  const claims = JSON.parse(
    Buffer.from(/^spawner_token=[^.]+\.([^.;]+)\.[^;]+$/.exec(cookie)?.[1] ?? '', 'base64url').toString(),
  )
  assert.deepEqual([claims.aud, claims.sub, claims.sid], ['/ann-dev', String(ann.id), undefined])
  assert.match(env, /^HTTP_X_BERTH_USER=ann@x\.org$/m)
  assert.match(env, /^BASE_PATH=$/m)
  assert.match(env, new RegExp(`^BERTH_PUBLIC_URL=${hostOf('ann-dev')}$`, 'm'))
  assert.doesNotMatch(env, /X_FORWARDED_PREFIX/)
  assert.equal(await tried('return document.cookie'), '')
})

test('scripts of a container read nothing of the front end and of another container, and change nothing there', async () => {
  await page.goto(hostOf('ann-dev'))
  const me = `${front}/api/user/me`
  assert.equal(await tried(`return (await fetch('${me}', { credentials: 'include' })).status`), 'TypeError')
  for (const target of [`${front}/api/auth/logout`, `${hostOf('ann-prod')}/cgi-bin/note?posted`])
    await tried(`return (await fetch('${target}', { method: 'POST', mode: 'no-cors', credentials: 'include' })).type`)
  const note = `${hostOf('ann-prod')}/cgi-bin/note`
  assert.equal(await tried(`return (await fetch('${note}?cors', { credentials: 'include' })).status`), 'TypeError')
  assert.equal(
    await tried(`await new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.onload = script.onerror = resolve
    script.src = '${note}?script'
    document.body.append(script)
  })
  return globalThis.stolen`),
    'undefined',
  )
  await tried(`document.body.append(Object.assign(new Image(), { src: '${note}?image' }))`)
  await tried(`const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: '${note}?form', target: '_blank' })
  document.body.append(form)
  form.submit()
  await new Promise((resolve) => setTimeout(resolve, 500))`)
  for (const other of context.pages()) if (other !== page) await other.close()
  assert.equal(await notedBy('ann-prod'), '')
  assert.equal(await emailAtFront(), 'ann@x.org')
})

test('a navigation of a whole window into another container works, as a link between any two sites', async () => {
  await page.goto(hostOf('ann-dev'))
  await page.evaluate((to) => location.assign(to), `${hostOf('ann-prod')}/cgi-bin/note?link`)
  await page.waitForURL('**/note?link')
  assert.equal(await notedBy('ann-prod'), 'GET by ann@x.org: link\n')
})

test('frames and windows of the front end and of another container are closed to it', async () => {
  for (const target of [front, hostOf('ann-prod')]) {
    await page.goto(hostOf('ann-dev'))
    const framed = await tried(`const frame = document.createElement('iframe')
    frame.src = '${target}'
    document.body.append(frame)
    if (!(await hasNavigated(frame.contentWindow))) return 'it was never loaded'
    return frame.contentDocument?.body.textContent ?? 'closed'`)
    assert.equal(framed, 'closed')
    const frame = page.frames().find((each) => each !== page.mainFrame())
    await frame?.waitForLoadState()
    const shown = (await frame?.textContent('body').catch(() => '')) ?? ''
    assert.doesNotMatch(shown, /hello|Your containers/, `${target} is shown in a frame`)
    const read = await tried(`const opened = window.open('${target}')
    if (!(await hasNavigated(opened))) return 'it was never opened'
    return opened.document.body.textContent`)
    // Firefox shows the empty document that the window had before.
    assert.match(read, /^(SecurityError|TypeError)?$/)
    for (const other of context.pages()) if (other !== page) await other.close()
  }
})

/**
 * Whether the app's own worker answers in its place, which it may. Tokens live ten seconds here: once the page's has expired, the
 * gateway answers the script with a worker that unregisters itself, so that each attempt begins with a navigation.
 */
async function isHijackedByItself(): Promise<boolean> {
  await page.goto(hostOf('ann-dev'))
  await tried(
    `await navigator.serviceWorker.register('/worker.js')
    const { active } = await navigator.serviceWorker.ready
    if (active.state === 'activating') await new Promise((resolve) => (active.onstatechange = resolve))`,
  )
  await page.reload()
  return (await page.textContent('body')) === 'hijacked'
}

test('storage, databases and workers are each host’s own', async () => {
  await page.goto(hostOf('ann-dev'))
  await tried(`localStorage.setItem('mark', 'dev')`)
  await pollUntil(isHijackedByItself, () => 'the app may do so with its own')
  for (const target of [hostOf('ann-prod'), front]) {
    await page.goto(target)
    assert.doesNotMatch((await page.textContent('body')) ?? '', /hijacked/)
    assert.equal(await tried(`return localStorage.getItem('mark')`), 'null')
  }
  assert.equal(await tried(`return (await navigator.serviceWorker.getRegistrations()).length`), '0')
  await page.goto(hostOf('ann-dev'))
  await tried(`for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister()`)
  await page.goto(hostOf('ann-dev'))
})

test('an answer of the app sets cookies for its own host alone, none of Berth’s, and clears none', async () => {
  await page.goto(`${hostOf('ann-dev')}/cgi-bin/cookies`)
  const own = (await cookiesOf('ann-dev')).filter(({ name }) => !name.startsWith('spawner_'))
  assert.deepEqual(own.map(({ name, domain }) => [name, domain]).toSorted(), [
    ['own', new URL(hostOf('ann-dev')).hostname],
    ['wide', new URL(hostOf('ann-dev')).hostname],
    ['wider', new URL(hostOf('ann-dev')).hostname],
  ])
  const kept = (await context.cookies(`${front}/api/auth`)).map(({ name }) => name)
  assert.ok(kept.includes('berth_session') && kept.includes('spawner_visit'), kept.join())
  assert.doesNotMatch(await seenBy('ann-prod'), /wide/)
})

test('tokens that its script tosses to all hosts sign its visitor in nowhere as another user, and not out for good', async () => {
  const stolen = (await berth.call('GET', `/api/auth/verify-login?token=${await tokenBy(berth, 'login', 'eve@x.org')}`))
    .body.access_token as string
  for (const value of ['junk', stolen])
    for (const domain of ['spawner.berth.localhost', 'berth.localhost']) {
      await page.goto(hostOf('ann-dev'))
      await tried(`document.cookie = 'spawner_token=${value}; path=/; domain=${domain}'`)
      assert.match(await seenBy('ann-prod'), /^HTTP_X_BERTH_USER=ann@x\.org$/m)
      assert.equal(await emailAtFront(), 'ann@x.org')
    }
})

test('a visitor of another user’s app gets its pages without a sandbox, and it learns who they are and nothing else', async () => {
  const env = await seenBy('eve-dev')
  assert.match(env, /^HTTP_X_BERTH_USER=ann@x\.org$/m)
  await page.goto(hostOf('eve-dev'))
  assert.equal(await page.evaluate(() => self.origin), hostOf('eve-dev'))
  const note = `${hostOf('ann-dev')}/cgi-bin/note?visited`
  await tried(`return (await fetch('${note}', { method: 'POST', mode: 'no-cors', credentials: 'include' })).type`)
  assert.equal(await notedBy('ann-dev'), '')
  const refused = await page.goto(hostOf('eve-prod'))
  assert.equal(refused?.status(), 403)
})

test('after its token has expired a reload leads back to the same address, without a sign-in', async () => {
  const address = `${hostOf('ann-prod')}/cgi-bin/env?a=1&b=%2F`
  await page.goto(address)
  await context.clearCookies({ name: 'spawner_token' })
  const answer = await page.reload()
  assert.equal(answer?.status(), 200)
  assert.equal(page.url(), address)
})

test('an app whose service worker passes everything on is reached by links and reloads, and is framed by no other', async () => {
  const register = `await navigator.serviceWorker.register('/passing.js')
  await navigator.serviceWorker.ready
  return 'registered'`
  await page.goto(`${hostOf('ann-prod')}/cgi-bin/env`)
  assert.equal(await tried(register), 'registered')
  await page.reload()
  await context.clearCookies({ name: 'spawner_token' })
  assert.equal((await page.reload())?.status(), 200)
  assert.equal(page.url(), `${hostOf('ann-prod')}/cgi-bin/env`)
  await page.goto(hostOf('ann-dev'))
  await page.evaluate((to) => location.assign(to), `${hostOf('ann-prod')}/cgi-bin/env?linked`)
  await page.waitForURL('**/env?linked')
  assert.match((await page.textContent('body')) ?? '', /^HTTP_X_BERTH_USER=ann@x\.org$/m)
  await page.goto(hostOf('ann-dev'))
  const framed = await tried(`const frame = document.createElement('iframe')
  frame.src = '${hostOf('ann-prod')}/cgi-bin/env'
  document.body.append(frame)
  return hasNavigated(frame.contentWindow)`)
  assert.equal(framed, 'true')
  const shown = page.frames().find((each) => each !== page.mainFrame())
  await shown?.waitForLoadState()
  assert.doesNotMatch((await shown?.textContent('body').catch(() => '')) ?? '', /HTTP_X_BERTH_USER/)
})

test('a terminal stays open longer than its token and at two containers at once, until the sign-out; the next sign-in leads back', async () => {
  const workspace = await context.newPage()
  const socket = await connectionOf(workspace, () => workspace.goto(hostOf('ann-work')))
  await workspace.getByRole('tree', { name: 'Files' }).waitFor()
  const read = () => workspace.evaluate(async () => (await fetch('./')).status)
  for (const end = Date.now() + 11_000; Date.now() < end; await workspace.waitForTimeout(1_500)) {
    assert.equal(await read(), 200)
    assert.match(await seenBy('ann-prod'), /^HTTP_X_BERTH_USER=ann@x\.org$/m)
    assert.ok(!(await socket.isClosed()), 'the terminal was cut')
  }
  const closed = socket.closed()
  await page.goto(front)
  await page.getByRole('button', { name: said('frame.nav.account') }).click()
  await page.getByRole('button', { name: said('frame.nav.signOut') }).click()
  await closed
  assert.equal(await read(), 401)
  await workspace.goto(`${hostOf('ann-prod')}/cgi-bin/env`)
  assert.match(workspace.url(), /\/login\?next=%2Fann-prod%2Fcgi-bin%2Fenv/)
  await workspace.getByLabel(said('signIn.email.label')).fill('ann@x.org')
  await workspace.getByRole('button', { name: said('signIn.ask.button') }).click()
  await workspace.getByRole('heading', { name: said('checkMail.title') }).waitFor()
  await workspace.goto(`${front}/verify-login?token=${berth.mail.tokenFor('ann@x.org')}`)
  await workspace.waitForURL(`${hostOf('ann-prod')}/cgi-bin/env`)
  assert.match((await workspace.textContent('body')) ?? '', /^HTTP_X_BERTH_USER=ann@x\.org$/m)
})
