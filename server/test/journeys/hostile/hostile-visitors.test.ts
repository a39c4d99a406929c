// Part of npm run test:more: a browser; specification/sharing has the rules of visitors.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, tokenBy } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { firstOfList, onlyLong } from '#test/support/extent.ts'
import { waitsForWindows } from './opened-windows.ts'

/**
 * Eve makes her app public, and Ann visits it, signed in and an administrator. Without a sandbox Eve's page is one of
 * Ann's own origin. The same app runs under three types: two that are safe by default, and one whose operator trusts all.
 */
const webDir = path.resolve(import.meta.dirname, '../../../../web/dist')
const app = `
cat > page.html <<'END'
<!doctype html><title>An app</title><link rel="stylesheet" href="style.css">
<h1>Welcome</h1><img src="dot.svg" alt="a dot">
<script type="module" src="app.js"></script><script src="classic.js"></script>
END
echo 'h1 { color: rgb(1, 2, 3) }' > style.css
echo "export const word = 'modules work'" > word.js
echo "import { word } from './word.js'; document.body.dataset.module = word" > app.js
echo "document.body.dataset.classic = 'scripts work'" > classic.js
echo '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="9"/></svg>' > dot.svg
echo 'the secret of who owns this' > secret.txt
echo "addEventListener('fetch', () => {})" > worker.js
exec httpd -f -p 8080 -h /home/berth`
const image = await testImage()
const type = (more: object) => ({ image, port: 8080, memory: '64m', command: ['/bin/sh', '-c', app], ...more })
const templates = {
  dev: type({ display_name: 'Development' }),
  pub: type({ display_name: 'Public', access: 'public' }),
  shared: type({ display_name: 'Shared', access: 'authenticated' }),
  trusting: type({ display_name: 'Trusting', access: 'public', sandbox_visitors: false }),
}
const berth = await startBerth({ after }, { webDir, env: { CONTAINER_TEMPLATES: JSON.stringify(templates) } })
await berth.signUp('ann@x.org')
const eve = await berth.signUp('eve@x.org')
for (const name of ['pub', 'shared', 'trusting']) assertOk(await eve.call('POST', `/api/container/launch/${name}`))
const { page } = await openTab({ after })
await waitsForWindows(page.context())
const origin = berth.app.spawnerUrl

test('Ann signs in', async () => {
  await page.goto(`${origin}/verify-login?token=${await tokenBy(berth, 'login', 'ann@x.org')}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.goto(`${origin}/ann-dev/secret.txt`)
  assert.match((await page.textContent('body')) ?? '', /the secret/)
})

/** What a page of the app gets hold of. */
const attack = () =>
  page.evaluate(async () => {
    const attempt = (work: () => Promise<unknown>) =>
      Promise.resolve()
        .then(work)
        .then(String, (error: Error) => `no: ${error.name}`)
    const read = (target: string) =>
      attempt(async () => {
        const answer = await fetch(target, { credentials: 'include' })
        return answer.ok ? await answer.text() : `no: ${answer.status}`
      })
    return {
      origin: self.origin,
      container: await read('/ann-dev/secret.txt'),
      me: await read('/api/user/me'),
      worker: await attempt(() => navigator.serviceWorker.register('worker.js')),
      storage: await attempt(async () => localStorage.length),
      window: await attempt(async () => {
        const opened = window.open('/ann-dev/secret.txt')
        if (!(await globalThis.hasNavigated(opened))) return 'it was never opened'
        return opened?.document.body.textContent
      }),
      socket: await attempt(
        () =>
          new Promise((resolve) => {
            const socket = new WebSocket(`ws://${location.host}/ann-dev/`)
            socket.addEventListener('open', () => resolve('open'))
            socket.addEventListener('error', () => resolve('no: socket'))
          }),
      ),
    }
  })

for (const [index, name] of ['pub', 'shared'].entries())
  test(
    `a hostile page of another's container reads nothing of its visitor's: ${name}`,
    firstOfList(index),
    async () => {
      await page.goto(`${origin}/eve-${name}/`)
      const found = await attack()
      assert.equal(found.origin, 'null')
      for (const what of ['container', 'me', 'worker', 'storage', 'window', 'socket'] as const)
        assert.match(found[what], /^no: /, what)
      for (const other of page.context().pages()) if (other !== page) await other.close()
    },
  )

// Visitors of a shared editor saw an empty white window, without a word.
test('a page whose scripts and styles are refused in the sandbox says why', async () => {
  await steadily(() => page.goto(`${origin}/eve-shared/page.html`))
  const note = page.getByRole('alert')
  await note.waitFor()
  assert.match((await note.textContent()) ?? '', /stays empty.*belongs to another user’s container/)
  await note.getByRole('button', { name: 'Close this note' }).click()
  assert.equal(await note.count(), 0)
  assert.equal(await page.evaluate(() => document.body.dataset['classic']), undefined)
})

test('without the sandbox it does: the warning at start is about this', async () => {
  await page.goto(`${origin}/eve-trusting/`)
  const found = await attack()
  assert.match(found.container, /the secret/)
  assert.match(found.me, /ann@x\.org/)
  assert.match(found.window, /the secret/)
  assert.match(found.worker, /ServiceWorkerRegistration/)
  for (const other of page.context().pages()) if (other !== page) await other.close()
})

const registrations = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)

test("the front end ends the workers of others' containers that it finds, and keeps one's own", async () => {
  await page.goto(`${origin}/ann-dev/`)
  await page.evaluate(() => navigator.serviceWorker.register('worker.js'))
  assert.equal(await registrations(), 2)
  await page.goto(berth.app.frontendUrl)
  await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 1)
  const scopes = await page.evaluate(async () =>
    (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
  )
  assert.deepEqual(scopes, [`${origin}/ann-dev/`])
})

test('an ordinary public app renders for visitors, with styles, pictures, scripts and modules', onlyLong, async () => {
  const stranger = await (await page.context().browser()!.newContext()).newPage()
  for (const visitor of [page, stranger]) {
    await steadily(() => visitor.goto(`${origin}/eve-pub/page.html`))
    await visitor.waitForFunction(() => document.body.dataset['module'] !== undefined)
    const seen = await visitor.evaluate(() => ({
      ...document.body.dataset,
      colour: getComputedStyle(document.querySelector('h1')!).color,
      picture: document.querySelector('img')!.naturalWidth,
    }))
    assert.deepEqual(seen, { module: 'modules work', classic: 'scripts work', colour: 'rgb(1, 2, 3)', picture: 9 })
  }
})

test('its owner has the whole of it', async () => {
  const own = await (await page.context().browser()!.newContext()).newPage()
  const cookie = { name: 'spawner_token', value: eve.token, domain: '.berth.localhost', path: '/', httpOnly: true }
  await own.context().addCookies([cookie])
  await steadily(() => own.goto(`${origin}/eve-pub/`))
  assert.equal(await own.evaluate(() => self.origin), origin)
  assert.equal(await own.evaluate(() => localStorage.length), 0)
})
